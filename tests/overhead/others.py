# SPDX-License-Identifier: GPL-2.0-only
"""What an instrument adds to the operations of programs that it does not watch."""
import subprocess

import instruments

INSTRUMENTS = {
    "module": instruments.of_other(instruments.pfdrive()),
    "ebpf": instruments.of_other(instruments.by_ebpf(calls=False)),
    "perf": instruments.of_other(instruments.by_perf()),
}

def operations(path):
    """{operation: instructions}"""
    said = subprocess.run([instruments.BUILD / "overhead/operations", path], check=True, text=True,
                          capture_output=True).stdout
    figures = {name: float(value) for name, value in map(str.split, said.splitlines())}
    both = figures.pop("yield")     # a system call and a switch
    figures["switch"] = both - figures["call"]
    # Two system calls, a switch and a wake-up. The calls do other work than the one above, so only
    # what an instrument adds to a wake-up has a meaning.
    figures["wakeup"] = figures.pop("pipe") - 2 * figures["call"] - figures["switch"]
    return figures


def measure(path):
    """{"bare": {operation: instructions}, instrument: {operation: added instructions}}"""
    with instruments.bare(None):
        bare = operations(path)
    result = {"bare": bare}
    for name, attach in INSTRUMENTS.items():
        # Programs that are still being detached would cost something, too.
        instruments.await_detached()
        try:
            with attach(None):
                seen = operations(path)
        except instruments.Absent as absent:
            result[name] = {"absent": str(absent)}
            continue
        result[name] = {operation: seen[operation] - bare[operation] for operation in bare}
    return result

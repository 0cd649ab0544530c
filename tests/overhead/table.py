# SPDX-License-Identifier: GPL-2.0-only
"""Prints one kernel's figures as a table."""
import re


# Operations of programs that are not watched: see others.py.
OPERATIONS = {
    "file": "a fault of a cached file",
    "anonymous": "a fault of anonymous memory",
    "shared": "a fault of shared memory",
    "copy": "a copy on write after a fork",
    "call": "a system call",
    "switch": "a switch between two threads",
    "wakeup": "a wake-up",
    "tmpfs": "a new page of tmpfs, by write(2)",
}


def series_of(release):
    """6.12 for 6.12.117+deb13-cloud-amd64, and 6.12-arm64 for 6.12.117+deb13-cloud-arm64: kernel
    updates do not change the name of the series, other pages do (6.12-arm64-16k)."""
    arch = re.search(r"-arm64.*$", release)
    return ".".join(release.split(".")[:2]) + (arch[0] if arch else "")


def share(row):
    return f"{row['seen_percent']:.1f}%" if "seen_percent" in row else "-"


def show_row(row):
    if "absent" in row:
        print(f"{row['name']:13} n/a: {row['absent']}")
        return
    times = f"{row['times_pfstat']:6.2f}" if "times_pfstat" in row else f"{'-':>6}"
    print(f"{row['name']:13} {row['added']:7.1f} {row['thread_added']:7.1f} {times} "
          f"{row['instructions']:8.1f} {row['spread_percent']:6.2f}% {share(row):>6} "
          f"{row['latency']}")


def show_others(result):
    absent = {name: figures["absent"] for name, figures in result.items() if "absent" in figures}
    columns = [name for name in result if name not in absent]
    print(f"{'not watched':33}" + "".join(f"{name:>10}" for name in columns))
    for operation, text in OPERATIONS.items():
        print(f"{text:33}" + "".join(
            "         -" if (name, operation) == ("bare", "wakeup") else
            f"{result[name][operation]:10.0f}" for name in columns))
    for name, reason in absent.items():
        print(f"{name}: n/a: {reason}")


def show(result):
    """result: a kernel's overhead.json, written by measure."""
    print(f"Linux {result['kernel']}, instructions a fault of {result['pages']}, "
          f"median of {result['rounds']} rounds")
    print(f"{'':13} {'added':>7} {'thread':>7} {'times':>6} {'in all':>8} {'spread':>7} "
          f"{'seen':>6} latency")
    for row in result["rows"]:
        show_row(row)
    if "others" in result:
        show_others(result["others"])
    if "startup" in result:
        print("ms: " + ", ".join(f"{name} {ms:.1f}" for name, ms in result["startup"].items()))

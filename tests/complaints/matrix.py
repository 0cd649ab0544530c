# SPDX-License-Identifier: GPL-2.0-only
"""Records each case in each condition, prints the outcomes, and writes them into the page.

Usage: run BUILD [native] [lab] [NAME…]
       run BUILD page
Without native or lab: both. The other cells of the page stay as they are. A cell is "not judged" if
the recording fails, or if the kernel counted fewer faults for the program than its case has. page:
records nothing, and writes the page after a change of the cases.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import accuracy
import complaints
import pfstat
from cases import CASES

PARTS = ("native", "lab", "guest", "page")
BUSY_LOOPS = 12
BUSY_LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"
KERNEL = "6.12"
# The tests of the complaints in the VM have this clock, too: a busy host changes no outcome.
LAB = ("--deterministic", "--pmem", "64M")
RESULTS = "cells.json"


@contextlib.contextmanager
def busy_loops(number):
    """Processes that compute at the caller's priority until the block ends."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY_LOOP]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def judged(case, record, title):
    """The cell's text for a recording of the case. Prints it, with the first lines if they are not
    right."""
    try:
        result = record(case)
    except (AssertionError, OSError, StopIteration, ValueError,
            subprocess.SubprocessError) as error:
        say(case, title, accuracy.NOT_JUDGED, str(error).splitlines()[-1:])
        return accuracy.NOT_JUDGED
    if not case.happened(result.usage):
        say(case, title, accuracy.NOT_JUDGED, [f"{result.usage}, not {case.counts}"])
        return accuracy.NOT_JUDGED
    word = complaints.outcome(result, case)
    first = result.causes[0] if result.causes else {"rule": "none", "certain": False}
    cell = f"{word}: {first['rule']}{'' if first['certain'] else '?'}"
    say(case, title, cell, result.lines if word in ("missed", "wrong") else [])
    return cell


def say(case, title, cell, lines):
    print(f"{case.name:20} {title:16} {cell}", *(f"    {line}" for line in lines), sep="\n",
          flush=True)


def record_native(matrix, cases):
    """The conditions with perf, on this machine."""
    import native       # pylint: disable=import-outside-toplevel # the guest does not have it
    folder = native.folder_of_all()
    callers = {name: native.Caller(name, folder)
               for name in ("user", "root") if name == "user" or os.geteuid() == 0}
    matrix.machines["perf"] = f"Linux {kernel()}, {os.cpu_count()} CPUs, alone and beside " \
        f"{BUSY_LOOPS} busy loops"
    try:
        for condition in accuracy.CONDITIONS:
            caller = callers.get(condition.caller)
            if not caller:
                continue
            with busy_loops(BUSY_LOOPS if condition.busy else 0):
                for case in filter(condition.has, cases):
                    matrix.cells[case.name, condition.title] = judged(
                        case, lambda case, caller=caller: caller.record_variant(case.variant),
                        condition.title)
            accuracy.write(matrix)      # an interrupt keeps the cases recorded so far
    finally:
        shutil.rmtree(folder)


def kernel():
    return ".".join(map(str, pfstat.KERNEL))


def record_in_guest(cases):
    """The other conditions. The VM may end early, so the cells are written after each case."""
    pfstat.make_disk_of_single_pages()
    pfstat.load()
    cells = {condition.title: {} for condition in accuracy.CONDITIONS if not condition.caller}
    for case in cases:
        for condition in accuracy.CONDITIONS:
            if not condition.caller:
                cells[condition.title][case.name] = judged(
                    case, lambda case, source=condition.source: complaints.record(
                        case.variant, pfstat.DISK, pfstat.DISK / "run.pfs", source),
                    condition.title)
        pathlib.Path(os.environ["OUT"], RESULTS).write_text(json.dumps(
            {"kernel": kernel(), "cells": cells}))


def record_in_lab(matrix, cases):
    """Runs record_in_guest() in a VM."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([accuracy.TOP / "tools/lab", "run", "-q", "--kernel", KERNEL, *LAB,
                        "--out", folder, "--", "sh", "-c",
                        'exec tests/complaints/run "$PFSTAT_BUILD" guest "$@"', "sh",
                        *(case.name for case in cases)], check=False, cwd=accuracy.TOP)
        path = pathlib.Path(folder, RESULTS)
        if not path.exists():
            print("the lab has no results")
            return False
        results = json.loads(path.read_text())
    matrix.cells |= {(name, title): cell for title, cells in results["cells"].items()
                     for name, cell in cells.items()}
    matrix.machines["module, eBPF"] = f"Linux {results['kernel']} in the lab, with its " \
        "instruction clock"
    return True


def main():
    words = sys.argv[1:]
    parts = [word for word in words if word in PARTS] or ["native", "lab"]
    names = [word for word in words if word not in PARTS]
    unknown = set(names) - {case.name for case in CASES}
    if unknown:
        sys.exit(f"unknown case '{' '.join(sorted(unknown))}'; choose from "
                 f"{' '.join(case.name for case in CASES)}")
    cases = [case for case in CASES if not names or case.name in names]
    if parts == ["guest"]:
        record_in_guest(cases)
        return
    matrix, has_all = accuracy.Matrix(accuracy.PAGE.read_text()), True
    if "native" in parts:
        record_native(matrix, cases)
    if "lab" in parts:
        has_all = record_in_lab(matrix, cases)
    accuracy.write(matrix)
    for row in (("", *accuracy.OUTCOMES, accuracy.NOT_JUDGED), *matrix.sums()):
        print(f"{row[0]:18}" + "".join(f"{text:>11}" for text in row[1:]))
    sys.exit(not has_all)


if __name__ == "__main__":
    main()

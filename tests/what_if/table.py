# SPDX-License-Identifier: GPL-2.0-only
"""Compares what-if with cold runs, and writes the tables of Documentation/user/what_if.rst.

Usage: table.py native|KERNEL…
"native" is this machine, as root, without times: the disk is a loop device. Another word is a
kernel of the lab with its instruction clock. The tables of other kernels stay as they are.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cold_runs
import pfstat

TOP = pathlib.Path(__file__).parents[2]
PAGE = TOP / "Documentation/user/what_if.rst"
START = ".. The tables from here on are written by make what-if-table.\n"
SECTION = ".. Kernel: "

# With * : nobody looked at it while the model was written.
SETTINGS = {0: "0", 32: "32K", 64: "64K*", 512: "512K", 1024: "1M*"}
PATTERNS = {"sequence": "sequence", "stride": "stride", "random": "random", "runs": "runs",
            "backward": "backward*", "lookups": "lookups*"}
STARTS = {"python3": ("python3", "-S", "-c", "pass"), "perl*": ("perl", "-e", "1"),
          "sqlite3*": ("sqlite3", ":memory:", "select 1"),
          "clang*": ("clang", "--version")}


def programs(disk):
    """The name, the command, and the path whose faults count."""
    for pattern, name in PATTERNS.items():
        yield name, disk.touch(pattern), disk.data
    for name, (program, *arguments) in STARTS.items():
        yield name, disk.start(disk.copy(program), *arguments), disk.folder


def cells_of(disk, source, timed):
    """[measured major, predicted major, measured bytes, …, time] by program and setting."""
    cells = {}
    for name, command, path in programs(disk):
        rows = cold_runs.predicted(disk, command, path, source, SETTINGS)
        for kib in SETTINGS:
            row = rows[kib]
            disk.read_ahead(kib)
            major, read = disk.measured(*command)
            ns = cold_runs.fault_ns(disk, command, path, source, kib) if timed else None
            cells[f"{name} {kib}"] = [major, row["major_faults"], read, row["bytes_read"],
                                      ns, row["total_ns"] if timed else None]
            print(name, kib, *cells[f"{name} {kib}"], row["cannot"] or row["no_time"],
                  flush=True)
    return cells


def in_guest():
    with cold_runs.mounted(pfstat.DISK) as disk:
        disk.fill(cold_runs.PAGES // 2)
        cells = cells_of(disk, "ebpf", True)
    pathlib.Path(os.environ["OUT"], "cells.json").write_text(json.dumps(
        [os.uname().release, cells]))


def in_lab(kernel):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TOP / "tools/lab", "run", "-q", "--kernel", kernel, "--deterministic",
                        "--out", folder, "--", "sh", "-c",
                        'exec tests/what_if/run "$PFSTAT_BUILD" guest'],
                       check=True, cwd=TOP)
        return json.loads(pathlib.Path(folder, "cells.json").read_text())


def on_host():
    with cold_runs.new_folder() as folder, cold_runs.loop_disk(folder, 600) as disk:
        disk.fill()
        return os.uname().release, cells_of(disk, "perf", False)


def within(pairs, share, few):
    """How many of the pairs are, and the worst of all."""
    apart = [0 if abs(real - model) <= few else abs(real - model) / real for real, model in pairs]
    return (f"{sum(part <= share for part in apart)} of {len(apart)} within {share:.0%}, "
            f"the worst {max(apart):.1%}" if apart else "none")


def pairs_of(cells, at):
    return [cell[at:at + 2] for cell in cells.values()
            if None not in cell[at:at + 2]]


def cell_text(cell):
    major, predicted, read, predicted_read, ns, predicted_ns = cell
    if predicted is None:
        return f"{major} / –"
    text = f"{major} / {predicted}, {read / 2**20:.1f} / {predicted_read / 2**20:.1f} MiB"
    if ns is not None:
        text += f", {ns / 1e6:.0f} / {f'{predicted_ns / 1e6:.0f}' if predicted_ns else '–'} ms"
    return text


def section(name, release, cells):
    yield f"{SECTION}{name}"
    yield ""
    yield f":Linux {release.split('-')[0]}:"
    yield f"    major faults: {within(pairs_of(cells, 0), 0.02, 2)};"
    yield f"    bytes: {within(pairs_of(cells, 2), 0.02, 0)};"
    yield f"    time: {within(pairs_of(cells, 4), 0.1, 0)}"
    yield ""
    yield from (".. list-table::", "   :header-rows: 1", "", "   * - Program")
    yield from (f"     - {title}" for title in SETTINGS.values())
    for program in (*PATTERNS.values(), *STARTS):
        yield f"   * - {program}"
        yield from (f"     - {cell_text(cells[f'{program} {kib}'])}" for kib in SETTINGS)
    yield ""


def write(name, release, cells):
    head, tables = PAGE.read_text().split(START)
    sections = {text.split("\n")[0]: text for text in tables.split(SECTION)[1:]}
    sections[name] = "\n".join(section(name, release, cells))[len(SECTION):] + "\n"
    PAGE.write_text(head + START + "\n" + "".join(SECTION + sections[key].rstrip("\n") + "\n\n"
                                                 for key in sections).rstrip("\n") + "\n")


def main():
    if sys.argv[1:] == ["guest"]:
        in_guest()
        return
    for name in sys.argv[1:]:
        write(name, *(on_host() if name == "native" else in_lab(name)))


main()

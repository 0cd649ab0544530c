# SPDX-License-Identifier: GPL-2.0-only
"""Calls shaping mappings: their counts, arguments, files and callers, compared with a program
making a known number of each."""
import functools
import pathlib
import re

import pytest

import pfstat
from pfstat import PAGE

PROGRAM = pfstat.BUILD / "shaping_calls"
RECORDING = pathlib.Path("/tmp/shaping.pfs")
FILE = pfstat.DISK / "shaped"
BYTES = 256 * PAGE


@functools.lru_cache(maxsize=None)
def recorded():
    pfstat.make_file(FILE, BYTES)
    pfstat.drop_cache()
    pfstat.run(pfstat.PFDRIVE, "record", "-o", RECORDING, "--", PROGRAM, FILE)
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "report", "--format", "json",
                                       RECORDING).stdout)


@pytest.fixture(name="result")
def fixture_result():
    return recorded()


def by_function(result):
    """{(function, call, detail): row} for the program's own calls."""
    return {(row["caller"].split("+")[0], row["name"], row["detail_name"]): row
            for row in result["shaping_calls"]["rows"]
            if row["caller"].endswith(f"({PROGRAM.resolve()})")}


def test_each_call_has_its_count_arguments_file_and_caller(result):
    found = {key: (row["count"], row["failed"], row["bytes"], row["file"])
             for key, row in by_function(result).items() if row["name"] != "mmap"}
    assert found == {
        ("advises_random", "madvise", "MADV_RANDOM"): (3, 0, 3 * BYTES, str(FILE)),
        ("advises_wrongly", "madvise", "MADV_RANDOM"): (2, 2, 0, None),
        ("advises_the_file", "fadvise64", "POSIX_FADV_SEQUENTIAL"): (1, 0, 2 * PAGE, None),
        ("locks", "mlock", None): (4, 0, 4 * PAGE, str(FILE)),
        ("locks_on_fault", "mlock2", "MLOCK_ONFAULT"): (1, 0, 3 * PAGE, str(FILE)),
        ("locks_all", "mlockall", "MCL_CURRENT"): (1, 0, 0, None),
    }


def test_forks_and_mappings_have_rows(result):
    """The C library pushes registers first, so that their caller may be unknown."""
    rows = result["shaping_calls"]["rows"]
    assert sum(row["count"] for row in rows if row["name"] == "clone") == 5
    mapped, = [row for row in rows if row["name"] == "mmap" and row["file"] == str(FILE)]
    assert (mapped["detail_name"], mapped["count"], mapped["bytes"]) == ("MAP_SHARED", 1, BYTES)


FORKS = """
import mmap, os
memory = mmap.mmap(-1, {pages} * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for page in range({pages}):
    memory[page * mmap.PAGESIZE] = 1
for _ in range({forks}):
    if not (child := os.fork()):
        with open("/proc/self/smaps_rollup") as file:
            print(next(line for line in file if line.startswith("Rss")).split()[1], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def copied(pages, forks):
    """What the forks of a program copied that has touched pages."""
    result, text = pfstat.record("python3", "-c", FORKS.format(pages=pages, forks=forks))
    rows = [row for row in result["shaping_calls"]["rows"] if row["forks"]]
    assert sum(row["forks"] for row in rows) == forks
    entries = sum(row["fork_pages"] for row in rows)
    # The child also has pages of files, whose entries a fork leaves out.
    rss = sum(int(kib) * 1024 // PAGE for kib in text.split() if kib.isdigit())
    assert forks * pages < entries <= rss
    assert sum(row["fork_table_bytes"] for row in rows) > entries * 8
    return entries


@pytest.mark.smoke
def test_forks_have_the_entries_that_they_copied():
    forks, few, many = 3, 1000, 5000
    difference = copied(many, forks) - copied(few, forks)
    assert abs(difference - forks * (many - few)) < 0.01 * forks * (many - few)


def test_all_calls_are_in_a_row(result):
    """As many as the system call counts have."""
    counted = {}
    for row in result["shaping_calls"]["rows"]:
        counted[row["name"]] = counted.get(row["name"], 0) + row["count"]
    totals = {row["name"]: row["calls"] for row in result["syscall_totals"]}
    assert counted == {name: totals[name] for name in counted}
    assert set(counted) == {name for name in totals if name in (
        "madvise", "mmap", "fadvise64", "mlock", "mlock2", "mlockall", "clone", "clone3", "fork",
        "vfork", "munmap", "mremap", "brk")}
    assert result["shaping_calls"]["left_out"] == 0


def test_the_verdict_names_the_function_that_gave_the_advice(result):
    cause, = [cause for cause in result["verdict"]["causes"] if cause["rule"] == "no-read-ahead"]
    assert cause["text"].startswith(f"{FILE} was read {PAGE / 1024:.1f} KiB at a time")
    assert re.search(r"by madvise\(MADV_RANDOM\), 3 calls in advises_random\+0x[0-9a-f]+ \(",
                     cause["text"])


def test_text_report_has_the_calls(result):
    assert result
    text = pfstat.run(pfstat.PFDRIVE, "report", "--full", RECORDING).stdout
    line, = [line for line in text.splitlines() if " MADV_RANDOM " in line and
             " advises_random+" in line]
    assert line.split()[-1] == str(FILE)
    words = line.split()
    assert words[:3] == ["3", "0", str(3 * BYTES // 1024)]
    assert words[4:6] == ["madvise", "MADV_RANDOM"]

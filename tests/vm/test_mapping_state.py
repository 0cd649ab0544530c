# SPDX-License-Identifier: GPL-2.0-only
"""The advice and the read-ahead for mappings: at the end of a recording, when a mapping ends, and
in the memory map."""
import mmap
import os
import pathlib

import pytest

import pfstat
from pfstat import PAGE

ADVISE = """
import mmap, os
file = open("{path}", "rb")
data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data.madvise(mmap.{advice})
data[0], data[1 << 20]
{end}
"""
# Each half has its own advice: two VMAs, and one mapping.
HALVES = """
data.madvise(mmap.MADV_NORMAL)
data.madvise(mmap.MADV_SEQUENTIAL, 0, 1 << 20)
"""


@pytest.fixture(scope="module", name="path")
def fixture_path():
    return pfstat.make_file(pfstat.DISK / "advised", 512 * PAGE)


def readahead_bytes(path):
    """The device's read_ahead_kb, from which the kernel takes the read-ahead for an opened file."""
    device = os.stat(path).st_dev
    folder = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    return 1024 * int((folder / "queue/read_ahead_kb").read_text())


def row_of(result, path):
    row, = [row for row in result["groups"]["rows"] if row["name"].endswith(f" {path}")]
    return row


def recorded(path, advice, end=""):
    code = ADVISE.format(path=path, advice=advice, end=end)
    result, _ = pfstat.record("python3", "-c", code, options=("--by", "vma", "--top", 0))
    return row_of(result, path)


# Documentation/user/readahead_state.rst: with 7.2 and 7.3 it is n/a.
EXEC_IS_SEEN = pytest.mark.needs(pfstat.KERNEL < (7, 2), "the state of mappings that exec ends")


@pytest.mark.parametrize("advice, end, expected", [
    ("MADV_NORMAL", "", "normal"),
    ("MADV_RANDOM", "", "random"),
    ("MADV_SEQUENTIAL", "data.close()", "sequential"),
    ("MADV_RANDOM", HALVES, "mixed"),
    pytest.param("MADV_RANDOM", "os.execv('/bin/true', ['true'])", "random", marks=EXEC_IS_SEEN),
], ids=("exit", "random", "munmap", "halves", "exec"))
def test_a_mapping_has_its_last_advice(path, advice, end, expected):
    row = recorded(path, advice, end)
    assert (row["advice"], row["readahead_bytes"]) == (expected, readahead_bytes(path))


def test_a_recording_that_ends_before_the_program_has_the_state(path):
    code = ADVISE.format(path=path, advice="MADV_RANDOM",
                         end="print(flush=True); import time; time.sleep(10)")
    recording = pathlib.Path("/tmp/state.pfs")
    pfstat.run(pfstat.PFDRIVE, "record", "--duration", 6, "-o", recording, "--", "python3", "-c",
               code, check=False)
    report = pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "report", "--by", "vma", "--top", 0,
                                         "--format", "json", recording).stdout)
    assert row_of(report, path)["advice"] == "random"
    text = pfstat.run(pfstat.PFDRIVE, "report", "--by", "vma", "--top", 0, recording).stdout
    assert f" random, {readahead_bytes(path) // 1024} KiB ahead, " in text


@pytest.mark.parametrize("advice, misses", [("MADV_NORMAL", 7), ("MADV_RANDOM", 0)])
def test_misses_are_the_faults_that_start_a_read(path, advice, misses):
    """Each page is far from the others. Fault-around would subtract the pages that it maps, and
    with MADV_RANDOM the kernel does not count."""
    pfstat.drop_cache()
    jumps = "".join(f"data[{page * PAGE}]\n" for page in (500, 100, 300, 200, 400))
    code = ADVISE.format(path=path, advice=advice, end=jumps)
    result, _ = pfstat.record("python3", "-c", code, options=("--by", "vma", "--fault-around",
                                                              "off"))
    row = row_of(result, path)
    assert (row["classes"]["disk"], row["mmap_miss"]) == (7, misses)


def test_state_is_unknown_for_mappings_without_a_file(path):
    code = ADVISE.format(path=path, advice="MADV_RANDOM", end="")
    result, _ = pfstat.record("python3", "-c", code, options=("--by", "vma", "--top", 0))
    stack, = [row for row in result["groups"]["rows"] if row["name"].endswith(" [stack]")]
    assert (stack["advice"], stack["readahead_bytes"], stack["mmap_miss"]) == (None, None, None)


def test_memory_map_shows_advice_and_readahead(path):
    def lines():
        return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "maps", "--format", "json", "-p",
                                           os.getpid()).stdout)["maps"]

    with open(path, "rb") as file, \
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        data.madvise(mmap.MADV_RANDOM)
        line, = [line for line in lines() if line["path"] == str(path)]
        assert (line["advice"], line["readahead_bytes"]) == ("random", None)
        with pfstat.Session(f"file {file.fileno()}"):
            line, = [line for line in lines() if line["hooked"]]
            assert line["advice"] == "random" and line["mmap_miss"] == 0
            assert line["readahead_bytes"] == readahead_bytes(path)
            text = pfstat.run(pfstat.PFDRIVE, "maps", "-p", os.getpid()).stdout
            assert f"random, {readahead_bytes(path) // 1024} KiB ahead, 0 misses\n" in text

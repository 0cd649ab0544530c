# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive compare: equal runs do not differ, and a slower disk is detected and named."""
import json
import os
import pathlib

import pytest

import pfstat

pytestmark = pytest.mark.deterministic

SIZE = 4 << 20
CHANGE = 3


@pytest.fixture(name="disks", scope="module")
def fixture_disks():
    """Without read-ahead each page is a disk fault, which gives enough faults for a verdict."""
    with pfstat.mounted_disk("fast", 100_000, readahead_kb=0) as fast, \
         pfstat.mounted_disk("slow", 200_000, readahead_kb=0) as slow:
        yield {"fast": fast, "slow": slow}


@pytest.fixture(name="recordings", scope="module")
def fixture_recordings(disks):
    pfstat.load()
    recordings = {}
    for name, disk in (("warm-up", "fast"), ("fast", "fast"), ("again", "fast"),
                       ("slow", "slow")):
        path = pfstat.make_file(disks[disk] / "file", SIZE)
        recordings[name] = pathlib.Path(f"/tmp/{name}.pfs")
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        pfstat.run(pfstat.PFDRIVE, "record", "-o", recordings[name], "--file", path, "--",
                   pfstat.BUILD / "workload", "now", path)
    return recordings


def compare(first, second, threshold=5):
    """(exit status, JSON)"""
    result = pfstat.run(pfstat.PFDRIVE, "compare", "--format", "json", "--threshold", threshold,
                        first, second, check=False)
    return result.returncode, json.loads(result.stdout)


def row_of(result, class_name, measure):
    row, = [row for row in result["rows"]
            if (row["class"], row["measure"]) == (class_name, measure)]
    return row


def test_equal_runs_are_the_same(recordings):
    status, result = compare(recordings["fast"], recordings["again"])
    assert status == 0, [row for row in result["rows"] if row["verdict"] == "change"]
    assert row_of(result, "disk", "faults")["a"] == SIZE // pfstat.PAGE


def test_a_slower_disk_is_named(recordings):
    status, result = compare(recordings["fast"], recordings["slow"])
    assert status == CHANGE
    device = row_of(result, "disk", "device")
    assert device["verdict"] == "change"
    assert 0.9 < (device["b"] - device["a"]) / 100_000 < 1.1
    # The same pages faulted, with the same CPU time each.
    assert row_of(result, "disk", "faults")["verdict"] == "same"


def test_a_threshold_above_the_difference_hides_it(recordings):
    assert compare(recordings["fast"], recordings["slow"], threshold=150)[0] == 0

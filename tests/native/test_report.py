# SPDX-License-Identifier: GPL-2.0-only
"""The report of a made-up recording is the same in each run."""
import subprocess

import pytest

import pfstat

MAKE = pfstat.BUILD / "make_recording"


@pytest.fixture(name="make")
def fixture_make(tmp_path):
    """Makes a recording with these numbers."""
    def make(faults, threads=4, files=50, mappings=100):
        path = tmp_path / "made.pfs"
        subprocess.run([MAKE, path, str(faults / 1e6), "1",
                        *map(str, (threads, files, mappings))], check=True)
        return path
    return make


# 20 000 threads are more than the analysis keeps, so it drops some. The hash tables have another
# order in each process.
@pytest.mark.parametrize("threads", [1000, 20_000])
def test_the_report_does_not_differ_between_processes(make, threads):
    path = make(100_000, threads)
    reports = {pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", "--full", path).stdout
               for _ in range(3)}
    assert len(reports) == 1

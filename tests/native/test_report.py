# SPDX-License-Identifier: GPL-2.0-only
"""The report of a made-up recording: the same in each run, and the work for it is linear."""
import re
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


def instructions(path):
    """Of the whole process, as valgrind counts them."""
    said = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no",
                           "--cachegrind-out-file=/dev/null", pfstat.PFDRIVE, "report", path],
                          check=True, capture_output=True, text=True).stderr
    return int(re.search(r"I +refs: +([\d,]+)", said)[1].replace(",", ""))


# 20 000 threads are more than the analysis keeps, so it drops some. The hash tables have another
# order in each process.
@pytest.mark.parametrize("threads", [1000, 20_000])
def test_the_report_does_not_differ_between_processes(make, threads):
    path = make(100_000, threads)
    reports = {pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", "--full", path).stdout
               for _ in range(3)}
    assert len(reports) == 1


@pytest.mark.parametrize("what, number", [("threads", 2000), ("threads", 8000),
                                          ("files", 8000), ("mappings", 8000)])
def test_twice_as_many_with_twice_the_faults_take_twice_the_instructions(make, what, number):
    faults = 5 * number
    once, twice = (instructions(make(times * faults, **{what: times * number}))
                   for times in (1, 2))
    assert twice < 2.3 * once

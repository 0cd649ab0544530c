# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive record --keep with the module, for a mapping older than the kept part. The limits and the
options are tested in tests/native."""
import contextlib
import re
import subprocess
import time

import pytest

import pfstat

PAGES = 64
# Faults on each page of the file, again and again, until killed.
FAULTS = """
import mmap, time
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
while True:
    data.madvise(mmap.MADV_DONTNEED)
    time.sleep(0.02)
    sum(data[page * mmap.PAGESIZE] for page in range({pages}))
"""
WRITTEN = re.compile(r"pfdrive: the last ([\d.]+) s are in (\S+): (\d+) items")


@pytest.fixture(name="faulting")
def fixture_faulting():
    path = pfstat.make_file(pfstat.DISK / "keep", PAGES * pfstat.PAGE, b"a")
    with subprocess.Popen(["python3", "-c", FAULTS.format(path=path, pages=PAGES)]) as process:
        yield process
        process.kill()


@pytest.fixture(name="keep")
def fixture_keep(tmp_path):
    """Starts `pfdrive record`, which ends with the test, so that the module is free again."""
    with contextlib.ExitStack() as started:
        def start(*options, target):
            process = started.enter_context(subprocess.Popen(
                [pfstat.PFDRIVE, "record", *options, "--output", tmp_path / "run.pfs", *target],
                stderr=subprocess.PIPE, text=True))
            started.callback(process.terminate)
            return process
        yield start


def await_written(process):
    """Until pfdrive says that a part is written. Returns the text so far."""
    said = ""
    while not WRITTEN.search(said):
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def rest_of(process):
    """The text until the end. communicate() would leave out text buffered by readline()."""
    said = process.stderr.read()
    process.wait(pfstat.PATIENCE)
    return said


def report(path):
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "report", path, "--by", "file", "--format",
                                       "json").stdout)


@pytest.mark.smoke
def test_the_last_part_is_written_at_a_signal_and_at_the_end(tmp_path, keep, faulting):
    process = keep("--keep", "2", target=["-p", str(faulting.pid)])
    pfstat.wait_until(lambda: process.poll() is not None or pfstat.watches(process))
    time.sleep(8)       # more than is kept
    pfstat.run("sh", "-c", "kill -USR1 $(pidof pfdrive)")      # also to pfdrive's helpers
    said = await_written(process)
    faulting.kill()
    said += rest_of(process)
    assert process.returncode == 0, said
    assert not pfstat.PINS.exists()
    first, last = WRITTEN.findall(said)
    assert first[1] == last[1] == str(tmp_path / "run.pfs")
    assert {entry.name for entry in tmp_path.iterdir()} == {"run.pfs", "run.pfs.old"}
    for name, (length, _, items) in (("run.pfs.old", first), ("run.pfs", last)):
        assert 1 < float(length) < 6 and int(items) > 2 * PAGES
        result = report(tmp_path / name)
        # The mapping is older than the kept part.
        rows = {row["name"]: row for row in result["groups"]["rows"]}
        assert str(pfstat.DISK / "keep") in rows, rows
        assert result["lost"] == 0

# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive record --keep: the last part of a long recording, written when it is asked for."""
import contextlib
import re
import signal
import subprocess
import time

import pytest

import pfstat

PAGES = 64
# Faults on each page of the file, again and again, until it is killed.
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
    """Until pfdrive says that a part is written; returns what it said so far."""
    said = ""
    while not WRITTEN.search(said):
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def rest_of(process):
    """What it says until its end. communicate() would leave out what readline() has buffered."""
    said = process.stderr.read()
    process.wait(pfstat.PATIENCE)
    return said


def report(path):
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "report", path, "--by", "file", "--format",
                                       "json").stdout)


@pytest.mark.smoke
def test_the_last_part_is_written_at_a_signal_and_at_the_end(tmp_path, keep, faulting):
    process = keep("--keep", "2", target=["-p", str(faulting.pid)])
    time.sleep(8)
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


def test_a_long_fault_writes_the_part_at_once(tmp_path, keep, faulting):
    process = keep("--keep", "100", "--longer-than", "0.001",
                   target=["-p", str(faulting.pid)])
    said = await_written(process)
    assert report(tmp_path / "run.pfs")["classes"]["around"]["count"] >= 1
    process.send_signal(signal.SIGINT)
    said += rest_of(process)
    assert len(WRITTEN.findall(said)) == 2, said     # not again within the kept time


@pytest.mark.parametrize("option, most, value_of", [
    ("--max-fault-time", 0.5, lambda result: result["parts"]["all"]["total_ns"] / 1e6),
    ("--max-share", 0.0005, lambda result: result["verdict"]["busy_ns"] / 100e9 * 100),
], ids=["fault-time", "share"])
def test_an_exceeded_limit_writes_the_part_at_once(tmp_path, keep, faulting, option, most,
                                                   value_of):
    process = keep("--keep", "100", option, str(most), target=["-p", str(faulting.pid)])
    said = await_written(process)
    assert value_of(report(tmp_path / "run.pfs")) > most
    process.send_signal(signal.SIGINT)
    said += rest_of(process)
    assert len(WRITTEN.findall(said)) == 2, said


def test_a_kept_limit_writes_nothing_before_the_end(tmp_path, keep, faulting):
    process = keep("--keep", "1", "--max-major", "0", "--max-share", "100",
                   target=["-p", str(faulting.pid)])       # its pages are in memory
    time.sleep(3)
    assert not (tmp_path / "run.pfs").exists()

    def written_after_reads():
        pfstat.drop_cache()     # of the pages that are not mapped now
        return (tmp_path / "run.pfs").exists()
    pfstat.wait_until(written_after_reads)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=pfstat.PATIENCE)[1]
    assert len(WRITTEN.findall(said)) >= 2, said


def test_a_command_that_is_shorter_is_kept_whole(tmp_path, keep):
    path = pfstat.make_file(pfstat.DISK / "keep", PAGES * pfstat.PAGE, b"a")
    process = keep("--keep", "1000", target=["--", pfstat.BUILD / "workload", "now", path])
    said = process.communicate(timeout=pfstat.PATIENCE)[1]
    assert process.returncode == 0 and len(WRITTEN.findall(said)) == 1, said
    assert report(tmp_path / "run.pfs")["lost"] == 0


def test_the_name_has_the_time(tmp_path):
    pfstat.run(pfstat.PFDRIVE, "record", "--keep", "10", "-o", tmp_path / "run-%Y.pfs", "--",
               "true")
    entry, = tmp_path.iterdir()
    assert re.fullmatch(r"run-20\d\d\.pfs", entry.name)


@pytest.mark.parametrize("options, sentence", [
    (["--keep", "10"], "--keep requires --output"),
    (["--keep", "x"], "a number of seconds"),
    (["-o", "run.pfs", "--longer-than", "5"], "require --keep"),
    (["-o", "run.pfs", "--keep-memory", "8M"], "require --keep"),
    (["-o", "run.pfs", "--max-major", "5"], "limits require --keep"),
])
def test_options_that_do_not_fit_are_refused(options, sentence):
    assert sentence in pfstat.refused(2, "record", *options, "--", "true")

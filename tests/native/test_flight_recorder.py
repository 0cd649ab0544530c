# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive record --keep: the last part of a long recording, written when it is asked for."""
import contextlib
import re
import signal
import subprocess

import pytest

import native
import pfstat

PAGES = 64
WRITTEN = re.compile(r"pfdrive: the last ([\d.]+) s are in (\S+): (\d+) items")


@pytest.fixture(name="churn")
def fixture_churn(caller):
    """Two threads faulting until the end of the test."""
    with caller.started("native_faults", "churn", 2, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        yield program


@contextlib.contextmanager
def keeping(caller, folder, seconds, *options):
    with caller.recorder("--keep", seconds, "-o", folder / "kept.pfs", *options) as process:
        yield process


def await_written(process):
    """Until pfdrive prints that a part is written. Returns the messages so far."""
    text = ""
    while not WRITTEN.search(text):
        line = process.stderr.readline()
        assert line, text
        text += line
    return text


def rest_of(process, number=signal.SIGINT):
    """The messages until it ends at this signal."""
    process.send_signal(number)
    text = process.stderr.read()
    assert process.wait(pfstat.PATIENCE) == 0, text
    return text


def report(caller, path):
    return native.Recording(caller, path).report("--by", "file")


def await_faults(pid, number):
    """Until all threads in the process had so many more minor faults."""
    def minor():
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return int(stat.read().rpartition(")")[2].split()[7])

    before = minor()
    pfstat.wait_until(lambda: minor() >= before + number)


def test_parts_are_written_at_sigusr1_and_at_the_end(caller, churn, empty):
    with keeping(caller, empty, 5, "-p", churn.pid) as process:
        # Faults exist before the signal: the kernel's counts grow.
        await_faults(churn.pid, 4 * PAGES)
        process.send_signal(signal.SIGUSR1)
        text = await_written(process)
        churn.kill()
        text += process.stderr.read()
        assert process.wait(pfstat.PATIENCE) == 0, text
    first, last = WRITTEN.findall(text)
    assert first[1] == last[1] == str(empty / "kept.pfs")
    assert {entry.name for entry in empty.iterdir()} == {"kept.pfs", "kept.pfs.old"}
    for name in ("kept.pfs.old", "kept.pfs"):
        result = report(caller, empty / name)
        assert result["lost"] == 0 and not result["events_lost"]
        rows = {row["name"]: row for row in result["groups"]["rows"]}
        assert rows["(anonymous memory)"]["faults"] > PAGES


def total_ms(result):
    return result["parts"]["all"]["total_ns"] / 1e6


@pytest.mark.parametrize("option, most, value_of", [
    ("--longer-than", 0.0001, lambda result: result["tail"]["longest"]["duration_ns"] / 1e6),
    ("--max-fault-time", 0.5, total_ms),
    ("--max-share", 0.0005, lambda result: result["verdict"]["busy_ns"] / 100e9 * 100),
], ids=["longer", "fault-time", "share"])
def test_a_long_fault_or_an_exceeded_limit_writes_the_part_at_once(caller, churn, empty, option,
                                                                   most, value_of):
    with keeping(caller, empty, 100, option, most, "-p", churn.pid) as process:
        text = await_written(process)
        assert value_of(report(caller, empty / "kept.pfs")) > most
        # Not again within the kept time.
        text += rest_of(process)
    assert len(WRITTEN.findall(text)) == 2, text


# Reads a cold file after a line, and waits for another before it exits.
READS = "read a; {program} random {file}; read b"


def test_a_kept_limit_writes_nothing_until_it_is_exceeded(caller, empty):
    path = caller.new_file("kept", PAGES)
    caller.run_program("native_faults", "file", path)       # the program's own pages are in memory
    native.evict(path)
    script = READS.format(program=caller.program("native_faults"), file=path)
    with subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True, **caller.options) as shell:
        try:
            with keeping(caller, empty, 100, "--max-major", PAGES // 2, "--max-share", 100, "-p",
                         shell.pid) as process:
                assert not list(empty.iterdir())
                shell.stdin.write("\n")
                shell.stdin.flush()
                pfstat.wait_until((empty / "kept.pfs").exists)
                text = await_written(process)
                assert shell.poll() is None
                text += rest_of(process)
        finally:
            shell.kill()
    assert len(WRITTEN.findall(text)) == 2, text


def test_kept_limits_write_only_at_the_end(caller, churn, empty):
    with keeping(caller, empty, 0.3, "--max-major", 1000_000, "--max-share", 100, "-p",
                 churn.pid) as process:
        await_faults(churn.pid, 100 * PAGES)
        assert not list(empty.iterdir())
        text = rest_of(process)
    assert len(WRITTEN.findall(text)) == 1, text


def test_a_command_that_is_shorter_is_kept_whole(caller, empty):
    path = empty / "kept.pfs"
    result = caller.run("record", "--source", "perf", "--keep", 1000, "-o", path, "--",
                        caller.program("native_faults"), "anon", PAGES)
    assert len(WRITTEN.findall(result.stderr)) == 1, result.stderr
    result = report(caller, path)
    assert result["lost"] == 0 and result["parts"]["all"]["count"] >= PAGES


def test_the_name_has_the_time(caller, empty):
    caller.run("record", "--source", "perf", "--keep", 10, "-o", empty / "run-%Y.pfs", "--",
               "true")
    entry, = empty.iterdir()
    assert re.fullmatch(r"run-20\d\d\.pfs", entry.name)


@pytest.mark.parametrize("options, sentence", [
    (["--keep", "10"], "--keep requires --output"),
    (["--keep", "x"], "a number of seconds"),
    (["-o", "run.pfs", "--longer-than", "5"], "require --keep"),
    (["-o", "run.pfs", "--keep-memory", "8M"], "require --keep"),
    (["-o", "run.pfs", "--max-major", "5"], "limits require --keep"),
])
def test_options_that_do_not_fit_are_refused(caller, options, sentence):
    assert sentence in caller.refused(2, "record", *options, "--", "true")

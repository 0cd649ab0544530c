# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive run with perf's events: how it refuses, how it ends, and which file it reads."""
import os
import signal
import subprocess

import pytest

import native
import pfstat

PAGES = 64
PERF = ("--source", "perf")
FOREVER = ("--accesses", "4000G")


@pytest.fixture(name="path")
def fixture_path(caller):
    return caller.new_file("driven", PAGES)


@pytest.fixture(name="running")
def fixture_running(caller, path):
    """A pfdrive with the file mapped, reading it until the end of the test."""
    def maps_it(pid):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            return str(path) in maps.read()

    with caller.started("pfdrive", "run", *PERF, *FOREVER, path) as process:
        pfstat.wait_until(lambda: process.poll() is not None or maps_it(process.pid))
        yield process


def drive(caller, *words):
    return pfstat.report_of(caller.run("run", *PERF, "--format", "json", *words).stdout)


def test_a_word_that_is_neither_command_nor_file_is_refused(caller):
    assert "unknown command 'reprto'; did you mean 'report'?" in caller.refused(2, "reprto")
    assert "did you mean 'study io'?" in caller.refused(2, "via")


def test_an_unknown_option_and_no_file_are_refused(caller):
    assert caller.run("--frobnicate", check=False).returncode == 2
    assert "no FILE" in caller.refused(2, "run")


def test_run_is_the_default_command(caller, path):
    words = (*PERF, "--format", "json", "--pattern", "sequential", "--cache", "warm", path)
    first, second = (pfstat.report_of(caller.run(*command, *words).stdout)
                     for command in ((), ("run",)))
    assert first["pages_touched"] == second["pages_touched"] == PAGES
    assert first.keys() == second.keys()


@pytest.mark.parametrize("name, words", [
    ("missing", "there is no file"),
    ("folder", "is a folder"),
    ("empty", "is empty"),
    ("fifo", "not a regular file"),
])
def test_bad_files_are_refused(caller, empty, name, words):
    path = empty / name
    if name == "folder":
        path.mkdir()
    elif name == "fifo":
        os.mkfifo(path)
    elif name == "empty":
        path.touch()
    if path.exists():
        os.chown(path, empty.stat().st_uid, -1)
    assert words in caller.refused(1, *PERF, path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_without_a_report(running, number):
    running.send_signal(number)
    assert running.communicate(timeout=pfstat.PATIENCE) == ("", "")
    assert running.returncode == 128 + number


def test_a_file_truncated_during_the_run_is_reported(running, path):
    os.truncate(path, pfstat.PAGE)
    stdout, stderr = running.communicate(timeout=pfstat.PATIENCE)
    assert running.returncode == 1
    assert stdout == "" and "truncated the file" in stderr


def test_dirty_pages_are_written_then_dropped(caller, path):
    native.evict(path)
    with open(path, "r+b") as file:
        file.write(b"new")
    result = drive(caller, "--cache", "cold", "--pattern", "sequential", path)
    assert result["environment"]["resident_pages"] == 0
    assert path.read_bytes()[:3] == b"new"


def test_the_file_is_not_written_to(caller, path):
    before, content = path.stat(), path.read_bytes()
    assert "are the same file" in caller.refused(2, "--json", path, path)
    drive(caller, path)
    after = path.stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    assert path.read_bytes() == content


def test_a_json_file_is_complete_or_as_before(caller, path, empty):
    out = empty / "run.json"
    caller.run(*PERF, "--json", out, "--accesses", 10, path)
    text = out.read_text()
    assert pfstat.report_of(text)["environment"]["source"] == "perf"
    caller.refused(1, *PERF, "--json", out, empty / "missing")
    assert out.read_text() == text and list(empty.iterdir()) == [out]


def test_repeated_runs_are_all_reported(caller, path):
    native.evict(path)
    runs = drive(caller, "--repeat", 2, "--cpu", 0, path)["runs"]
    assert len(runs) == 2
    for run in runs:
        assert run["environment"]["pinned_cpu"] == 0
        assert run["environment"]["resident_pages"] == 0
        assert run["ledger"]["unexplained"] == 0


@pytest.mark.parametrize("pattern", ["random", "sequential"])
def test_a_file_of_a_few_bytes_has_one_page(caller, empty, pattern):
    path = empty / "tiny"
    path.write_bytes(b"abc")
    os.chown(path, empty.stat().st_uid, -1)
    assert drive(caller, "--cache", "warm", "--pattern", pattern, path)["pages_touched"] == 1


def test_a_full_output_is_an_error(caller, path):
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = subprocess.run([caller.program("pfdrive"), *PERF, "--accesses", "10", path],
                                 stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                 **caller.options)
    assert process.returncode == 1
    assert "No space left" in process.stderr

# SPDX-License-Identifier: GPL-2.0-only
"""A recording on a full disk keeps what fits, and the report has the whole run."""
import contextlib
import re
import resource
import signal
import subprocess

import pytest

import pfstat

PAGES = 8192  # their faults fill more than 64 KiB
KIB = 1024


@pytest.fixture(name="program")
def fixture_program(caller):
    return caller.program("native_faults"), "fork", 2, PAGES


@contextlib.contextmanager
def full_disk(caller, size):
    """A file system of this size in the caller's folder."""
    folder = caller.folder / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "tmpfs",
                              folder], capture_output=True, text=True, check=False)
    try:
        if mounted.returncode:
            pytest.xfail(f"no file system can be mounted here: {mounted.stderr.strip()}")
        yield folder
    finally:
        subprocess.run(["umount", folder], stderr=subprocess.DEVNULL, check=False)
        folder.rmdir()


def record(caller, path, program, **kwargs):
    """Records the program. It fails, and the whole run's report is printed."""
    process = caller.run("record", "--source", "perf", "--output", path, "--format", "json", "--",
                         *program, check=False, **kwargs)
    assert process.returncode == 1, process.stderr
    printed = process.stdout[process.stdout.index("{"):]
    result = pfstat.report_of(printed)
    assert result["damage"] is None
    assert result["parts"]["all"]["count"] >= 2 * PAGES
    return process.stderr, result


def check_cut(caller, path, stderr, reason, result):
    """The first items are in the file, which says why it ends. Returns the number of these
    items."""
    said = re.search(rf"^pfdrive: {path} is incomplete: cannot write to it: {reason}; "
                     r"'pfdrive report' can read the first (\d+) of (\d+) items; ", stderr,
                     re.MULTILINE)
    assert said, stderr
    assert 0 < int(said[1]) < int(said[2])
    read = pfstat.report_of(caller.run("report", "--format", "json", path).stdout)
    assert read["damage"] == f"{path} was cut: cannot write to it: {reason}"
    assert 0 < read["parts"]["all"]["count"] < result["parts"]["all"]["count"]
    assert read["events_lost"] > 0
    assert [one.name for one in path.parent.glob(f"{path.name}*")] == [path.name]


def test_a_disk_of_64_kib_keeps_the_first_items(caller, program):
    with full_disk(caller, "64k") as folder:
        path = folder / "run.pfs"
        stderr, result = record(caller, path, program)
        check_cut(caller, path, stderr, "No space left on device", result)
        assert path.stat().st_size > 32 * KIB


def test_a_disk_without_room_for_the_head_has_no_file(caller, program):
    with full_disk(caller, "4k") as folder:
        stderr, _ = record(caller, folder / "run.pfs", program)
        assert f"cannot write {folder / 'run.pfs'}: No space left on device; " \
               "there is no recording, the report is printed instead\n" in stderr
        assert not list(folder.iterdir())


def test_a_limit_of_file_sizes_keeps_the_first_items(caller, program):
    path = caller.folder / "limited.pfs"
    limit = 64 * KIB

    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    stderr, result = record(caller, path, program, preexec_fn=set_limit)
    check_cut(caller, path, stderr, "File too large", result)
    assert path.stat().st_size <= limit


def test_the_watch_of_a_process_goes_on_after_the_disk_is_full(caller):
    with full_disk(caller, "64k") as folder, \
            caller.started("native_faults", "churn", 1, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        path = folder / "run.pfs"
        with caller.recorder("-p", program.pid, "-o", path) as process:
            line = process.stderr.readline()
            assert line.endswith("; the run goes on, and the report is printed at the end\n"), line
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 1
        assert re.search("^Counts: ", stdout, re.MULTILINE)
        assert f"pfdrive: {path} is incomplete: cannot write to it: No space left on device; " \
            in stderr
        assert program.poll() is None

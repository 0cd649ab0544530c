# SPDX-License-Identifier: GPL-2.0-only
"""What a recording has, what pfdrive says and what runs on after pfdrive or its command ends, by a
signal, by Ctrl-C on a terminal, or because the command cannot begin."""
import contextlib
import os
import pathlib
import pty
import signal

import pytest

import native
import pfstat

PAGES = 64


@pytest.fixture(name="path")
def fixture_path(empty):
    """For a recording not there yet."""
    return empty / "run.pfs"


@pytest.fixture(name="churn")
def fixture_churn(caller):
    """A thread faulting until the end of the test."""
    with caller.started("native_faults", "churn", 1, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        yield program


def report(caller, path):
    return native.Recording(caller, path).report()


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    _, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, stderr


def alive(pid):
    with contextlib.suppress(FileNotFoundError):
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    return False


def pid_in(path):
    """The pid that a command writes to a file."""
    pfstat.wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def test_a_process_is_watched_as_long_as_stated(caller, churn, path):
    caller.run("record", "--source", "perf", "-p", churn.pid, "--duration", "0.5", "-o", path)
    assert report(caller, path)["elapsed_ns"] >= 0.5e9
    assert alive(churn.pid)


# A thread's events may move to its child at a context switch, while others are being opened.
@pytest.mark.parametrize("words", [("/bin/sh", "-c", "while :; do /bin/true; done"),
                                   ("native_faults", "spawn", 1, 8),
                                   ("native_faults", "spawn", 4, 8)])
def test_a_process_that_always_forks_can_be_attached(caller, path, words):
    with caller.started(*words) as program:
        for _ in range(20):
            caller.run("record", "--source", "perf", "-p", program.pid, "--duration", "0.02", "-o",
                       path)
            result = report(caller, path)
            assert result["ledger"]["unexplained"] == 0
            assert not result["parts"]["classes"]["error"]["count"]


def test_sigint_ends_the_watch_of_a_process(caller, churn, path):
    with caller.recorder("-p", churn.pid, "-o", path) as process:
        end(process)
    assert report(caller, path)["damage"] is None
    assert alive(churn.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_recording_and_the_command_runs_on(caller, empty, path, number):
    said = empty / "pid"
    command = f"echo $$ >{said}; exec sleep 600 >/dev/null 2>&1"
    with caller.recorder("-o", path, "--", "sh", "-c", command) as process:
        pid = pid_in(said)
        end(process, number)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)
    result = report(caller, path)
    assert result["damage"] is None and result["parts"]["all"]["count"] > 0


class Terminal:
    """pfdrive record with a command on a terminal of its own, in the foreground there."""

    def __init__(self, caller, path, *command):
        words = [caller.program("pfdrive"), "record", "--source", "perf", "-o", path, "--",
                 *command]
        self.pid, self.fd = pty.fork()
        if not self.pid:
            if "user" in caller.options:
                os.setgroups([])
                os.setgid(caller.options["group"])
                os.setuid(caller.options["user"])
            os.chdir(caller.folder)
            os.execve(words[0], [str(word) for word in words], caller.options["env"])
        self.shown = b""

    def wait_for(self, text):
        while text not in self.shown:
            self.shown += os.read(self.fd, 4096)

    def press(self, key=b"\x03"):
        os.write(self.fd, key)

    def status(self):
        with contextlib.suppress(OSError):      # EIO: all processes on it have exited
            while more := os.read(self.fd, 4096):
                self.shown += more
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_ctrl_c_goes_to_the_command(caller, path):
    """The command dies of it, as without pfdrive. The recording is complete, and the status shows
    it."""
    terminal = Terminal(caller, path, "sh", "-c", "echo it runs; exec sleep 600")
    terminal.wait_for(b"it runs\r\n")
    terminal.press()
    assert terminal.status() == 128 + signal.SIGINT
    result = report(caller, path)
    assert result["damage"] is None and result["rusage"]["minflt"] is not None


def test_a_command_that_handles_ctrl_c_is_recorded_to_its_end(caller, path):
    terminal = Terminal(caller, path, "sh", "-c", "trap 'echo it cleans up; sleep 0.5; exit 7' INT;"
                        "echo it runs; while :; do sleep 0.1; done")
    terminal.wait_for(b"it runs\r\n")
    terminal.press()
    assert terminal.status() == 7
    assert b"it cleans up" in terminal.shown
    assert report(caller, path)["elapsed_ns"] > 0.5e9


def test_a_second_ctrl_c_ends_the_recording(caller, empty, path):
    said = empty / "pid"
    terminal = Terminal(caller, path, "sh", "-c", f"trap '' INT HUP; echo $$ >{said}; echo it runs;"
                        "exec sleep 600 >/dev/null 2>&1")
    terminal.wait_for(b"it runs\r\n")
    terminal.press()
    terminal.wait_for(b"recording continues until sh exits; a second Ctrl-C stops it now")
    terminal.press()
    terminal.wait_for(b"faults recorded")
    pid = pid_in(said)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)
    assert terminal.status() == 0
    assert report(caller, path)["damage"] is None


@pytest.mark.parametrize("script, status", [("exit 3", 3), ("kill -9 $$", 128 + 9)])
def test_the_commands_status_is_passed_on(caller, path, script, status):
    result = caller.run("record", "--source", "perf", "-o", path, "--", "sh", "-c", script,
                        check=False)
    assert result.returncode == status
    assert report(caller, path)["damage"] is None


@pytest.mark.parametrize("command, status, words", [
    ("./no-such-command", 127, "no-such-command"), ("/etc/passwd", 126, "Permission denied")])
def test_a_command_that_cannot_begin_writes_nothing(caller, empty, path, command, status, words):
    assert words in caller.refused(status, "record", "--source", "perf", "-o", path, "--", command)
    assert not list(empty.iterdir())


def test_a_missing_folder_fails_before_anything_runs(caller, empty):
    ran = empty / "ran"
    assert "cannot write" in caller.refused(1, "record", "--source", "perf", "-o",
                                            empty / "missing/run.pfs", "--", "touch", ran)
    assert not ran.exists()


def test_a_recording_and_json_must_be_different_files(caller, empty, path):
    caller.refused(2, "record", "-o", path, "--json", f"{empty}/../{empty.name}/run.pfs", "--",
                   "true")
    assert not path.exists()


def test_a_killed_pfdrive_leaves_the_recording(caller, churn, path):
    with caller.recorder("-p", churn.pid, "-o", path) as process:
        pfstat.wait_until(path.exists)
        process.kill()
        process.communicate()
    assert alive(churn.pid)
    assert report(caller, path)["damage"] == f"{path} was cut: it has no end"
    caller.run("record", "--source", "perf", "-o", path, "--", "true")
    assert report(caller, path)["damage"] is None
    # The cut recording was kept.
    older = path.with_name("run.pfs.old")
    assert report(caller, older)["damage"] == f"{older} was cut: it has no end"


def test_top_on_a_terminal_is_drawn_in_place(caller, churn):
    outer, inner = pty.openpty()
    words = ("top", "--source", "perf", "-p", churn.pid, "-i", "0.2")
    with caller.started("pfdrive", *words, terminal=inner) as process:
        os.close(inner)
        text = b""
        while text.count(b"faults/s") < 3:
            text += os.read(outer, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=pfstat.PATIENCE) == 0
    os.close(outer)
    assert b"\x1b[" in text
    assert churn.poll() is None

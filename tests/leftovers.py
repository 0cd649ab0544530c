# SPDX-License-Identifier: GPL-2.0-only
"""A pytest plugin: no test hangs, and no process outlives the test that started it.

A test that takes longer than LIMIT_S seconds fails where it stands. Processes that a test's call
left running are killed before the teardown, which may need what they hold, and processes of the
teardown after it.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import pytest

# Several times what the slowest test takes on the debug kernel in an emulator. The instruction
# clock jumps ahead while the host's disk is busy.
LIMIT_S = int(os.environ.get("PFSTAT_TEST_LIMIT_S") or (
    100_000 if os.environ.get("LAB_DETERMINISTIC") == "yes" else 1800))
# For a program that ends by itself, and for one that cleans up before it ends.
GRACE_S = 5
# Started programs inherit the environment, even those that leave their parent.
MARK = "PFSTAT_TESTED_BY"


class Popen(subprocess.Popen):
    """Kills the process if its with block fails, because the end of the block waits for it."""

    def __exit__(self, kind, value, traceback):
        if kind:
            self.kill()
        super().__exit__(kind, value, traceback)


def pids():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def runs_for_us(pid):
    """Whether this process, or a program that it started, started that one, which still runs."""
    folder = pathlib.Path("/proc", str(pid))
    with contextlib.suppress(OSError):
        state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        if state in "ZX":
            return False
        mark = f"{MARK}={os.getpid()}".encode()
        return int(parent) == os.getpid() or mark in (folder / "environ").read_bytes().split(b"\0")
    return False


def remaining(before):
    return [pid for pid in pids() - before if runs_for_us(pid)]


def name_of(pid):
    with contextlib.suppress(OSError):
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b" ".join(words).decode(errors="replace")[:80]
    return "?"


def end(before, signals):
    """Sends these signals in turn, until all processes that started since have ended. Returns the
    names of the processes that needed a signal."""
    names = {}
    for number in signals:
        for pid in remaining(before):
            if number:
                names.setdefault(pid, name_of(pid))
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        deadline = time.monotonic() + GRACE_S
        while remaining(before) and time.monotonic() < deadline:
            time.sleep(0.05)
    return list(names.values())


def pytest_configure(config):
    os.environ[MARK] = str(os.getpid())
    subprocess.Popen = Popen
    config.left = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    before = pids()

    def too_long(*_):
        signal.alarm(LIMIT_S)
        end(before, (signal.SIGKILL,))      # the test may wait for one of them
        pytest.fail(f"takes longer than {LIMIT_S} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    before = pids()
    outcome = yield
    signals = (signal.SIGTERM, signal.SIGKILL)
    left = end(before, signals if outcome.excinfo else (0, *signals))
    item.config.left += [f"{item.nodeid}: {name}" for name in left]


@pytest.fixture(autouse=True)
def no_leftovers():
    """Comes before the test's other fixtures, and after those that tests share."""
    before = pids()
    yield
    end(before, (0, signal.SIGTERM, signal.SIGKILL))


def pytest_sessionfinish(session):
    for line in session.config.left:
        print(f"\nkilled after {line}", end="")

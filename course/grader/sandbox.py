# SPDX-License-Identifier: GPL-2.0-only
"""Builds and runs a submission in the guest: as another user, in a tmpfs, with limits.

The limit that decides points is CPU time, which is the same on every host. The guest's clock is
not: it jumps ahead while the guest waits for a slow disk of the host.
"""
import contextlib
import dataclasses
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

from .questions import Wrong

USER = 65534                # the user that owns no files
HOME = pathlib.Path("/run/submission")
CGROUPS = pathlib.Path("/sys/fs/cgroup")
CGROUP = CGROUPS / "submission"
LAUNCH = pathlib.Path("/run/launch")
RESULT = pathlib.Path("/run/submission.result")
HOME_SIZE = "64M"
MEMORY = 512 << 20
PROCESSES = 64
MOST_OUTPUT = 1 << 20
CHECK_SECONDS = 0.2
# By the guest's clock: for a submission that sleeps and uses no CPU.
MOST_SECONDS = 7200


@dataclasses.dataclass
class Ended:
    """status as of subprocess; seconds of the guest's clock, 0 below a wrapper."""
    status: int
    out: str
    err: str
    seconds: float


def _write(path, text):
    path.write_text(text, encoding="ascii")


def _cpu_seconds():
    return int((CGROUP / "cpu.stat").read_text().split()[1]) / 1e6


def _kill_all():
    """Every process that the submission started, also those that left its session."""
    _write(CGROUP / "cgroup.kill", "1")
    while "populated 1" in (CGROUP / "cgroup.events").read_text():
        time.sleep(0.01)


def _enter():
    """Runs in the child before exec."""
    _write(CGROUP / "cgroup.procs", "0")
    os.setsid()


def _make_launch():
    if not LAUNCH.exists():
        subprocess.run(["gcc", "-O2", "-o", LAUNCH, pathlib.Path(__file__).with_name("launch.c")],
                       check=True)


class Sandbox:
    """A fresh copy of the submission in HOME. The submission can write only there."""

    home = HOME
    user = USER

    def __init__(self, files):
        _make_launch()
        HOME.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={HOME_SIZE},nosuid,nodev,mode=755",
                        "submission", HOME], check=True)
        shutil.copytree(files, HOME, dirs_exist_ok=True)
        for directory, _, names in os.walk(HOME):
            for path in [directory] + [os.path.join(directory, name) for name in names]:
                os.chown(path, USER, USER)
                os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
        _write(CGROUPS / "cgroup.subtree_control", "+memory +pids +cpu")
        CGROUP.mkdir(exist_ok=True)
        _write(CGROUP / "memory.max", str(MEMORY))
        _write(CGROUP / "pids.max", str(PROCESSES))

    def close(self):
        _kill_all()
        with contextlib.suppress(OSError):
            CGROUP.rmdir()
        subprocess.run(["umount", "--lazy", HOME], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, *command, seconds, wrapper=()):
        """Runs COMMAND; raises Wrong if it uses more CPU time. WRAPPER is a command of the grader
        that runs COMMAND as the submission's user."""
        words = [str(word) for word in command]
        RESULT.unlink(missing_ok=True)
        launch = [str(word) for word in wrapper or (LAUNCH, CGROUP, USER, RESULT)]
        environment = {"PATH": os.environ["PATH"] if wrapper else "/usr/bin:/bin", "LANG": "C"}
        with open("/run/submission.out", "w+b") as out, open("/run/submission.err", "w+b") as err:
            with subprocess.Popen(launch + words, cwd=HOME, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=err, env=environment,
                                  preexec_fn=_enter if wrapper else None) as process:
                in_time = _wait(process, seconds)
                _kill_all()
            if not in_time:
                raise Wrong(f"{pathlib.Path(words[0]).name} did not end within {seconds} s of CPU "
                            "time")
            status, nanoseconds = process.returncode, 0
            if not wrapper:
                wait_status, nanoseconds = (int(word) for word in RESULT.read_text().split())
                status = os.waitstatus_to_exitcode(wait_status)
            return Ended(status, _text_of(out), _text_of(err), nanoseconds / 1e9)

    def must_run(self, *command, seconds, **options):
        """As run(); raises Wrong if the status is not 0."""
        ended = self.run(*command, seconds=seconds, **options)
        name = pathlib.Path(str(command[0])).name
        if ended.status < 0:
            raise Wrong(f"{name} was ended by {signal.Signals(-ended.status).name}")
        if ended.status:
            lines = (ended.err or ended.out).strip().splitlines()
            raise Wrong(f"{name} exited with status {ended.status}"
                        + (f": {lines[0][:200]}" if lines else ""))
        return ended

    def compile(self, program, *sources):
        """Builds PROGRAM from C files; raises Wrong with the compiler's first error."""
        ended = self.run("gcc", "-std=gnu11", "-O2", "-Wall", "-o", program, *sources, seconds=60)
        if ended.status:
            errors = [line for line in ended.err.splitlines() if "error" in line]
            first = (errors or ended.err.splitlines() or ["it prints no error"])[0]
            raise Wrong(f"gcc cannot compile it: {first[:200]}")


def _wait(process, seconds):
    """False if the submission used more CPU time than SECONDS, or slept for too long."""
    until = time.monotonic() + MOST_SECONDS
    before = _cpu_seconds()
    pidfd = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        while not poll.poll(CHECK_SECONDS * 1000):
            if _cpu_seconds() - before > seconds or time.monotonic() > until:
                return False
        return True
    finally:
        os.close(pidfd)


def _text_of(file):
    file.seek(0)
    return file.read(MOST_OUTPUT).decode(errors="replace")

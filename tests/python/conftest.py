# SPDX-License-Identifier: GPL-2.0-only
"""The wheel in an environment of its own, a user without a privilege, and recordings.

A test with the fixture `user` or `recorded` records. Where perf_event_open() is denied, these tests
are skipped. Others need an engine. A line states the number and the reason."""
import collections
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])
ENVIRONMENT = pathlib.Path(os.environ["PFSTAT_ENVIRONMENT"])
NOBODY = 65534
RECORDS = ("user", "recorded")


class User:
    """An ordinary user with a fresh environment, into which the wheel was installed."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pfstat-python-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.python = self.folder / "venv/bin/python"
        # Python must not find the wheel that these tests import.
        without = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", self.folder / "venv"],
                       check=True)
        wheel, = (BUILD / "wheel" / os.uname().machine).glob("*.whl")
        subprocess.run([ENVIRONMENT / "bin/pip", "--python", self.python, "install", "--quiet",
                        "--disable-pip-version-check", "--no-compile", "--no-index",
                        "--find-links", ENVIRONMENT / "wheels", wheel], check=True, env=without)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.options = {"cwd": self.home, "text": True, "capture_output": True,
                        "env": {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}}
        if os.geteuid() == 0:
            os.chown(self.home, NOBODY, NOBODY)
            self.options |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def program(self, name):
        return self.folder / "venv/bin" / name

    def run(self, *words, **options):
        return subprocess.run(list(map(str, words)), check=False, **self.options, **options)

    def script(self, text):
        """The output of a user's script, which did not fail."""
        done = self.run(self.python, "-c", text)
        assert done.returncode == 0, done.stderr
        return done.stdout


@functools.lru_cache(maxsize=None)
def the_user():
    return User()


@pytest.fixture(name="user")
def fixture_user():
    return the_user()


@pytest.fixture(name="recorded", scope="session")
def fixture_recorded(tmp_path_factory):
    """A recording on this machine, of a program mapping a file."""
    folder = tmp_path_factory.mktemp("recorded")
    data = folder / "data"
    data.write_bytes(b"pfstat " * 150_000)
    program = f"import mmap; file = open({str(data)!r}, 'rb'); " \
        "m = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ); print(sum(m[at] for at in range(0, len(m), 4096)))"
    path = folder / "run.pfs"
    subprocess.run([BUILD / "pfdrive", "record", "--source", "perf", "-o", path, "--",
                    "/usr/bin/python3", "-c", program], check=True)
    return path


@pytest.fixture(name="made", scope="session")
def fixture_made(tmp_path_factory):
    """A recording of the module with requests, made by a program: it is the same each time."""
    path = tmp_path_factory.mktemp("made") / "run.pfs"
    subprocess.run([BUILD / "make_run", path], check=True)
    return path


@functools.lru_cache(maxsize=None)
def denial():
    """Why this machine does not let the user record, or "" if it does."""
    done = the_user().run(the_user().program("pfdrive"), "record", "--source", "perf", "-o",
                          "trial.pfs", "--", "true")
    return done.stderr.strip() if done.returncode else ""


@pytest.fixture(name="trace_processor", scope="session")
def fixture_trace_processor():
    """Perfetto's program that answers queries."""
    return shutil.which("trace_processor_shell")


def missing(item):
    """Why a test cannot run here, or "" if it can."""
    names = set(item.fixturenames)
    if "spark" in names and not shutil.which("java"):
        return "Spark requires java"
    if "trace_processor" in names and not shutil.which("trace_processor_shell"):
        return "there is no trace_processor_shell"
    return denial() if names & set(RECORDS) else ""


def pytest_collection_modifyitems(config, items):
    config.skipped = {item: missing(item) for item in items if missing(item)}
    config.hook.pytest_deselected(items=list(config.skipped))
    items[:] = [item for item in items if item not in config.skipped]


def pytest_report_collectionfinish(config):
    reasons = collections.Counter(config.skipped.values())
    return [f"{count} skipped: {reason}" for reason, count in reasons.items()]


def pytest_unconfigure():
    if the_user.cache_info().currsize:
        shutil.rmtree(the_user().folder)

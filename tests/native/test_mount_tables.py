# SPDX-License-Identifier: GPL-2.0-only
"""The file system of each file in a report, and the server that a verdict names."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import native
import pfstat
from filesystems import FUSE_SERVER
from test_causes import RANDOM_READS

SHM = pathlib.Path("/dev/shm")
PAGES = 2000
# Maps the file, removes its name, and touches each page.
DELETED = """
import mmap, os, sys
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
os.unlink(sys.argv[1])
print(sum(data[::mmap.PAGESIZE]))
"""


def files_of(recording):
    """{name: its row}"""
    return {row["name"]: row for row in recording.report("--by", "file")["groups"]["rows"]}


def mount_of(row):
    return row["filesystem"], row["mount_source"]


def found_by_findmnt(path):
    """The last line: it is mounted over the others."""
    lines = pfstat.run("findmnt", "-no", "FSTYPE,SOURCE", "--target", path).stdout.splitlines()
    return tuple(lines[-1].split("[")[0].split())


@contextlib.contextmanager
def file_in_shm(pages):
    with tempfile.NamedTemporaryFile(dir=SHM, delete=False) as file:
        file.write(bytes(pages * pfstat.PAGE))
        os.fchmod(file.fileno(), 0o666)
    path = pathlib.Path(file.name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def served(below):
    """The folder's files through a FUSE server."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        with subprocess.Popen([sys.executable, FUSE_SERVER, below, name], text=True,
                              stdout=subprocess.PIPE) as server:
            assert server.stdout.readline() == "mounted\n"
            try:
                yield pathlib.Path(name)
            finally:
                pfstat.run("umount", name)


def may_mount_fuse():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.W_OK) and not subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
        check=False).returncode


@pytest.mark.needs(found_by_findmnt(SHM)[0] == "tmpfs", "tmpfs in /dev/shm")
def test_files_have_the_file_system_that_findmnt_shows(caller):
    path = caller.new_file("on-disk", 10)
    place = found_by_findmnt(path)
    with file_in_shm(10) as shared:
        disk, memory = (files_of(caller.record_faults("file", name))[str(name)]
                        for name in (path, shared))
        assert mount_of(memory) == found_by_findmnt(SHM)
    # An overlay's file may be known as the one below it, and that mount may be hidden.
    if place[0] != "overlay":
        assert mount_of(disk) == place


@pytest.mark.needs(found_by_findmnt(SHM)[0] == "tmpfs", "tmpfs in /dev/shm")
def test_a_file_without_a_name_keeps_its_file_system(caller):
    with file_in_shm(10) as path:
        os.chown(path, caller.folder.stat().st_uid, -1)
        rows = files_of(caller.record(native.PYTHON, "-c", DELETED, path))
    row, = (row for name, row in rows.items() if name.startswith(str(path)))
    assert mount_of(row) == found_by_findmnt(SHM)


def test_memory_without_a_file_has_none(caller):
    row = files_of(caller.record_faults("anon", 20))["(anonymous memory)"]
    assert mount_of(row) == (None, None)


def server_causes(recording, path):
    """The rule's sentences, and if threads slept in faults on the file for a quarter of the time.

    With kernel stacks the sleeps for a server are blocked, else asleep.
    """
    report = recording.report("--by", "file")
    row, = (row for row in report["groups"]["rows"] if row["name"] == str(path))
    assert row["major"] == PAGES
    total_ns = sum(row["total_ns"] for row in report["groups"]["rows"])
    causes = [cause["text"] for cause in report["verdict"]["causes"]
              if cause["rule"] == "remote-server"]
    slept_ns = sum(row["parts"][part] or 0 for part in ("asleep", "blocked"))
    return causes, slept_ns >= total_ns / 4 and report["verdict"]["share"] >= 0.05


@pytest.mark.needs(may_mount_fuse(), "the right to mount FUSE")
def test_the_same_reads_wait_for_a_server_only_through_fuse(caller):
    below = caller.new_file("served", PAGES)
    with served(below.parent) as folder:
        path = folder / below.name
        native.evict(path)
        recording = caller.record(native.PYTHON, "-c", RANDOM_READS, path)
        assert mount_of(files_of(recording)[str(path)]) == ("fuse", "pfstat")
        causes, slept = server_causes(recording, path)
        assert bool(causes) == slept
        for text in causes:
            assert f"waited for the FUSE server: {path} is on fuse (pfstat)." in text
        assert f"{path}, on fuse (pfstat)" in recording.print("--by", "file", "--full")
    native.evict(below)
    causes, _ = server_causes(caller.record(native.PYTHON, "-c", RANDOM_READS, below), below)
    assert not causes

# SPDX-License-Identifier: GPL-2.0-only
"""The kernel stacks of sleeps in faults name the lock, the journal or the server."""
import contextlib
import fcntl
import os
import pathlib
import struct
import subprocess
import time

import pytest

import filesystems
import pfstat
from pfstat import record

# The other sleeps of the program are shorter.
STALL_S = 3
OUT = pathlib.Path("/tmp/waits.json")
GO = pathlib.Path("/tmp/waits-go")
READY = pathlib.Path("/tmp/waits-ready")

# Waits until the test has prepared the stall, then accesses the first page. The first access brings
# the code into memory: later, only the stall stops it.
ACCESS = """
import mmap, os, pathlib, time
data = mmap.mmap(-1, mmap.PAGESIZE)
{access}
with open("{path}", "r+b") as file:
    data = mmap.mmap(file.fileno(), mmap.PAGESIZE)
{before}
pathlib.Path("{ready}").write_text(str(os.getpid()))
while not os.path.exists("{go}"):
    time.sleep(0.01)
{access}
"""

# ioctl(2), linux/fs.h
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
FS_JOURNAL_DATA_FL = 0x4000


def is_stuck(pid, function=""):
    """In an uninterruptible sleep, in this kernel function."""
    folder = pathlib.Path(f"/proc/{pid}")
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] == "D" and \
        function in (folder / "stack").read_text()


def stall_access(path, access, stall, before=""):
    """pfdrive's report for an access to the path with the stall. `stall` is a context manager to
    begin and end the stall."""
    for marker in (GO, READY):
        marker.unlink(missing_ok=True)
    script = ACCESS.format(path=path, before=before, access=access, ready=READY, go=GO)
    with subprocess.Popen([pfstat.PFDRIVE, "record", "--json", OUT, "--full", "--", "python3", "-c",
                           script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        pfstat.wait_until(lambda: process.poll() is not None or
                          READY.exists() and READY.read_text())
        assert process.poll() is None, process.stderr.read()
        with stall():
            GO.touch()
            pfstat.wait_until(lambda: is_stuck(int(READY.read_text())))
            time.sleep(STALL_S)
        text, errors = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, errors
    return pfstat.report_of(OUT.read_text()), text


@contextlib.contextmanager
def suspended(place):
    """No request to the device ends meanwhile."""
    place.device.dmsetup("suspend", "--noflush", "--nolockfs")
    try:
        yield
    finally:
        place.device.dmsetup("resume")


@contextlib.contextmanager
def stuck(place, function, act):
    """Another process, which acts and waits for the suspended device in this kernel function."""
    with suspended(place):
        child = os.fork()
        if not child:
            act()
            os._exit(0)
        pfstat.wait_until(lambda: is_stuck(child, function))
        yield
    assert os.waitpid(child, 0)[1] == 0


def toggle_flag(path, flag):
    with open(path, "rb") as file:
        flags, = struct.unpack("l", fcntl.ioctl(file.fileno(), FS_IOC_GETFLAGS, bytes(8)))
        fcntl.ioctl(file.fileno(), FS_IOC_SETFLAGS, struct.pack("l", flags ^ flag))


def longest(result):
    """The kernel stack with nearly all sleep time not explained by a request."""
    stacks = result["waits"]["stacks"]
    parts = result["parts"]["all"]["parts"]
    slept_ns = parts["foreign"]["total_ns"] + parts["blocked"]["total_ns"]
    assert stacks[0]["total_ns"] > 0.9 * slept_ns > 0, stacks
    return stacks[0]


@pytest.fixture(name="ext4", scope="module")
def of_ext4():
    with filesystems.mounted("ext4") as place:
        yield place


def test_a_store_waits_for_the_journal(ext4):
    """ext4 flushes the journal, and lets no change begin, before a file stops to journal data."""
    path, other = ext4.file("journal", 1), ext4.file("other", 1)
    toggle_flag(other, FS_JOURNAL_DATA_FL)
    os.utime(other)         # the journal has something to write
    result, text = stall_access(
        path, "data[0] = 1", before="data[0]",
        stall=lambda: stuck(ext4, "jbd2_journal_flush",
                            lambda: toggle_flag(other, FS_JOURNAL_DATA_FL)))
    wait = longest(result)
    assert wait["cause"] == "the ext4 journal (jbd2)", wait
    assert wait["max_ns"] > 10_000_000
    assert "the ext4 journal (jbd2)" in text
    assert "ext4_page_mkwrite" in wait["functions"]
    assert any("mostly for the ext4 journal (jbd2)" in cause["text"]
               for cause in result["verdict"]["causes"]), result["verdict"]


def test_a_store_waits_for_the_end_of_a_freeze(ext4):
    @contextlib.contextmanager
    def frozen():
        pfstat.run("fsfreeze", "--freeze", ext4.folder)
        try:
            yield
        finally:
            pfstat.run("fsfreeze", "--unfreeze", ext4.folder)

    result, _ = stall_access(ext4.file("frozen", 1), "data[0] = 1", before="data[0]",
                             stall=frozen)
    assert longest(result)["cause"] == "the end of a file system freeze"


def test_a_load_waits_for_the_page_that_another_process_reads(ext4):
    path = ext4.file("contended", 1)
    result, _ = stall_access(path, "data[0]", stall=lambda: stuck(
        ext4, "folio_wait_bit_common", path.read_bytes))
    wait = longest(result)
    assert wait["cause"] == "a page that another thread reads or has locked"
    assert wait["functions"][0] == "folio_wait_bit_common"
    assert wait["sleeps"] >= 1


def test_sleeps_outside_of_faults_have_no_stack(ext4):
    """Reads by read(2) sleep, too."""
    path = ext4.file("read", 256)
    result, _ = record("sha256sum", path)
    assert result["syscall_totals"]
    assert not any("vfs_read" in stack["functions"] for stack in result["waits"]["stacks"])

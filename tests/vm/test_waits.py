# SPDX-License-Identifier: GPL-2.0-only
"""The kernel stacks of sleeps in faults name the lock, the journal or the server."""
import contextlib
import pathlib
import subprocess
import threading
import time

import pytest

import filesystems
import pfstat
from pfstat import record

# Longer than the start of a program whose files are not in memory, on a busy machine.
STALL_S = 3
GO = pathlib.Path("/tmp/waits-go")
READY = pathlib.Path("/tmp/waits-ready")

# Waits until the test has prepared the stall, then accesses the first page.
ACCESS = """
import mmap, os, pathlib, time
with open("{path}", "r+b") as file:
    data = mmap.mmap(file.fileno(), mmap.PAGESIZE)
{before}
pathlib.Path("{ready}").write_text(str(os.getpid()))
while not os.path.exists("{go}"):
    time.sleep(0.01)
{access}
"""

# Changes the file system until the journal is full.
FILL = """
import itertools, os
for number in itertools.count():
    os.mkdir("{folder}/%d" % number)
"""


def is_stuck(pid):
    """In an uninterruptible sleep."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "D"


def stall_access(path, access, stall, before=""):
    """pfdrive's report for an access to the path with the stall. `stall` is a context manager to
    begin and end the stall."""
    def obstruct():
        pfstat.wait_until(lambda: READY.exists() and READY.read_text())
        with stall():
            GO.touch()
            pfstat.wait_until(lambda: is_stuck(int(READY.read_text())))
            time.sleep(STALL_S)

    for marker in (GO, READY):
        marker.unlink(missing_ok=True)
    thread = threading.Thread(target=obstruct)
    thread.start()
    try:
        return record("python3", "-c", ACCESS.format(path=path, before=before, access=access,
                                                     ready=READY, go=GO), options=["--full"])
    finally:
        GO.touch()
        thread.join()


@contextlib.contextmanager
def suspended(place):
    """No request to the device ends meanwhile."""
    place.device.dmsetup("suspend", "--noflush", "--nolockfs")
    try:
        yield
    finally:
        place.device.dmsetup("resume")


@contextlib.contextmanager
def stuck(place, *command):
    """A process that waits for the suspended device."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(suspended(place))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        pfstat.wait_until(lambda: is_stuck(process.pid))
        yield process
    process.kill()
    process.wait()


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
    path = ext4.file("journal", 1)
    (ext4.folder / "many").mkdir(exist_ok=True)
    result, text = stall_access(
        path, "data[0] = 1", before="data[0]",
        stall=lambda: stuck(ext4, "python3", "-c", FILL.format(folder=ext4.folder / "many")))
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
    result, _ = stall_access(path, "data[0]", stall=lambda: stuck(ext4, "cat", path))
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

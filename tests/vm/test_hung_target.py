# SPDX-License-Identifier: GPL-2.0-only
"""A target hangs in a fault on a frozen file system, but every command still returns."""
import contextlib
import errno
import os
import pathlib
import re
import signal
import subprocess

import pytest

import pfstat
from pfstat import Workload

CONTROL = pfstat.DEBUGFS / "control"

# Maps a file, reads one page, and on an input line writes to another page. A second thread waits
# for a byte from another pipe, and then changes the mapping, which needs the memory map's locks for
# writing.
WRITER = """
import ctypes, mmap, os, sys, threading
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 0)
memory[0]
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
def change():
    os.read(int(sys.argv[2]), 1)
    memory.madvise(mmap.MADV_RANDOM)
threading.Thread(target=change, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
ctypes.memset(address + 8192, 1, 1)     # without Python's own lock
print("written", flush=True)
sys.stdin.readline()
os._exit(0)
"""


HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.fixture(autouse=True)
def no_khugepaged():
    """khugepaged waits for the mmap lock of a hanging target (6.1), and every reader waits behind
    it."""
    before = re.search(r"\[(\w+)\]", HUGE_PAGES.read_text())[1]
    HUGE_PAGES.write_text("never")
    yield
    HUGE_PAGES.write_text(before)


@pytest.fixture
def folder():
    with pfstat.mounted_disk("frozen", 0) as mounted:
        yield mounted
        for process in STARTED:
            process.kill()
            process.communicate()
        STARTED.clear()


@contextlib.contextmanager
def frozen(folder):
    pfstat.run("fsfreeze", "--freeze", folder)
    try:
        yield
    finally:
        pfstat.run("fsfreeze", "--unfreeze", folder)


STARTED = []


class Writer:
    def __init__(self, path):
        pfstat.make_file(path, 64 * pfstat.PAGE)
        change, self.change = os.pipe()
        self.process = subprocess.Popen(
            ["python3", "-c", WRITER, str(path), str(change)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, pass_fds=[change])
        os.close(change)
        STARTED.append(self.process)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hang(self):
        """Lets it write. The file system is frozen, so it sleeps in ->page_mkwrite()."""
        self.go()
        pfstat.wait_until(lambda: state(self.pid) == "D")

    def change_mapping(self):
        """The second thread waits for the first, and all readers wait behind it."""
        os.write(self.change, b"x")
        tasks = pathlib.Path(f"/proc/{self.pid}/task")
        pfstat.wait_until(lambda: [state(f"{self.pid}/task/{task.name}")
                                   for task in tasks.iterdir()] == ["D", "D"])

    def finish(self):
        """The file system is thawed."""
        assert self.process.stdout.readline() == "written\n"
        os.close(self.change)
        self.go()
        assert self.process.wait() == 0


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def shell(line):
    """Runs a line in another process, which may hang forever. Returns (status, output)."""
    process = subprocess.Popen(["sh", "-c", line], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    pfstat.wait_until(lambda: process.poll() is not None)
    return process.returncode, process.stdout.read()


def works(line):
    status, output = shell(line)
    assert status == 0, (line, output)
    return output


def all_return(pid):
    """The commands run by ps, top and an administrator."""
    works(f"cat /proc/{pid}/cmdline /proc/{pid}/maps > /dev/null")
    works(f"cat {pfstat.DEBUGFS}/stats {pfstat.DEBUGFS}/log > /dev/null")
    return works(f"cat {pfstat.DEBUGFS}/targets")


def is_in_use():
    result = pfstat.run("rmmod", "pfstat", check=False)
    return result.returncode != 0 and "in use" in result.stderr


def assert_unloads():
    """After the thaw has reached the target. Until then rmmod is refused."""
    pfstat.wait_until(lambda: pfstat.run("rmmod", "pfstat", check=False).returncode == 0)
    assert not pfstat.loaded()


@pytest.mark.parametrize("fault_around", ["keep", "off"])
def test_everything_returns_while_a_target_hangs(folder, small_file, fault_around):
    writer = Writer(folder / "file")
    other = Workload("touch", small_file)
    pfstat.control(f"fault_around {fault_around}")
    pfstat.control(f"pid {writer.pid}")
    assert pfstat.hooked() > 0
    with frozen(folder):
        writer.hang()
        all_return(writer.pid)
        works(f"echo stop > {CONTROL}")
        assert all_return(writer.pid).startswith("recorder none\n")
        assert is_in_use()

        with pfstat.Session(f"pid {other.pid}"):
            assert f"pid {other.pid}" in all_return(writer.pid)
            assert f"pid {writer.pid}" not in pfstat.targets()
            other.finish()
            assert pfstat.of_file(pfstat.log()[1], small_file)
        assert is_in_use()
    writer.finish()
    assert_unloads()


def test_a_call_of_an_ended_session_leaves_no_record_in_the_next(folder, small_file):
    writer = Writer(folder / "file")
    other = Workload("touch", small_file)
    pfstat.control(f"pid {writer.pid}")
    with frozen(folder):
        writer.hang()
        pfstat.control("stop")
        session = pfstat.Session(f"pid {other.pid}")
    writer.finish()
    other.finish()
    records = pfstat.log()[1]
    assert pfstat.of_file(records, small_file)
    assert {record["pid"] for record in records} == {other.pid}
    session.close()


def test_a_session_closes_while_its_target_hangs(folder):
    writer = Writer(folder / "file")
    session = pfstat.Session(f"pid {writer.pid}")
    with frozen(folder):
        writer.hang()
        session.close()
        assert all_return(writer.pid).startswith("recorder none\n")
        assert is_in_use()
    writer.finish()
    assert_unloads()


@pytest.mark.parametrize("fault_around", ["keep", "off"])
def test_a_hanging_process_can_be_watched(folder, fault_around):
    """The mapping's vm_ops are replaced without a lock excluding the fault."""
    writer = Writer(folder / "file")
    pfstat.control(f"fault_around {fault_around}")
    with frozen(folder):
        writer.hang()
        pfstat.control(f"pid {writer.pid}")
        assert f"vma pid {writer.pid}" in all_return(writer.pid)
        pfstat.control("stop")
    writer.finish()
    assert_unloads()


def test_a_process_whose_memory_map_is_locked_is_refused(folder, kernel_log):
    """A second thread changes the mapping, and waits for the fault that hangs."""
    writer = Writer(folder / "file")
    with frozen(folder):
        writer.hang()
        writer.change_mapping()
        with pytest.raises(OSError) as refused:
            pfstat.control(f"pid {writer.pid}")
        assert refused.value.errno == errno.ETIMEDOUT
        assert works(f"cat {pfstat.DEBUGFS}/targets").startswith("recorder none\n")
    assert [line for line in kernel_log() if "holds the memory map of the process" in line]
    writer.finish()
    assert_unloads()


def test_a_killed_command_leaves_no_target(folder, small_file):
    writer = Writer(folder / "file")
    other = Workload("touch", small_file)
    pfstat.control(f"pid {other.pid}")
    with frozen(folder):
        writer.hang()
        writer.change_mapping()
        command = subprocess.Popen(["sh", "-c", f"echo pid {writer.pid} > {CONTROL}"])
        stack = pathlib.Path(f"/proc/{command.pid}/stack")
        pfstat.wait_until(lambda: "pfstat" in stack.read_text())
        command.send_signal(signal.SIGKILL)
        command.wait()
        assert f"pid {writer.pid}" not in pfstat.targets()
        assert f"pid {other.pid}" in pfstat.targets()
    writer.finish()
    other.finish()


def test_all_is_unhooked_after_the_thaw(folder):
    writer = Writer(folder / "file")
    pfstat.control("fault_around off")
    pfstat.control(f"pid {writer.pid}")
    with frozen(folder):
        writer.hang()
        pfstat.control("stop")
    assert writer.process.stdout.readline() == "written\n"
    pfstat.wait_until(lambda: "unhooking" not in pfstat.targets())
    assert_unloads()        # and the writer still has the mapping
    writer.go()
    assert writer.process.wait() == 0

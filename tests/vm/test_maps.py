# SPDX-License-Identifier: GPL-2.0-only
"""Mappings and fault counts that perf events report."""
import collections
import mmap
import os
import signal
import subprocess
import sys

import pytest

import pfstat

MAPS_DUMP = pfstat.BUILD / "maps_dump"

Map = collections.namedtuple("Map", "ns pid tid address bytes pgoff dev inode prot flags path")


def parse(text):
    """(mappings, {word: numbers or None})"""
    maps, rest = [], {}
    for line in text.splitlines():
        word, *fields = line.split(" ", 11)
        if word == "map":
            maps.append(Map(*(int(field, 0) for field in fields[:10]), fields[10]))
        else:
            rest[word] = [None if field == "-" else int(field)
                          for field in fields if field != ""]
    return maps, rest


def run_script(script, *arguments):
    """A python3's mappings and counts, and the output before them."""
    out = pfstat.run(MAPS_DUMP, "run", sys.executable, "-S", "-c", script, *arguments).stdout
    said = [line for line in out.splitlines() if line.startswith("said ")]
    rest = "\n".join(line for line in out.splitlines() if not line.startswith("said "))
    return *parse(rest), [line.split()[1:] for line in said]


# A mapping for pages 3 to 7 of the file, and the creation time.
MAP_ONCE = """
import ctypes, mmap, os, sys, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY)
def map_once():
    before = time.monotonic_ns()
    address = libc.mmap(None, 5 * mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 3 * mmap.PAGESIZE)
    after = time.monotonic_ns()
    print("said", before, after, address, os.getpid(), threading.get_native_id(), flush=True)
"""


def device_of(path):
    device = os.stat(path).st_dev
    return os.major(device) << 20 | os.minor(device)


def assert_is(mapping, said, path):
    before, after, address, pid, tid = map(int, said)
    assert before <= mapping.ns <= after
    assert (mapping.pid, mapping.tid, mapping.address) == (pid, tid, address)
    assert (mapping.bytes, mapping.pgoff) == (5 * pfstat.PAGE, 3)
    assert (mapping.inode, mapping.dev) == (os.stat(path).st_ino, device_of(path))
    assert (mapping.prot, mapping.flags & 3) == (mmap.PROT_READ, mmap.MAP_SHARED)


def test_a_mapping_has_path_address_and_inode(small_file):
    maps, counts, said = run_script(MAP_ONCE + "map_once()", small_file)
    ours, = [m for m in maps if m.path == str(small_file)]
    assert_is(ours, said[0], small_file)
    assert [m.ns for m in maps] == sorted(m.ns for m in maps)
    assert counts["lost"] == [0]
    # The program and the C library, as mapped by the kernel and the dynamic linker.
    assert any(m.path == os.path.realpath(sys.executable) for m in maps)
    assert any("/libc.so" in m.path and m.prot & mmap.PROT_EXEC for m in maps)
    assert any(m.path == "//anon" and m.inode == 0 for m in maps)


def test_mappings_of_threads_and_children_are_reported(small_file):
    script = MAP_ONCE + """
threads = [threading.Thread(target=map_once) for _ in range(4)]
for thread in threads: thread.start(); thread.join()
if not os.fork():
    map_once(); os._exit(0)
os.wait()
"""
    maps, counts, said = run_script(script, small_file)
    ours = [m for m in maps if m.path == str(small_file)]
    assert len(ours) == len(said) == 5
    for mapping, words in zip(ours, said):
        assert_is(mapping, words, small_file)
    assert len({m.pid for m in ours}) == 2
    assert [m.ns for m in maps] == sorted(m.ns for m in maps)
    assert counts["lost"] == [0]


def test_mappings_beyond_the_buffer_size_are_read():
    """5000 events of at least 300 bytes are five times 256 KiB, and the reader waits until a buffer
    is half full."""
    path = pfstat.DISK / ("long" * 60)
    pfstat.make_file(path, 8 * pfstat.PAGE)
    maps, counts, said = run_script(MAP_ONCE + """
import select
for i in range(5000):
    map_once()
    if not i % 100:
        select.select([], [], [], 0.02)
""", path)
    ours = [m for m in maps if m.path == str(path)]
    assert counts["lost"] == [0]
    assert len(ours) == len(said) == 5000
    for mapping, words in zip(ours, said):
        assert_is(mapping, words, path)
    path.unlink()


def map_and_unmap(fd):
    pfstat.LIBC.munmap(pfstat.map_memory(fd, pfstat.PAGE, mmap.PROT_READ, mmap.MAP_SHARED),
                       pfstat.PAGE)


class Attached:
    """maps_dump attached to a running process."""

    def __init__(self, pid):
        # Unbuffered, because communicate() does not see data that readline() read ahead.
        self.process = subprocess.Popen([str(MAPS_DUMP), "pid", str(pid)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdout.readline() == b"ready\n"

    def finish(self):
        out, _ = self.process.communicate(b"\n")
        assert self.process.returncode == 0
        return parse(out.decode())


def test_lost_mappings_are_counted(small_file):
    """The buffer is not drained while maps_dump is stopped. Lost events are reported as a number.
    """
    attached = Attached(os.getpid())
    attached.process.send_signal(signal.SIGSTOP)
    os.waitpid(attached.process.pid, os.WUNTRACED)
    with open(small_file, "rb") as file:
        for _ in range(10000):
            map_and_unmap(file.fileno())
    attached.process.send_signal(signal.SIGCONT)
    maps, counts = attached.finish()
    told = len([m for m in maps if m.ns and m.path == str(small_file)])
    assert counts["lost"][0] > 1000
    # Python itself maps little in the meantime.
    assert 0 <= told + counts["lost"][0] - 10000 < 100


# Waits. Then touches anonymous pages in old threads, a new thread and a child, and file pages.
WORK = """
import mmap, os, sys, threading
go = threading.Event()
def touch(pages):
    memory = mmap.mmap(-1, pages * mmap.PAGESIZE)
    for page in range(pages):
        memory[page * mmap.PAGESIZE] = 1
def wait_and_touch():
    go.wait()
    touch(100)
threads = [threading.Thread(target=wait_and_touch) for _ in range(3)]
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.readline()
go.set()
for thread in threads: thread.join()
thread = threading.Thread(target=touch, args=(200,))
thread.start(); thread.join()
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(data[at] for at in range(0, len(data), mmap.PAGESIZE))
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(name="worker")
def fixture_worker(small_file):
    process = subprocess.Popen([sys.executable, "-S", "-c", WORK, str(small_file)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    yield process
    process.communicate("\n")


def work(worker):
    worker.stdin.write("\n")
    worker.stdin.flush()
    assert worker.stdout.readline() == "done\n"


def test_existing_mappings_come_first(worker):
    expected = []
    with open(f"/proc/{worker.pid}/maps") as lines:
        for line in lines:
            words = line.split(maxsplit=5)
            begin, end = (int(word, 16) for word in words[0].split("-"))
            expected.append((begin, end - begin, int(words[2], 16) // pfstat.PAGE, int(words[4]),
                             words[5].strip() if len(words) > 5 else ""))
    attached = Attached(worker.pid)
    work(worker)
    maps, counts = attached.finish()
    there = [m for m in maps if not m.ns]
    assert maps[:len(there)] == there and len(maps) > len(there)
    assert [(m.address, m.bytes, m.pgoff, m.inode, m.path) for m in there] == expected
    assert {m.pid for m in there} == {worker.pid}
    assert counts["lost"] == [0]


def test_counts_of_a_running_process_equal_the_kernels(worker):
    attached = Attached(worker.pid)
    work(worker)
    counts = attached.finish()[1]
    faults, minor, major = counts["perf"]
    assert [minor, major] == counts["proc"]
    # 3 threads with 100 pages, one with 200, and a file outside the page cache.
    assert minor >= 500 and major >= 1
    assert minor + major <= faults


def test_counts_of_a_command_match_its_rusage():
    counts = run_script("import os\nif not os.fork(): os._exit(0)\nos.wait()")[1]
    faults, minor, major = counts["perf"]
    minflt, majflt = counts["rusage"]
    # rusage starts at the fork, and perf does not count the kernel's copying of arguments.
    assert 0 <= minflt + majflt - minor - major <= 200
    assert major <= majflt and minor + major <= faults


def test_a_missing_process_is_refused():
    result = pfstat.run(MAPS_DUMP, "pid", 1 << 22, check=False)
    assert result.returncode == 1
    assert result.stderr == "maps_dump: watch: No such process\n"

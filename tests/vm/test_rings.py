# SPDX-License-Identifier: GPL-2.0-only
"""Records read + lost = wrapper calls, for each ring size, ring mode and reader."""
import ctypes
import mmap
import os
import pathlib
import select
import struct

import pytest

import pfstat
from pfstat import PAGE, Mapping, Session

RECORD_SIZE = 120
PER_PAGE = PAGE // RECORD_SIZE
HALF = (PER_PAGE + 1) // 2
HEAD, LOST, TAIL = 24, 32, 64       # header offsets in record.h
OPERATION, BEFORE, INSTRUCTION = 80, 83, 96     # offsets in a record
MKWRITE = 3                         # enum pfstat_op
ABSENT, CACHED = 1, 4               # enum pfstat_before


def run_pages(small_file, *options):
    pfstat.warm(small_file)
    os.sched_setaffinity(0, {0})
    with Mapping(small_file) as mapping:
        with Session(*options, "fault_around off", f"file {mapping.fd()}"):
            for page in range(256):
                mapping.read(page)
    os.sched_setaffinity(0, range(os.cpu_count()))
    return pfstat.log()


def test_drop_mode_with_a_ring_of_one_page_counts_its_losses(small_file):
    head, records = run_pages(small_file, f"ring_size {PAGE}", "mode drop")
    assert head == {"records": 256, "here": PER_PAGE, "lost": 256 - PER_PAGE}
    assert [r["pgoff"] for r in records] == list(range(PER_PAGE))
    assert pfstat.stats()["lost"] == 256 - PER_PAGE
    assert pfstat.stats()["long"] == 256      # stats do not depend on the ring


def test_overwrite_mode_with_a_ring_of_one_page_keeps_the_last(small_file):
    head, records = run_pages(small_file, f"ring_size {PAGE}", "mode overwrite")
    assert head == {"records": 256, "here": PER_PAGE, "lost": 256 - PER_PAGE}
    assert [r["pgoff"] for r in records] == list(range(256 - PER_PAGE, 256))


class Ring:
    """CPU 0's mapped ring, accessed as a program does."""

    def __init__(self):
        self.fd = os.open(pfstat.DEBUGFS / "ring" / "cpu0", os.O_RDWR)
        self.address = pfstat.map_memory(self.fd, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                                         mmap.MAP_SHARED)
        self.map = (ctypes.c_ubyte * (2 * PAGE)).from_address(self.address)

    def get(self, offset):
        return struct.unpack_from("Q", self.map, offset)[0]

    def set_tail(self, tail):
        struct.pack_into("Q", self.map, TAIL, tail)

    def place(self, position):
        at = PAGE + position % PER_PAGE * RECORD_SIZE
        sequence = struct.unpack_from("Q", self.map, at)[0]
        assert sequence == position + 1
        return at

    def pgoff(self, position):
        return struct.unpack_from("Q", self.map, self.place(position) + 40)[0]

    def operation(self, position):
        return struct.unpack_from("B", self.map, self.place(position) + OPERATION)[0]

    def instruction(self, position):
        return struct.unpack_from("Q", self.map, self.place(position) + INSTRUCTION)[0]

    def before(self, position):
        return struct.unpack_from("B", self.map, self.place(position) + BEFORE)[0]

    def readable(self):
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(0))

    def close(self):
        pfstat.LIBC.munmap(self.address, 2 * PAGE)
        os.close(self.fd)


def on_cpu0(test):
    def wrapped(small_file):
        pfstat.warm(small_file)
        os.sched_setaffinity(0, {0})
        try:
            with Mapping(small_file) as mapping:
                with Session(f"ring_size {PAGE}", "fault_around off", f"file {mapping.fd()}"):
                    ring = Ring()
                    test(mapping, ring)
                    ring.close()
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
    wrapped.__name__ = test.__name__
    return wrapped


def store_remotely(address):
    """Stores a byte in the parent's memory."""
    byte = ctypes.create_string_buffer(b"x", 1)
    here = (ctypes.c_size_t * 2)(ctypes.addressof(byte), 1)     # a struct iovec
    there = (ctypes.c_size_t * 2)(address, 1)
    return pfstat.LIBC.process_vm_writev(os.getppid(), here, 1, there, 1, 0)


def test_a_store_into_another_process_has_no_instruction(small_file):
    pfstat.warm(small_file)
    os.sched_setaffinity(0, {0})
    try:
        with Mapping(small_file, write=True) as mapping:
            with Session(f"ring_size {PAGE}", "fault_around off", f"file {mapping.fd()}"):
                ring = Ring()
                mapping.write(0)
                child = os.fork()
                if not child:
                    os._exit(store_remotely(mapping.address + 5 * PAGE) != 1)
                assert os.waitpid(child, 0)[1] == 0
                stores = [at for at in range(ring.get(HEAD)) if ring.operation(at) == MKWRITE]
                assert [ring.pgoff(at) for at in stores] == [0, 5]
                assert [ring.instruction(at) > 0 for at in stores] == [True, False]
                ring.close()
    finally:
        os.sched_setaffinity(0, range(os.cpu_count()))


@on_cpu0
def test_a_reader_that_keeps_up_loses_nothing(mapping, ring):
    for page in range(256):
        mapping.read(page)
        assert ring.pgoff(page) == page
        ring.set_tail(page + 1)
    assert (ring.get(HEAD), ring.get(LOST)) == (256, 0)


@on_cpu0
def test_ring_is_readable_from_half_full_on(mapping, ring):
    for page in range(HALF):
        assert not ring.readable()
        mapping.read(page)
    assert ring.readable()
    ring.set_tail(HALF)
    assert not ring.readable()


@on_cpu0
def test_an_arbitrary_tail_only_loses_records(mapping, ring):
    """User space owns the header page: no value in it may do harm."""
    for tail in (1 << 63, (1 << 64) - 1, 12345):
        ring.set_tail(tail)
        mapping.read(ring.get(LOST) % 256)
    assert ring.get(HEAD) + ring.get(LOST) == pfstat.stats()["calls"]
    for offset in range(0, PAGE, 8):
        struct.pack_into("Q", ring.map, offset, (1 << 64) - 1)
    for page in range(100, 160):
        mapping.read(page)
    stats = pfstat.stats()
    assert stats["stored"] + stats["lost"] == stats["calls"]
    pfstat.log()


# A single page at the end of a file with this length gives the page cache's tree this depth. 0: no
# node.
PAGES_OF_DEPTH = {0: 1, 1: 50, 2: 3000, 3: 70_000, 4: 300_000}


@pytest.mark.parametrize("depth", PAGES_OF_DEPTH)
def test_a_page_is_found_in_a_tree_of_any_depth(small_file, depth):
    last = PAGES_OF_DEPTH[depth] - 1
    with open(small_file, "r+b") as file:
        file.truncate(0)
        file.truncate((last + 1) * PAGE)        # holes: nothing is read from the disk
    pfstat.drop_cache()
    os.sched_setaffinity(0, {0})
    with Mapping(small_file) as mapping:
        # Without readahead: no page next to it, and no mark on it.
        assert not pfstat.LIBC.madvise(ctypes.c_void_p(mapping.address),
                                       ctypes.c_size_t(mapping.size), mmap.MADV_RANDOM)
        with Session(f"ring_size {PAGE}", "fault_around off", f"file {mapping.fd()}"):
            ring = Ring()
            for _ in range(2):
                mapping.read(last)
                assert not pfstat.LIBC.madvise(ctypes.c_void_p(mapping.address),
                                               ctypes.c_size_t(mapping.size),
                                               mmap.MADV_DONTNEED)
            before = [ring.before(position) for position in range(ring.get(HEAD))]
            ring.close()
    os.sched_setaffinity(0, range(os.cpu_count()))
    _, records = pfstat.log()
    assert [(r["pgoff"], r["class"]) for r in records] == [
        (last, "disk"), (last, "short"), (last, "long")]
    assert before == [ABSENT, CACHED, CACHED]


def test_clear_drops_records_and_recording_continues(small_file):
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}") as session:
            mapping.read(0)
            session.command("clear")
            mapping.read(1)
        head, records = pfstat.log()
        assert head["records"] == 1
        assert [r["pgoff"] for r in records] == [1]


CPU1 = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
needs_hotplug = pytest.mark.needs(CPU1.exists(), "a second CPU that can go offline")


@pytest.fixture(name="offline_cpu")
def fixture_offline_cpu():
    cpus = os.sched_getaffinity(0)
    CPU1.write_text("0")
    yield
    CPU1.write_text("1")
    os.sched_setaffinity(0, cpus)


@needs_hotplug
def test_a_cpu_that_comes_online_during_a_session_loses_nothing(small_file, offline_cpu):
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}"):
            CPU1.write_text("1")
            os.sched_setaffinity(0, {1})
            for page in range(256):
                mapping.read(page)
        head, records = pfstat.log()
    assert head == {"records": 256, "here": 256, "lost": 0}
    assert {r["cpu"] for r in records} == {1}


@needs_hotplug
def test_pfdrive_reads_the_ring_of_a_cpu_that_comes_online(small_file, offline_cpu):
    pfstat.warm(small_file)
    command = f"echo 1 > {CPU1}; exec taskset -c 1 {pfstat.BUILD}/workload now {small_file}"
    result, _ = pfstat.record("sh", "-c", command,
                              options=("--fault-around", "off", "--no-bpf"))
    assert result["lost"] == 0
    assert result["classes"]["long"]["count"] >= 256


@needs_hotplug
def test_the_ring_of_an_offline_cpu_has_the_size_of_the_session(small_file, offline_cpu):
    with Mapping(small_file) as mapping:
        CPU1.write_text("1")
        with Session(f"ring_size {16 * PAGE}", f"file {mapping.fd()}"):
            pass
        CPU1.write_text("0")
        with Session(f"ring_size {PAGE}", f"file {mapping.fd()}"):
            assert pfstat.stats()["ring_bytes"] == os.sysconf("SC_NPROCESSORS_CONF") * 2 * PAGE


@needs_hotplug
def test_a_cpu_that_comes_online_may_have_mappings_without_names(small_file, offline_cpu):
    pfstat.warm(small_file)
    command = f"echo 1 > {CPU1}; sleep 2; exec taskset -c 1 {pfstat.BUILD}/workload now {small_file}"
    result, _ = pfstat.record("sh", "-c", command, options=("--fault-around", "off", "--no-bpf"))
    assert (result["maps_lost"], result["maps_late_cpus"]) == (0, 1)

# SPDX-License-Identifier: GPL-2.0-only
"""Faults between two attempts: each is suspended in the thread's slot until the thread retries, and
none stays for an exiting thread."""
import contextlib
import ctypes
import mmap
import os
import pathlib
import signal
import time

import pytest

import filesystems
import pfstat
from pfstat import PAGE, Mapping

MAJOR, RETRY = 0x4, 0x400


@pytest.fixture(scope="module", name="place")
def fixture_place():
    with filesystems.on_disk("ext4") as place:
        yield place


@contextlib.contextmanager
def suspended_device(place):
    """Suspends requests until the block ends."""
    os.sync()
    place.device.dmsetup("suspend", "--noflush", "--nolockfs")
    try:
        yield
    finally:
        place.device.dmsetup("resume")


def read_page(path, page, by_kernel=False):
    """Forks a child that reads the page, or lets the kernel read it in write(2)."""
    child = os.fork()
    if not child:
        if by_kernel:
            with open(path, "rb") as file:
                data = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
            os.write(os.pipe()[1], data[page * PAGE:page * PAGE + 1])
        else:
            Mapping(path).read(page)
        os._exit(0)
    return child


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def waits_for_the_disk(pid):
    return state_of(pid) == "D"


def test_suspended_fault_of_a_dead_thread_is_forgotten(place):
    """Otherwise the other threads would look for one of their own at each call."""
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with suspended_device(place):
        child = read_page(path, 100)
        pfstat.wait_until(lambda: waits_for_the_disk(child))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    pfstat.wait_until(lambda: pfstat.stats()["suspended"] == 0)
    assert pfstat.stats()["links_lost"] == 0
    record, = [r for r in pfstat.of_file(pfstat.log()[1], path) if r["tid"] == child]
    assert record["result"] & RETRY


@contextlib.contextmanager
def stopped_between_attempts(path, place):
    """A child that SIGSTOP stops when its read of the page has ended, before it tries again."""
    with suspended_device(place):
        child = read_page(path, 100)
        pfstat.wait_until(lambda: waits_for_the_disk(child))
        os.kill(child, signal.SIGSTOP)
    pfstat.wait_until(lambda: state_of(child) == "T")
    yield child
    os.kill(child, signal.SIGCONT)
    assert os.waitpid(child, 0)[1] == 0


def test_a_fault_goes_on_after_the_process_was_stopped(place):
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with stopped_between_attempts(path, place) as child:
        assert pfstat.stats()["suspended"] == 1
    records = [r for r in pfstat.of_file(pfstat.log()[1], path) if r["tid"] == child]
    assert [r["class"] for r in records] == ["disk", "short"]
    assert records[1]["earlier_ns"] == records[0]["start_ns"]
    assert pfstat.stats()["suspended"] == 0


def test_clear_forgets_a_suspended_fault(place):
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with stopped_between_attempts(path, place) as child:
        pfstat.control("clear")
        assert pfstat.stats()["suspended"] == 0
    record, = [r for r in pfstat.of_file(pfstat.log()[1], path) if r["tid"] == child]
    assert record["class"] == "long" and record["earlier_ns"] == 0
    assert pfstat.stats()["suspended"] == 0


def test_stop_forgets_a_suspended_fault(place):
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with stopped_between_attempts(path, place):
        pfstat.control("stop")
        assert pfstat.stats()["suspended"] == 0


def test_call_that_ends_after_the_recording_suspends_nothing(place):
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with suspended_device(place):
        child = read_page(path, 100)
        pfstat.wait_until(lambda: waits_for_the_disk(child))
        pfstat.control("stop")
    assert os.waitpid(child, 0)[1] == 0
    assert pfstat.stats()["suspended"] == 0


def classes_of(child, records):
    return [r["class"] for r in records if r["tid"] == child]


@pytest.mark.parametrize("by_kernel", [False, True])
def test_fault_on_a_page_that_another_thread_reads_is_a_wait(place, by_kernel):
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    children = []
    with suspended_device(place):
        for _ in range(2):
            children.append(read_page(path, 100, by_kernel))
            pfstat.wait_until(lambda: waits_for_the_disk(children[-1]))
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    records = pfstat.of_file(pfstat.log()[1], path)
    assert classes_of(children[0], records) == ["disk", "short"]
    assert classes_of(children[1], records) == ["wait", "short"]


def read_mapped(mapping, page):
    """Forks a child to read a page in this process's mapping."""
    child = os.fork()
    if not child:
        mapping.read(page)
        os._exit(0)
    return child


def two_readers(place, mapping, path, meanwhile):
    """The classes of a child reading the page from the disk, and of one waiting for this read."""
    children = []
    with suspended_device(place):
        for _ in range(2):
            children.append(read_mapped(mapping, 100))
            pfstat.wait_until(lambda: waits_for_the_disk(children[-1]))
        meanwhile()
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    records = pfstat.of_file(pfstat.log()[1], path)
    return [classes_of(child, records) for child in children]


ADJ_TICK, TICK_US = 0x4000, 10000
WORD_OF_TICK = 11       # of struct timex, in 8-byte words


def set_tick(tick_us):
    """NTP's coarse clock factor: the microseconds in a tick."""
    timex = (ctypes.c_long * 26)()
    timex[0] = ADJ_TICK
    timex[WORD_OF_TICK] = tick_us
    assert pfstat.LIBC.adjtimex(ctypes.byref(timex)) >= 0


@contextlib.contextmanager
def fast_clock():
    set_tick(TICK_US * 11 // 10)
    time.sleep(0.05)        # until the next timekeeper update
    try:
        yield
    finally:
        set_tick(TICK_US)


def test_a_wait_during_which_the_clock_is_slowed_down_is_a_wait(place):
    """The call's start, computed with the new factor, is later than the wait's note."""
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")

    def slow_down():
        time.sleep(0.2)
        set_tick(TICK_US * 9 // 10)
        time.sleep(0.05)

    with fast_clock(), Mapping(path) as mapping:
        classes = two_readers(place, mapping, path, slow_down)
    assert classes == [["disk", "short"], ["wait", "short"]]
    assert pfstat.stats()["unnoted"] == 0


PROBED = ("page_cache_async_ra", "folio_wait_bit_common", "filemap_read_folio")


def enabled_probes():
    """The functions that an enabled kprobe is at."""
    lines = pathlib.Path("/sys/kernel/debug/kprobes/list").read_text().splitlines()
    return {name for name in PROBED for line in lines
            if f" {name}+" in line and "[DISABLED]" not in line}


def test_the_probes_of_functions_that_all_processes_call_are_disabled_between_sessions():
    for _ in range(2):
        with pfstat.Session(f"pid {os.getpid()}") as session:
            assert enabled_probes() == set(PROBED)
            session.command("stop")
            pfstat.wait_until(lambda: not enabled_probes())


KPROBES = pathlib.Path("/sys/kernel/debug/kprobes/enabled")


def test_a_retry_without_a_note_is_not_a_disk_fault(place):
    """Another tool disables the probes that make the notes."""
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    with Mapping(path) as mapping:
        KPROBES.write_text("0")
        try:
            classes = two_readers(place, mapping, path, lambda: None)
        finally:
            KPROBES.write_text("1")
    assert classes == [["disk", "short"], ["wait", "short"]]
    assert pfstat.stats()["unnoted"] == 1
    pfstat.control("clear")
    assert pfstat.stats()["unnoted"] == 0


def test_fault_on_a_page_whose_read_failed_reads_the_disk_again(place):
    """The kernel counts it as minor, and returns RETRY as for a page that another thread reads."""
    path = place.file("file", 256)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {os.getpid()}")
    place.device.load(place.device.table(0, place.device.sectors))
    failed = read_page(path, 100)
    assert os.WTERMSIG(os.waitpid(failed, 0)[1]) == signal.SIGBUS
    place.device.load(place.device.table())
    child = read_page(path, 100)
    assert os.waitpid(child, 0)[1] == 0
    records = pfstat.of_file(pfstat.log()[1], path)
    assert classes_of(failed, records) == ["disk", "error"]
    assert classes_of(child, records) == ["disk", "short"]
    assert not [r for r in records if r["tid"] == child and r["result"] & MAJOR]

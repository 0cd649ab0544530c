# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel did in each fault: a program makes so many faults of one kind, and the report
names them. The module and eBPF find the same, except for the owner of a page, which eBPF does not
know. The mechanisms add up to all faults."""
import pathlib

import pytest

import pfstat

MECHANISMS = pfstat.BUILD / "mechanisms"
PAGES = 300
HUGE_PAGES = 4 * 512
# The program's start, its preparation and its end: pages of files, the stack, the data segments.
NOISE = 150
NODES = sorted(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
BALANCING = pathlib.Path("/sys/kernel/debug/sched/numa_balancing")


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    pytest.param("ebpf", marks=pytest.mark.needs(not pfstat.ARM64,
                                                 "a function for entries that are present"))])
def fixture_source(request):
    return request.param


def mechanisms(source, *words, options=()):
    """The counts from one run of the program."""
    result, _ = pfstat.record(MECHANISMS, *words, options=("--source", source, *options))
    pfstat.assert_nothing_lost(result)
    found = {name: row["count"] for name, row in result["mechanisms"].items()}
    usage = result["rusage"]
    assert sum(found.values()) == usage["minflt"] + usage["majflt"]
    assert found["unknown"] == 0 and found["unfinished"] == 0
    return found


def is_about(number, pages=PAGES):
    return pages <= number <= pages + NOISE


@pytest.mark.parametrize("what,mechanism,by_ebpf", [
    ("new_page", "new_page", None),
    ("zero_page", "zero_page", None),
    ("copy_zero", "copy_zero", None),
    ("copy_fork", "copy_fork", None),
    ("writable_fork", "writable_fork", "writable_unknown"),
    ("soft_dirty", "writable_soft_dirty", None),
    ("userfault", "userfault", None),
    ("swap_read", "swap_read", None),
])
def test_memory(source, what, mechanism, by_ebpf):
    found = mechanisms(source, what, PAGES)
    assert is_about(found[by_ebpf if source == "ebpf" and by_ebpf else mechanism]), found


@pytest.mark.needs(pfstat.KERNEL >= (6, 7), "userfaultfd's protection without a handler")
def test_memory_protected_by_userfaultfd(source):
    assert is_about(mechanisms(source, "protected", PAGES)["writable_uffd"])


@pytest.mark.parametrize("what,mechanism,maps_all", [
    ("shared_first", "shared_first", False),
    ("shared_again", "shared_again", True),
    ("copy_file", "copy_file", False),
])
def test_files(source, what, mechanism, maps_all):
    path = pfstat.make_file(pfstat.DISK / "mechanisms", PAGES * pfstat.PAGE)
    found = mechanisms(source, what, PAGES, path)
    assert is_about(found[mechanism]), found
    assert found["cached"] + found["read"] > 0
    assert found["shared_first"] + found["shared_again"] == 0 or not maps_all or \
        found["shared_first"] < NOISE


def test_pages_that_another_thread_maps_at_the_same_time(source):
    found = mechanisms(source, "two_threads", PAGES)
    # A thread that comes later than the other one finds the page without a fault.
    assert is_about(found["new_page"])
    assert found["present"] <= PAGES


@pytest.mark.needs(THP.exists(), "transparent huge pages")
def test_huge_pages(source):
    assert mechanisms(source, "new_huge", HUGE_PAGES)["new_huge_page"] == 4
    found = mechanisms(source, "huge_soft_dirty", HUGE_PAGES)
    assert found["new_huge_page"] == 4
    assert found["writable_soft_dirty" if source == "module" else "copy_unknown"] >= 4, found


@pytest.mark.needs(len(NODES) > 1, "two NUMA nodes: tools/lab run --nodes 2")
def test_numa_hints(source):
    for name, value in [("scan_delay_ms", 10), ("scan_period_min_ms", 10),
                        ("scan_period_max_ms", 20)]:
        (BALANCING / name).write_text(str(value))
    pathlib.Path("/proc/sys/kernel/numa_balancing").write_text("1")
    found = mechanisms(source, "numa", 4096)
    assert found["numa_stayed"] + found["numa_moved"] > PAGES, found
    assert is_about(found["new_page"], 4096)


@pytest.mark.needs(len(NODES) > 1, "two NUMA nodes: tools/lab run --nodes 2")
def test_pages_that_are_moved(source):
    found = mechanisms(source, "migration", 64)
    assert found["migration"] > 0, found
    assert is_about(found["new_page"], 64)

# SPDX-License-Identifier: GPL-2.0-only
"""A program makes many faults with one mechanism, and the report names it. The module and eBPF find
the same, except for the owner of a page, which eBPF does not know. The mechanisms add up to all
faults."""
import pathlib

import pytest

import pfstat

MECHANISMS = pfstat.BUILD / "mechanisms"
PAGES = 300
MANY_PAGES = 1000  # so that reads of the program's own file are a small share of the time
ROUNDS = 4  # of the program
MANY_ROUNDS = 12
HUGE_PAGES = 4 * 512
# The program's start, its preparation and its end: pages of files, the stack, the data segments.
NOISE = 150
# Has room for every fault of a program, should pfdrive not get a CPU while it runs.
RING = "16M"
NODES = sorted(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
SCANS = pathlib.Path("/sys/kernel/debug/sched/numa_balancing")
BALANCING = pathlib.Path("/proc/sys/kernel/numa_balancing")


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    pytest.param("ebpf", marks=pytest.mark.needs(not pfstat.ARM64,
                                                 "a function for entries that are present"))])
def fixture_source(request):
    return request.param


def mechanisms(source, *words):
    """The counts from one run of the program, and the rules that apply."""
    result, _ = pfstat.record(MECHANISMS, *words, options=("--source", source, "--ring-size", RING))
    pfstat.assert_nothing_lost(result)
    found = {name: row["count"] for name, row in result["mechanisms"].items()}
    usage = result["rusage"]
    assert sum(found.values()) == usage["minflt"] + usage["majflt"]
    assert found["unknown"] == 0 and found["unfinished"] == 0
    return found, {cause["rule"]: cause["certain"] for cause in result["verdict"]["causes"]}


def is_about(number, pages=PAGES):
    return pages <= number <= pages + NOISE


@pytest.mark.parametrize("what", ["new_page", "zero_page", "copy_zero", "copy_fork", "userfault"])
def test_memory(source, what):
    found, _ = mechanisms(source, what, PAGES)
    assert is_about(found[what]), found


def test_memory_that_a_fork_had_shared(source):
    found, _ = mechanisms(source, "writable_fork", PAGES)
    number = found["writable_fork" if source == "module" else "writable_unknown"]
    # Who reads files of the child under /proc keeps the memory for a moment: a write copies it.
    assert number >= PAGES and is_about(number + found["copy_fork"], ROUNDS * PAGES), found


def test_memory_that_was_paged_out(source):
    found, _ = mechanisms(source, "swap_read", PAGES)
    # Pages that another CPU is about to add to the list of pages are not paged out.
    assert PAGES / 2 <= found["swap_read"] <= PAGES + NOISE, found


# A rule needs its share of the time, which a busy host can take away.
@pytest.mark.deterministic
def test_memory_whose_soft_dirty_bits_are_cleared(source):
    found, rules = mechanisms(source, "soft_dirty", MANY_PAGES)
    assert is_about(found["writable_soft_dirty"], MANY_ROUNDS * MANY_PAGES), found
    assert rules.get("soft-dirty") is True, rules


@pytest.mark.deterministic
@pytest.mark.needs(pfstat.KERNEL >= (6, 7), "userfaultfd's protection without a handler")
def test_memory_protected_by_userfaultfd(source):
    found, rules = mechanisms(source, "protected", MANY_PAGES)
    assert is_about(found["writable_uffd"], MANY_ROUNDS * MANY_PAGES), found
    assert rules.get("write-protected") is True, rules


@pytest.mark.parametrize("what,mechanism,times", [
    ("shared_first", "shared_first", 1),
    ("shared_again", "shared_again", ROUNDS),
    ("copy_file", "copy_file", 1),
])
def test_files(source, what, mechanism, times):
    path = pfstat.make_file(pfstat.DISK / "mechanisms", PAGES * pfstat.PAGE)
    found, _ = mechanisms(source, what, PAGES, path)
    assert is_about(found[mechanism], times * PAGES), found
    assert found["cached"] + found["read"] > 0
    assert what == "shared_first" or found["shared_first"] < NOISE


def test_pages_that_another_thread_maps_at_the_same_time(source):
    found, _ = mechanisms(source, "two_threads", PAGES)
    # A thread that comes later than the other one finds the page without a fault. If both have made
    # a page before one maps it, the kernel drops the other without a trace.
    assert PAGES <= found["new_page"] + found["present"] <= 2 * PAGES + NOISE, found
    assert found["new_page"] >= PAGES


@pytest.mark.needs(THP.exists(), "transparent huge pages")
def test_huge_pages(source):
    found, _ = mechanisms(source, "huge_soft_dirty", HUGE_PAGES)
    assert found["new_huge_page"] == 4
    assert found["writable_soft_dirty" if source == "module" else "copy_unknown"] >= 4, found


@pytest.fixture(name="balancing")
def fixture_balancing():
    """NUMA balancing is on, and looks at all memory many times a second."""
    for name, value in [("scan_delay_ms", 10), ("scan_period_min_ms", 10),
                        ("scan_period_max_ms", 20)]:
        (SCANS / name).write_text(str(value))
    BALANCING.write_text("1")
    yield
    BALANCING.write_text("0")


@pytest.mark.needs(len(NODES) > 1, "two NUMA nodes: tools/lab run --nodes 2")
@pytest.mark.usefixtures("balancing")
def test_numa_hints(source):
    found, rules = mechanisms(source, "numa", 4096)
    assert found["numa_stayed"] + found["numa_moved"] > PAGES, found
    assert is_about(found["new_page"], 4096)
    assert rules.get("numa-hints") is True and "touched-again" not in rules, rules


@pytest.mark.needs(len(NODES) > 1, "two NUMA nodes: tools/lab run --nodes 2")
def test_pages_that_are_moved(source):
    found, _ = mechanisms(source, "migration", 64)
    assert found["migration"] > 0, found
    assert is_about(found["new_page"], 64)

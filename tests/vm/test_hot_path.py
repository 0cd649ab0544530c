# SPDX-License-Identifier: GPL-2.0-only
"""A call which does not sleep writes no shared cache line and allocates only the record. A fault
takes the documented number of instructions."""
import json
import mmap
import os
import pathlib
import re
import shutil
import threading

import pytest

import disassembly
import disassembly_arm64
import pfstat
import table
from pfstat import PAGE, Mapping

CLOCK = pathlib.Path("/sys/devices/system/clocksource/clocksource0")
TOP = pathlib.Path(__file__).parents[2]
FAULT_AROUND = pathlib.Path("/sys/kernel/debug/fault_around_bytes")
FIGURES = json.loads((TOP / "Documentation/user/overhead.json").read_text()).get(
    table.series_of(os.uname().release))
SHARED = ("ATOMIC", "GLOBAL", "UNKNOWN")
CACHE_LINE = 64
MEMORY = ("module_bytes", "percpu_bytes", "ring_bytes", "shadow_bytes", "target_bytes",
          "thread_bytes")


stores_of = disassembly_arm64.stores_of if pfstat.ARM64 else disassembly.stores_of


def shared_stores(function):
    return [store.text for store in stores_of(pfstat.MODULE, function)
            if store.place.startswith(SHARED)]


def test_a_call_that_does_not_sleep_writes_no_shared_cache_line():
    """By the machine code of this kernel's module, along all paths."""
    for wrapper in ("pfstat_fault_fast", "pfstat_map_pages_fast"):
        assert len(stores_of(pfstat.MODULE, wrapper)) > 20
        assert shared_stores(wrapper) == []
    # The number of suspended faults is shared, so the check must find stores there.
    assert shared_stores("pfstat_mm_thread_suspend")


@pytest.fixture(name="clock_sources")
def fixture_clock_sources():
    before = (CLOCK / "current_clocksource").read_text()
    yield (CLOCK / "available_clocksource").read_text().split()
    (CLOCK / "current_clocksource").write_text(before)


@pytest.mark.deterministic
@pytest.mark.needs(not pfstat.ARM64, "clock sources besides the CPU's counter")
def test_calls_stay_on_the_fast_path_with_each_clock_source(small_file, clock_sources):
    """Compares instruction counts within 0.1 %. The slow path adds more than 400 of them."""
    costs = {}
    for name in clock_sources:
        (CLOCK / "current_clocksource").write_text(name)
        with Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}"):
            costs[name] = pfstat.stats()["call_cost_ps"]
    print(f"call_cost_ps: {costs}")
    tsc = costs.pop("tsc")
    assert costs
    assert all(cost < tsc + 250_000 for cost in costs.values())


def instructions(figures):
    """The thread's count, per warm fault, by row."""
    return {row["name"]: row["thread_instructions"] for row in figures["rows"]
            if "thread_instructions" in row}


@pytest.mark.deterministic
@pytest.mark.needs(FIGURES, "figures of this kernel in overhead.json")
def test_a_warm_fault_takes_the_documented_instructions(tmp_path):
    """Within 2 %. If a change is intended, `make bench` makes the new figures."""
    before = FAULT_AROUND.read_text()
    try:
        pfstat.run(TOP / "tests/overhead/measure", "pfstat", "pfdrive", "other",
                   env={**os.environ, "OUT": str(tmp_path)})
    finally:
        FAULT_AROUND.write_text(before)
    measured = instructions(json.loads((tmp_path / "overhead.json").read_text()))
    documented = instructions(FIGURES)
    assert {name: measured[name] for name in ("bare", "pfstat", "pfdrive", "other")
            if measured[name] != pytest.approx(documented[name], rel=0.02)} == {}, documented


def memory():
    values = pfstat.stats()
    return {name: values[name] for name in MEMORY}


def percpu_section():
    said = pfstat.run("size", "-A", pfstat.MODULE).stdout
    return int(re.search(r"^\.data\.\.percpu +(\d+)", said, re.MULTILINE)[1])


@pytest.mark.needs(shutil.which("size"), "size(1) of binutils")
def test_stats_report_the_memory_of_the_module():
    modules = pathlib.Path("/proc/modules").read_text()
    values = memory()
    assert values["module_bytes"] == int(re.search(r"^pfstat (\d+)", modules, re.MULTILINE)[1])
    # Variables are aligned to cache lines, which leaves gaps. Other memory is allocated.
    assert percpu_section() - 4 * CACHE_LINE < values["percpu_bytes"] < 8192


def test_a_mapping_and_a_thread_take_no_memory(small_file):
    """After the first mapping from a file system type, which allocates a shadow."""
    with open(small_file, "rb") as file, pfstat.Session() as session:
        session.command(f"pid {os.getpid()}")
        maps = [mmap.mmap(file.fileno(), PAGE, prot=mmap.PROT_READ)]
        before, hooked = memory(), pfstat.hooked()
        # Every second page, so that the mappings are not merged.
        maps += [mmap.mmap(file.fileno(), PAGE, prot=mmap.PROT_READ, offset=2 * page * PAGE)
                 for page in range(1, 101)]
        assert pfstat.hooked() == hooked + 100
        threads = [threading.Thread(target=lambda one=one: one[0]) for one in maps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert pfstat.stats()["calls"] >= 100
        assert memory() == before

# SPDX-License-Identifier: GPL-2.0-only
"""The last call's record in each handle_mm_fault() has the function's time, from the module and
from eBPF alike."""
import collections

import pytest

import pfstat

RARE = pfstat.BUILD / "rare_faults"
PAGES = 512
SIZE = PAGES * pfstat.PAGE
RETRY, MKWRITE, USER = 0x400, "page_mkwrite", 0x40
RECORDING = "/tmp/span.pfs"

SOURCES = [
    pytest.param("module", marks=[
        pytest.mark.needs(pfstat.has_module(), "the module"),
        pytest.mark.needs(not pfstat.ARM64, "the module at handle_mm_fault() (x86-64)")]),
    "ebpf",
]


@pytest.fixture(name="file")
def fixture_file():
    path = pfstat.make_file(pfstat.DISK / "fault_span", SIZE)
    pfstat.drop_cache()
    return path


def records_of(source, file, *command):
    """All records of calls on the file, in thread order."""
    result, _ = pfstat.record(*command, options=("--source", source, "-o", RECORDING))
    pfstat.assert_nothing_lost(result)
    lines = pfstat.run(pfstat.BUILD / "records_dump", RECORDING).stdout.splitlines()
    names = lines[0].lstrip("# ").split()
    records = [pfstat.parse_record(names, line.split()) for line in lines[1:]]
    records.sort(key=lambda record: record["start_ns"])
    return pfstat.of_file(records, file)


def assert_within(record):
    """The call lies within the function."""
    assert record["fault_ns"] >= record["before_ns"] + record["duration_ns"], record


def assert_whole(records):
    """Each call has the function's time, unless the next call of the thread is in the same one."""
    threads = collections.defaultdict(list)
    for record in records:
        threads[record["tid"]].append(record)
    for calls in threads.values():
        for call, following in zip(calls, [*calls[1:], None]):
            if call["fault_ns"]:
                assert_within(call)
                continue
            assert following and not call["result"] & RETRY, call
            assert following["address"] // pfstat.PAGE == call["address"] // pfstat.PAGE
            begin = following["start_ns"] - following["before_ns"]
            assert not following["fault_ns"] or begin <= call["start_ns"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("what", ["shared", "private", "copy"])
def test_the_last_call_has_the_time_of_the_fault(what, source, file):
    """Cold reads with a retry, fault-around, and then writes: to a shared mapping with
    page_mkwrite, to a private one with a copy."""
    records = records_of(source, file, RARE, what, file)
    assert len(records) >= PAGES // 16
    assert_whole(records)
    assert any(record["result"] & RETRY and record["fault_ns"] for record in records)
    if what != "copy":
        assert any(record["op"] == "map_pages" and record["fault_ns"] for record in records)


@pytest.mark.parametrize("source", SOURCES)
def test_a_call_for_the_right_to_write_is_a_fault_of_the_program(source, file):
    """The kernel calls page_mkwrite() with flags of its own."""
    records = records_of(source, file, RARE, "shared", file)
    calls = [record for record in records if record["op"] == MKWRITE]
    assert len(calls) == PAGES and all(call["flags"] & USER for call in calls)
    assert all(call["fault_ns"] for call in calls)


@pytest.mark.parametrize("source", SOURCES)
def test_a_first_write_to_a_shared_page_is_one_fault_of_two_calls(source, file):
    records = records_of(source, file, RARE, "store", file)
    firsts = [record for record in records if record["op"] == "fault" and not record["fault_ns"]]
    seconds = [record for record in records if record["op"] == MKWRITE]
    assert len(firsts) >= PAGES // 2 and len(seconds) == PAGES
    assert_whole(records)

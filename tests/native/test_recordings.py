# SPDX-License-Identifier: GPL-2.0-only
"""A recording is read as it was made, whole or cut, and the groups hold all faults."""
import os
import shutil

import pytest

import native
import pfstat

PAGES = 64


@pytest.fixture(name="threads")
def fixture_threads(caller):
    """Four threads write pages of their own."""
    return caller.record_faults("threads", 4, PAGES)


@pytest.fixture(name="copy")
def fixture_copy(threads, empty):
    """A copy of a recording, for a test damaging it."""
    path = empty / "copy.pfs"
    shutil.copy2(threads.path, path)
    shutil.chown(path, threads.path.stat().st_uid)
    return path


def report_of(caller, path):
    """The report, and what pfdrive says about the file."""
    result = caller.run("report", "--format", "json", path)
    return pfstat.report_of(result.stdout), result.stderr


@pytest.mark.parametrize("by", ["file", "vma", "thread", "code"])
def test_the_report_of_a_recording_equals_the_direct_one(caller, empty, by):
    direct = empty / "direct.json"
    recording = caller.record_faults("threads", 4, PAGES,
                                     options=("--json", direct, "--by", by))
    result, later = pfstat.report_of(direct.read_text()), recording.report("--by", by)
    assert result["parts"]["all"]["count"] >= 4 * PAGES and result["damage"] is None
    for key, value in result.items():
        assert later[key] == value, key


def test_no_fault_of_pfdrive_before_the_exec_is_recorded(caller):
    recording = caller.record_faults("threads", 1, PAGES)
    names = {row["name"] for row in recording.report("--by", "comm")["groups"]["rows"]}
    assert "native_faults" in names and "pfdrive" not in names


def test_the_groups_hold_all_faults(threads):
    result = threads.report("--by", "file", "--top", 2)
    rows, rest = result["groups"]["rows"], result["groups"]["left_out"]
    assert len(rows) == 2 and rest["rows"] > 0
    assert sum(row["faults"] for row in rows) + rest["faults"] == result["parts"]["all"]["count"]


def test_a_recording_without_its_end_is_reported(threads, copy):
    os.truncate(copy, copy.stat().st_size - 1)
    cut, message = report_of(threads.caller, copy)
    assert "cut" in cut["damage"] and cut["damage"] in message
    assert cut["parts"]["all"]["count"] == threads.report()["parts"]["all"]["count"]
    assert cut["rusage"]["minflt"] is None


def test_a_recording_cut_in_the_middle_is_reported_up_to_there(caller):
    recording = caller.record_faults("anon", 20_000)
    whole = recording.report()["parts"]["all"]["count"]
    os.truncate(recording.path, recording.path.stat().st_size // 2)
    cut, message = report_of(caller, recording.path)
    assert cut["damage"] in message and cut["damage"] in recording.print()
    assert 0 < cut["parts"]["all"]["count"] < whole


def test_a_file_that_is_not_a_recording_is_refused(caller):
    path = caller.new_file("other", PAGES)
    assert "is not a pfdrive recording" in caller.refused(1, "report", path)
    assert "No such file" in caller.refused(1, "report", caller.folder / "missing.pfs")


def test_a_newer_version_is_refused_by_its_number(threads, copy):
    with open(copy, "r+b") as file:
        file.seek(8)
        file.write(b"\x07\0\0\0")
    assert "version 7" in threads.caller.refused(1, "report", copy)


def test_a_mapping_is_named_by_its_file_and_place(caller):
    path = caller.new_file("mapped", PAGES)
    native.evict(path)
    recording = caller.record_faults("random", path)
    touched, = recording.ranges
    rows = recording.report("--by", "vma", "--top", 0)["groups"]["rows"]
    row, = [row for row in rows if str(path) in row["name"]]
    assert (row["faults"], row["address"]) == (PAGES, touched.address)
    assert row["pid"] == touched.tid


def test_each_thread_has_a_row(threads):
    rows = threads.report("--by", "thread")["groups"]["rows"]
    assert {row["tid"] for row in rows if row["faults"] >= PAGES} >= {
        touched.tid for touched in threads.ranges}
    assert len({row["pid"] for row in rows}) == 1


def test_code_is_named_by_its_function_and_program(threads):
    rows = threads.report("--by", "code")["groups"]["rows"]
    most = max(rows, key=lambda row: row["faults"])
    assert most["name"].startswith(("touch", "worker_main")), most
    assert "native_faults" in most["name"] and most["faults"] >= 4 * PAGES


def test_stacks_are_unknown_without_the_option(threads):
    result = threads.report("--by", "stack")
    assert [(row["name"], row["faults"]) for row in result["groups"]["rows"]] == \
        [("(not known)", result["parts"]["all"]["count"])]


def test_stacks_of_the_module_require_ebpf(caller):
    assert "eBPF" in caller.refused(2, "record", "--stacks", "--no-bpf", "--source", "module",
                                    "true")


def test_a_report_beyond_the_limit_of_file_sizes_leaves_nothing(threads, empty):
    caller = threads.caller
    result = pfstat.run("prlimit", "--fsize=4096", caller.program("pfdrive"), "report",
                        threads.path, "--json", empty / "run.json", check=False, **caller.options)
    assert result.returncode == 1 and "File too large" in result.stderr
    assert not list(empty.iterdir())

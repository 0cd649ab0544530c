# SPDX-License-Identifier: GPL-2.0-only
"""The reasons of sleeps in faults: perf's kernel stacks, for callers who may see the kernel."""
import os
import pathlib

import pytest

import native
import pfstat

PAGES = 300
KERNEL = pathlib.Path("/proc/sys/kernel")
AS_ROOT = pytest.mark.needs(os.geteuid() == 0, "root, to change a setting")
AS_USER = pytest.mark.parametrize("caller", ["user"], indirect=True)


@pytest.fixture(name="setting")
def fixture_setting():
    """Changes settings of the kernel until the test ends."""
    before = {}

    def change(name, value):
        path = KERNEL / name
        before.setdefault(path, path.read_text())
        path.write_text(f"{value}\n")

    yield change
    for path, value in before.items():
        path.write_text(value)


def stacks_of(report):
    return {stack["cause"]: stack for stack in report["waits"]["stacks"]}


def record_cold_file(caller):
    path = caller.new_file("cold", PAGES)
    native.evict(path)
    return caller.record_faults("random", path)


def assert_reads_are_named(recording):
    report = recording.report()
    native.assert_complete(report)
    major = [row for row in recording.rows if row["major"] == "1"]
    stack = stacks_of(report)["the read of a page"]
    assert stack["functions"][:2] == ["folio_wait_bit_common", "filemap_read_folio"]
    assert len(major) >= PAGES and stack["sleeps"] <= len(major)
    # A disk may answer before the thread sleeps.
    assert stack["sleeps"] >= PAGES / 2
    assert stack["total_ns"] <= report["parts"]["all"]["parts"]["asleep"]["total_ns"]
    assert "for the read of a page" in recording.print()


def assert_reasons_are_missing(recording, reason):
    report = recording.report()
    assert report["waits"] is None and report["mmap_lock"] is None
    assert report["parts"]["all"]["parts"]["blocked"]["total_ns"] is None
    text = " ".join(recording.print().split())
    assert "sleep reasons" in text and f"Sleep reasons n/a: {reason}" in text


@AS_ROOT
@AS_USER
def test_an_ordinary_user_with_paranoid_1_gets_the_reason_of_each_read(caller, setting):
    setting("kptr_restrict", 0)
    setting("perf_event_paranoid", 1)
    assert_reads_are_named(record_cold_file(caller))


@AS_ROOT
@AS_USER
def test_a_report_names_the_setting_that_hides_the_reasons(caller, setting):
    setting("perf_event_paranoid", 2)
    assert_reasons_are_missing(record_cold_file(caller), "kernel.perf_event_paranoid is 2")
    setting("perf_event_paranoid", 1)
    setting("kptr_restrict", 2)
    assert_reasons_are_missing(record_cold_file(caller), "kernel.kptr_restrict hides")


@AS_ROOT
@pytest.mark.parametrize("caller", ["root"], indirect=True)
def test_root_gets_the_reason_of_each_read(caller, setting):
    setting("kptr_restrict", 0)
    assert_reads_are_named(record_cold_file(caller))


@AS_ROOT
@AS_USER
def test_a_handler_of_userfaultfd_is_the_cause_and_no_unknown_sleep(caller, setting):
    setting("kptr_restrict", 0)
    setting("perf_event_paranoid", 1)
    recording = caller.record_faults("handled", PAGES)
    report = recording.report()
    native.assert_complete(report)
    parts = report["parts"]["all"]["parts"]
    assert stacks_of(report)["a userfaultfd handler"]["sleeps"] >= PAGES
    assert parts["handler"]["total_ns"] >= PAGES * 200000
    rules = {cause["rule"]: cause for cause in report["verdict"]["causes"]}
    assert rules["userfaultfd"]["certain"] and "asleep" not in rules


def test_major_faults_on_holes_of_a_file_are_not_called_reads(caller, empty):
    path = empty / "holes"
    with open(path, "wb") as file:
        file.truncate(4096 * pfstat.PAGE)
    recording = caller.record_faults("random", path)
    assert sum(row["major"] == "1" for row in recording.rows) >= 4096
    for cause in recording.report()["verdict"]["causes"]:
        assert "read them" not in cause["text"], cause
        if cause["rule"] == "cold-file":
            assert not cause["certain"] and "holes of the file" in cause["text"]


def test_a_stack_of_each_fault_leads_to_its_code(caller):
    recording = caller.record_faults("anon", PAGES, options=("--stacks",))
    report = recording.report("--by", "stack")
    native.assert_complete(report, hidden=caller.sampling == "user")
    rows = [row for row in report["groups"]["rows"] if "main;touch_counted" in row["name"]]
    assert sum(row["faults"] for row in rows) >= PAGES
    assert "main;touch_counted " in recording.print("--format", "folded")

# SPDX-License-Identifier: GPL-2.0-only
"""The faults of programs with known touches, page by page, and each run's ledger."""
import collections
import shutil

import pytest

import native
import pfstat

PAGES = 200


def record(caller, *words):
    """A complete recording, and the ranges."""
    recording = caller.record_faults(*words)
    native.assert_complete(recording.report())
    return recording, recording.ranges


def majors(rows):
    return sum(row["major"] == "1" for row in rows)


def test_each_page_of_new_memory_is_one_anonymous_fault(caller):
    recording, (touched,) = record(caller, "anon", PAGES)
    rows = recording.rows_of(touched)
    native.assert_each_page_once(rows, touched, "anon")
    assert (len(rows), majors(rows)) == (touched.minor, 0)


def test_a_write_after_a_read_of_new_memory_is_a_fault_of_class_again(caller):
    recording, (read, written) = record(caller, "twice", PAGES)
    rows = recording.rows_of(read)
    native.assert_each_page_once(rows[:PAGES], read, "anon")
    native.assert_each_page_once(rows[PAGES:], written, "again")
    assert read.minor == written.minor == PAGES


def test_reads_of_a_cached_file_have_the_faults_that_getrusage_counts(caller):
    path = caller.new_file("cached", PAGES)
    recording, (touched,) = record(caller, "file", path)
    rows = recording.rows_of(touched)
    assert (len(rows), majors(rows)) == (touched.minor + touched.major, touched.major)
    assert {(row["class"], row["file"]) for row in rows} == {("file", str(path))}
    # Fault-around maps several pages with one fault. No page has two.
    pages = native.pages_of(rows, touched)
    assert pages[0] == 0 and pages == sorted(set(pages))
    assert [int(row["page"]) for row in rows] == pages


def test_each_written_page_of_a_private_mapping_is_one_fault_of_its_file(caller):
    path = caller.new_file("private", PAGES)
    recording, (touched,) = record(caller, "private", path)
    rows = recording.rows_of(touched)
    native.assert_each_page_once(rows, touched, "file")
    assert [int(row["page"]) for row in rows] == list(range(PAGES))
    assert (len(rows), majors(rows)) == (touched.minor + touched.major, touched.major)


def test_each_page_of_a_cold_file_read_at_random_is_one_major_fault(caller):
    path = caller.new_file("cold", PAGES)
    native.evict(path)
    recording, (touched,) = record(caller, "random", path)
    rows = recording.rows_of(touched)
    native.assert_each_page_once(rows, touched, "file")
    assert {(row["file"], row["major"]) for row in rows} == {(str(path), "1")}
    assert (touched.minor, touched.major) == (0, PAGES)


def test_each_thread_has_a_fault_for_each_of_its_pages(caller):
    recording, ranges = record(caller, "threads", 8, PAGES)
    assert len({touched.tid for touched in ranges}) == 8
    for touched in ranges:
        native.assert_each_page_once(recording.rows_of(touched), touched, "anon")


def test_each_page_written_after_a_fork_is_one_fault_of_class_again(caller):
    recording, (first, *children, last) = record(caller, "fork", 3, PAGES)
    assert [touched.name for touched in children] == ["child"] * 3
    for touched in children:
        native.assert_each_page_once(recording.rows_of(touched), touched, "again")
    rows = recording.rows_of(first)
    native.assert_each_page_once(rows[:PAGES], first, "anon")
    native.assert_each_page_once(rows[PAGES:], last, "again")


@pytest.mark.parametrize("how", ["denied", "cut"])
def test_a_failed_fault_is_counted_once_as_unsolved_and_getrusage_has_none(caller, how):
    words = (5,) if how == "denied" else (5, caller.new_file("short", 1))
    recording, (touched,) = record(caller, how, *words)
    rows = recording.rows_of(touched)
    assert [(row["solved"], row["major"]) for row in rows] == [("0", "0")] * 5
    assert (touched.minor, touched.major) == (0, 0)
    result = recording.report()
    assert result["parts"]["all"]["unsolved"] == 5
    counts, differences = native.ledger_of(result)
    assert counts["faults, failed"] == 5
    assert differences["page-faults", "minor-faults + major-faults"] == \
        {"failed: a signal followed": 5}


ARGUMENTS = "execve(2) wrote a program's arguments"


def unseen_of(recording):
    """The number of faults counted by getrusage() but not by perf. They have no reason except for
    those of an exec, and are not compared if perf does not show faults in system calls."""
    result = recording.report()
    counts, differences = native.ledger_of(result)
    number = counts["minflt"] - counts["minor-faults"]
    row, = (row for row in result["ledger"]["differences"] if row["left"] == "minflt")
    if recording.caller.sampling == "all":
        assert row["unexplained"] == number - differences["minflt", "minor-faults"][ARGUMENTS]
    else:
        assert row["amount"] is row["unexplained"] is None
    return number


def test_faults_in_system_calls_are_seen_with_privilege_and_named_without(caller):
    recording, (touched,) = record(caller, "call", caller.new_file("read", PAGES), PAGES)
    assert touched.minor == PAGES
    unseen = unseen_of(recording)
    if caller.sampling == "all":
        rows = recording.rows_of(touched)
        native.assert_each_page_once(rows, touched, "anon")
        assert {row["kernel"] for row in rows} == {"1"}
    else:
        assert {row["kernel"] for row in recording.rows} == {"0"}
        assert unseen >= PAGES


def test_faults_of_get_user_pages_are_named_in_the_ledger(caller):
    recording = caller.record_faults("populate", PAGES)
    touched, = recording.ranges
    assert 0 < touched.minor <= unseen_of(recording)
    assert not any(native.is_in(row, touched) for row in recording.rows)
    result = recording.report()
    if caller.sampling == "all":
        assert result["ledger"]["unexplained"] == touched.minor


def test_an_exec_shows_how_many_faults_its_arguments_take(caller):
    """The arguments are 13 pages, and each is written before the program starts."""
    result = caller.record("/bin/true", 12 * pfstat.PAGE * "x").report()
    _, differences = native.ledger_of(result)
    if caller.sampling == "all":
        assert differences["minflt", "minor-faults"][ARGUMENTS] >= 12
    assert result["ledger"]["unexplained"] == 0


@pytest.mark.parametrize("times", [1, 2])
def test_events_that_the_kernel_ends_are_a_loss_with_a_name(caller, times):
    """The kernel removes perf's events when a process executes a file that is set-user-ID, or
    that the process may not read. Then no later fault is known, and none gets a cause."""
    with caller.new_folder() as folder:
        program = folder / "unreadable"
        shutil.copy(caller.program("native_faults"), program)
        if caller.is_root:
            shutil.chown(program, native.NOBODY)
        program.chmod(0o4755 if caller.is_root else 0o111)
        recording = caller.record("sh", "-c", times * f"{program} populate {PAGES}; ")
    result = recording.report()
    assert result["perf_ended"] == times and result["perf_ended_name"] == "unreadable"
    assert f"events ended by the kernel at {times} execution" in recording.messages
    assert result["verdict"]["at_least"]
    assert result["ledger"]["unexplained"] == 0
    rows = [row for row in result["ledger"]["differences"] if row["left"] in ("minflt", "majflt")]
    assert len(rows) == 2 and all(row["amount"] is None for row in rows)
    text = recording.print()
    assert "WHEN A PROCESS EXECUTED unreadable" in text and "io_uring" not in text


def test_the_threads_of_a_running_process_are_seen_from_the_attachment_on(caller):
    path = caller.folder / "attached.pfs"
    with caller.started("native_faults", "attached", 4, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        with caller.started("pfdrive", "record", "--source", "perf", "--output", path, "-p",
                            program.pid) as recorder:
            pfstat.wait_until(lambda: recorder.poll() is not None or pfstat.watches(recorder))
            text, _ = program.communicate("\n")
            _, messages = recorder.communicate()
        assert recorder.returncode == 0, messages
    touched = native.ranges_of(text)
    assert len(touched) == 4
    recording = native.Recording(caller, path)
    result = recording.report()
    assert result["events_lost"] == 0 and result["ledger"]["unexplained"] == 0
    for one in touched:
        native.assert_each_page_once(recording.rows_of(one), one, "anon")


def test_threads_and_processes_that_begin_after_the_attachment_have_names(caller):
    path = caller.folder / "named.pfs"
    with caller.started("native_faults", "spawn", 2, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        caller.run("record", "--source", "perf", "-p", program.pid, "--duration", 0.3, "-o", path)
    rows = native.Recording(caller, path).rows
    assert len({row["tid"] for row in rows}) > 2 and len({row["pid"] for row in rows}) > 1
    assert {row["thread"] for row in rows} == {"native_faults"}


def test_the_report_counts_what_the_rows_list(caller):
    recording, _ = record(caller, "fork", 2, PAGES)
    rows = recording.rows
    parts = recording.report()["parts"]
    assert parts["all"]["count"] == len(rows)
    assert {name: row["count"] for name, row in parts["classes"].items() if row["count"]} == \
        dict(collections.Counter(row["class"] for row in rows))
    assert parts["all"]["total_ns"] == sum(int(row["duration_ns"] or 0) for row in rows)


def test_a_fault_of_the_loader_at_the_same_address_is_not_of_the_range(caller):
    """The kernel may map the program's pages where /etc/ld.so.cache was mapped before."""
    recording, (touched,) = record(caller, "anon", PAGES)
    before = dict(recording.rows_of(touched)[0], start_ns=str(touched.since - 1))
    recording.rows.insert(0, before)
    assert len(recording.rows_of(touched)) == PAGES


REUSING = """
import mmap, os, pathlib, sys
seen = {}
for number in range(1000):
    path = f"{sys.argv[1]}/reused-{number}"
    with open(path, "w+b") as file:
        file.write(bytes(4 * mmap.PAGESIZE))
        file.flush()
        inode = os.fstat(file.fileno()).st_ino
        with mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED) as mapping:
            mapping[0] = 1
    if inode in seen:
        pathlib.Path(sys.argv[2]).write_text(f"{seen[inode]} {path}")
        break
    seen[inode] = path
    os.unlink(path)
"""


def test_a_new_file_with_the_inode_of_a_deleted_one_has_its_own_row(caller):
    found = caller.folder / "found"
    found.unlink(missing_ok=True)
    recording = caller.record(native.PYTHON, "-c", REUSING, caller.folder, found)
    if not found.exists():
        pytest.skip("this file system does not give the inode of a deleted file to a new one")
    rows = {row["name"]: row for row in recording.report("--by", "file")["groups"]["rows"]}
    old, new = (rows[path] for path in found.read_text().split())
    assert old["inode"] == new["inode"] and old["faults"] == new["faults"] == 1

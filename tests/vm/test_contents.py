# SPDX-License-Identifier: GPL-2.0-only
"""Each copy has the page's origin, and so has each shared memory page. Huge pages have a size. The
module and eBPF find the same."""
import contextlib
import pathlib
import subprocess

import pytest

import pfstat

CONTENTS = pfstat.BUILD / "contents"
PAGES = 300
HUGE = 2 << 20
KSM = pathlib.Path("/sys/kernel/mm/ksm")
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
# The loader and the C library write to pages of their files, and pfdrive's child to pages shared
# with pfdrive until it executes the program.
NOISE = 100
# If pfdrive copies such a page during the child's copy, the child's page is free at the end of the
# copy, and eBPF cannot find the origin. This happened to one page on a loaded machine.
RACES = 3


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    pytest.param("ebpf", marks=pytest.mark.needs(pfstat.KERNEL >= (5, 19),
                                                 "PG_anon_exclusive"))])
def fixture_source(request):
    return request.param


@contextlib.contextmanager
def setting(path, value):
    before = path.read_text()
    path.write_text(value)
    try:
        yield
    finally:
        words = before.split()
        path.write_text(next((word.strip("[]") for word in words if word.startswith("[")),
                             words[0]))


def contents(source, *words):
    """The counts from one run of the program."""
    result, _ = pfstat.record(CONTENTS, *words, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    assert result["module_faults"] is (source == "module")
    return result["contents"]


def counts(found, *names):
    return {name: found[name]["count"] for name in names}


def is_about(number, pages=PAGES):
    return pages <= number <= pages + NOISE


@pytest.mark.smoke
def test_a_page_that_was_read_before_it_was_written_is_a_copy_of_zeros(source):
    found = contents(source, "zero", PAGES)
    assert is_about(found["zero"]["count"])
    assert found["fork"]["count"] < NOISE
    assert found["ksm"]["count"] == 0 and found["unknown"]["count"] < RACES
    assert found["zero"]["total_ns"] > 0


@pytest.mark.needs(KSM.exists(), "KSM")
def test_a_page_that_was_merged_is_a_copy_of_ksm(source):
    with setting(KSM / "pages_to_scan", "1000"), setting(KSM / "sleep_millisecs", "1"), \
         setting(KSM / "run", "1"):
        found = contents(source, "ksm", PAGES)
    assert is_about(found["ksm"]["count"])
    assert found["fork"]["count"] < NOISE and found["unknown"]["count"] < RACES


@pytest.mark.parametrize("how", ["file", "copy"])
def test_a_private_page_of_a_file_is_a_copy_of_it(how, source):
    path = pfstat.make_file(pfstat.DISK / "contents", PAGES * pfstat.PAGE)
    found = contents(source, how, PAGES, path)
    assert is_about(found["file"]["count"])
    assert found["fork"]["count"] < NOISE
    assert found["ksm"]["count"] == 0 and found["unknown"]["count"] < RACES


def test_copies_follow_a_fork_of_the_run(source):
    found = contents(source, "fork", PAGES)
    assert is_about(found["fork"]["count"])
    assert PAGES <= found["after_fork"]["count"] <= found["fork"]["count"]
    assert found["fork_pid"] and found["fork_pid_count"] == found["after_fork"]["count"]
    assert found["ksm"]["count"] == 0 and found["unknown"]["count"] < RACES


def test_copies_of_a_fork_before_the_run_follow_none(source, tmp_path):
    recording = tmp_path / "run.pfs"
    with subprocess.Popen([CONTENTS, "forked", str(PAGES)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"ready\n"
        process = pfstat.begin_record("--source", source, "-o", recording, "-p", program.pid)
        assert process.poll() is None, process.communicate()
        program.communicate(b"\n", timeout=pfstat.PATIENCE)
        _, errors = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, errors
    found = pfstat.report(recording)["contents"]
    assert is_about(found["fork"]["count"])
    assert found["after_fork"]["count"] == 0 and found["fork_pid"] is None


def test_a_page_that_no_other_process_has_any_more_is_not_copied(source):
    found = contents(source, "reused", PAGES)
    assert is_about(found["reused"]["count"])
    assert is_about(found["reused_after_fork"]["count"])
    # Before exit, the child and the parent write to some pages.
    assert found["fork"]["count"] < NOISE and found["unknown"]["count"] < RACES


def test_new_pages_of_shared_memory_are_counted_apart_from_present_ones(source):
    found = contents(source, "new", PAGES)
    assert counts(found, "new", "present") == {"new": PAGES, "present": 0}
    found = contents(source, "present", PAGES)
    assert counts(found, "new", "present") == {"new": PAGES, "present": PAGES}


@pytest.mark.needs(HUGE_PAGES.exists(), "hugetlbfs")
def test_faults_of_hugetlbfs_have_the_size_of_their_page(source):
    with setting(HUGE_PAGES, "8"):
        found = contents(source, "hugetlb", 5)
    assert [(row["bytes"], row["hugetlb"]["count"], row["anon"]["count"])
            for row in found["huge"]] == [(HUGE, 5, 0)]


@pytest.mark.needs(THP.exists(), "transparent huge pages")
def test_faults_that_make_a_transparent_huge_page_have_its_size(source):
    with setting(THP, "madvise"):
        found = contents(source, "thp", 10)
        assert [(row["bytes"], row["hugetlb"]["count"], row["anon"]["count"])
                for row in found["huge"]] == [(HUGE, 0, 5)]
    with setting(THP, "never"):
        assert contents(source, "thp", 10)["huge"] == []

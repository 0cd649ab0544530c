# SPDX-License-Identifier: GPL-2.0-only
"""Kinds of mappings, accesses and stores, and their faults."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

import pfstat
from test_pfdrive import FOREVER

PAGES = 1024
SIZE = PAGES * pfstat.PAGE
EACH_PAGE_ONCE = ("--pattern", f"stride:{pfstat.PAGE}", "--accesses", str(PAGES),
                  "--fault-around", "off")
SCRATCH = ("--scratch", str(SIZE), "--scratch-dir", pfstat.DISK)
# 512-byte blocks for each dirtied page. The file system adds a few blocks of its own.
BLOCKS_A_PAGE = pfstat.PAGE // 512
OWN_BLOCKS = 64

HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


@contextlib.contextmanager
def huge_pages(setting):
    before = HUGE_PAGES.read_text().split("[")[1].split("]")[0]
    HUGE_PAGES.write_text(setting)
    try:
        yield
    finally:
        HUGE_PAGES.write_text(before)


def drive(*options):
    """A run in which every fault is accounted for."""
    result = pfstat.drive(*options)
    for run in result.get("runs", [result]):
        pfstat.assert_nothing_lost(run)
        assert all(d["amount"] is not None for d in run["ledger"]["differences"])
        assert run["calls"] == sum(c["count"] for c in run["classes"].values())
    return result


def calls(result, name):
    return result["classes"][name]["count"]


def usage(result, step):
    return result["steps"][step]["rusage"]


def faults_of(rusage):
    return rusage["minflt"] + rusage["majflt"]


def free_bytes(folder):
    space = os.statvfs(folder)
    return space.f_bfree * space.f_bsize


@pytest.mark.deterministic
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_each_page_of_a_shared_file_faults_once_for_stores(cache):
    before = set(pfstat.DISK.iterdir())
    result = drive(*EACH_PAGE_ONCE, *SCRATCH, "--write", "1", "--cache", cache)
    assert result["pages_touched"] == result["pages_written"] == PAGES
    # Each page faults once. The call for the right to write is part of this fault.
    assert result["faults"] == calls(result, "mkwrite") == PAGES
    assert 0 <= result["rusage"]["oublock"] - PAGES * BLOCKS_A_PAGE <= OWN_BLOCKS
    assert result["rusage"]["inblock"] == (PAGES * BLOCKS_A_PAGE if cache == "cold" else 0)
    assert result["environment"]["backing"] == "scratch"
    assert result["environment"]["map"] == "shared"
    assert set(pfstat.DISK.iterdir()) == before


@pytest.mark.deterministic
def test_stores_dirty_half_of_the_pages():
    result = drive(*EACH_PAGE_ONCE, *SCRATCH, "--write", "50%", "--cache", "warm")
    assert result["pages_touched"] == result["faults"] == PAGES
    assert result["pages_written"] == calls(result, "mkwrite") == PAGES // 2
    assert 0 <= result["rusage"]["oublock"] - PAGES // 2 * BLOCKS_A_PAGE <= OWN_BLOCKS


@pytest.mark.deterministic
def test_stores_to_a_private_mapping_do_not_change_the_file():
    path = pfstat.make_file(pfstat.DISK / "private", SIZE)
    content, before = path.read_bytes(), path.stat()
    result = drive(*EACH_PAGE_ONCE, "--map", "private", "--write", "1", "--cache", "warm", path)
    assert result["pages_written"] == result["faults"] == PAGES
    assert calls(result, "mkwrite") == result["rusage"]["oublock"] == 0
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.deterministic
def test_a_private_page_that_was_read_is_copied():
    """A page is read first, then stored to: a fault of the file, then a copy."""
    path = pfstat.make_file(pfstat.DISK / "private", SIZE)
    result = drive("--map", "private", "--write", "0.01", "--accesses", "100K", "--cache", "warm",
                   "--fault-around", "off", path)
    copies = pfstat.faults(result, "cow")
    assert 0 < copies < result["pages_written"] < result["pages_touched"] <= PAGES
    assert result["faults"] == result["pages_touched"]
    assert faults_of(result["rusage"]) == result["faults"] + copies
    assert result["rusage"]["oublock"] == 0


@pytest.mark.deterministic
@pytest.mark.parametrize("memory", [
    pytest.param(("--map", "shared+populate", *SCRATCH), id="shared-read"),
    pytest.param(("--map", "private+populate", "--write", "1", *SCRATCH), id="private-write"),
    pytest.param(("--map", "anon+populate", "--write", "1", "--size", SIZE), id="anon-write"),
])
def test_populate_leaves_no_later_faults(memory):
    with huge_pages("never"):
        result = drive(*EACH_PAGE_ONCE, *memory)
    assert faults_of(usage(result, "populate")) == PAGES
    assert faults_of(usage(result, "access")) == 0
    # These are get_user_pages() faults, which perf does not count. The ledger states this.
    counts = {c["name"]: c["value"] for c in result["ledger"]["counts"]}
    assert counts["page-faults"] == 0
    reasons = [r for d in result["ledger"]["differences"] for r in d["reasons"]]
    assert sum(r["amount"] for r in reasons if r["name"].startswith("get_user_pages")) == PAGES


@pytest.mark.deterministic
def test_populate_maps_a_shared_file_read_only():
    result = drive(*EACH_PAGE_ONCE, *SCRATCH, "--map", "shared+populate", "--write", "1")
    assert faults_of(usage(result, "populate")) == PAGES
    assert usage(result, "access")["minflt"] == calls(result, "mkwrite") == PAGES
    assert usage(result, "populate")["oublock"] == 0
    assert usage(result, "access")["oublock"] >= PAGES * BLOCKS_A_PAGE


@pytest.mark.deterministic
def test_fill_dirties_every_page_and_msync_cleans_it():
    result = drive(*EACH_PAGE_ONCE, *SCRATCH, "--fill", "msync", "--write", "1")
    assert [name for name, step in result["steps"].items() if step] == [
        "memset", "msync", "access"]
    assert faults_of(usage(result, "memset")) == PAGES
    assert 0 <= usage(result, "memset")["oublock"] - PAGES * BLOCKS_A_PAGE <= OWN_BLOCKS
    # The pages are clean, and the next store must ask for the right to write again.
    assert result["requests"]["bytes_written"] >= SIZE
    assert usage(result, "access")["minflt"] == PAGES
    assert calls(result, "mkwrite") == 2 * PAGES
    assert 0 <= usage(result, "access")["oublock"] - PAGES * BLOCKS_A_PAGE <= OWN_BLOCKS
    for step in ("memset", "msync"):
        assert result["steps"][step]["bytes"] == SIZE
        assert result["steps"][step]["elapsed_ns"] > 0
    # A disk of 100 µs for each request needs at least this time to write 4 MiB.
    assert result["steps"]["msync"]["elapsed_ns"] > 100_000


@pytest.mark.deterministic
def test_fill_of_a_private_mapping_writes_nothing():
    path = pfstat.make_file(pfstat.DISK / "private", SIZE)
    content = path.read_bytes()
    result = drive(*EACH_PAGE_ONCE, "--map", "private", "--fill", "msync", path)
    assert faults_of(usage(result, "memset")) == PAGES
    assert faults_of(usage(result, "access")) == 0
    assert result["rusage"]["oublock"] == 0
    # There is nothing to sync, so there is no rate.
    assert result["steps"]["memset"]["bytes"] == SIZE
    assert result["steps"]["msync"]["bytes"] is None
    assert result["environment"]["store_share"] == result["pages_written"] == 0
    assert path.read_bytes() == content


@pytest.mark.deterministic
def test_anonymous_memory_faults_once_for_each_page():
    with huge_pages("never"):
        written = drive(*EACH_PAGE_ONCE, "--map", "anon", "--size", SIZE, "--write", "1")
        # Each page is read first: it maps the zero page, then a page of its own.
        both = drive("--map", "anon", "--size", SIZE, "--write", "0.01", "--accesses", "100K")
    for result in (written, both):
        assert result["calls"] == result["faults"] == result["rusage"]["majflt"] == 0
        assert pfstat.faults(result, "anon") == result["pages_touched"]
        assert result["environment"]["backing"] == "anonymous"
        assert result["environment"]["transparent_hugepage"] == "never"
        for name in ("file", "filesystem", "cache", "resident_pages"):
            assert result["environment"][name] is None
    assert written["rusage"]["minflt"] == PAGES
    copies = pfstat.faults(both, "cow")
    assert 0 < copies < both["pages_written"]
    assert both["rusage"]["minflt"] == both["pages_touched"] + copies


@pytest.mark.deterministic
def test_anonymous_memory_may_have_huge_pages():
    with huge_pages("always"):
        result = drive("--pattern", f"stride:{pfstat.PAGE}", "--accesses", "2048", "--map", "anon",
                       "--size", 2048 * pfstat.PAGE, "--write", "1")
    # 8 MiB at an arbitrary address contain three or four whole huge pages.
    assert result["pages_touched"] == 2048
    assert result["rusage"]["minflt"] < 600


@pytest.mark.deterministic
@pytest.mark.parametrize("order", ["random", "sequential"])
@pytest.mark.parametrize("memory", [
    pytest.param((*SCRATCH,), id="shared"),
    pytest.param((*SCRATCH, "--map", "private"), id="private"),
    pytest.param(("--map", "anon", "--size", SIZE), id="anon"),
])
def test_locality_touches_the_pages_of_its_sets(memory, order):
    rounds = 100
    with huge_pages("never"):
        result = drive("--pattern", f"locality:{order}", "--accesses", str(rounds * 8192),
                       "--repeat", "1", "--fault-around", "off", *memory)
    assert result["environment"]["store_share"] == 0.125
    # A set has 32 KiB and spans a page more at most. Sometimes it stores to one page less.
    set_pages = (32 << 10) // pfstat.PAGE
    most = min(PAGES, (set_pages + 1) * rounds)
    assert set_pages <= result["pages_written"] <= result["pages_touched"] <= most
    if order == "sequential":
        # Sets follow each other and have whole pages: there is space for 127 sets.
        assert result["pages_written"] == result["pages_touched"] == set_pages * rounds
    if "anon" in memory:
        assert pfstat.faults(result, "anon") == result["pages_touched"]
    else:
        assert result["faults"] >= result["pages_touched"]
    if "private" in memory or "anon" in memory:
        assert result["rusage"]["oublock"] == 0
    else:
        assert 0 <= (result["rusage"]["oublock"] -
                     result["pages_written"] * BLOCKS_A_PAGE) <= OWN_BLOCKS


@pytest.mark.deterministic
def test_several_runs_have_a_mean():
    result = drive(*EACH_PAGE_ONCE, *SCRATCH, "--write", "1", "--fill", "msync", "--repeat", "3")
    blocks = [usage(run, "access")["oublock"] for run in result["runs"]]
    # Each run begins with clean pages, so each run counts its own.
    assert all(0 <= b - PAGES * BLOCKS_A_PAGE <= OWN_BLOCKS for b in blocks)
    assert result["mean"]["steps"]["access"]["rusage"]["oublock"] == pytest.approx(sum(blocks) / 3,
                                                                                    abs=0.001)
    assert result["stddev"]["steps"]["memset"]["elapsed_ns"] >= 0
    assert result["mean"]["steps"]["populate"] is None
    table = pfstat.run(pfstat.PFDRIVE, *EACH_PAGE_ONCE, *SCRATCH, "--write", "1", "--fill",
                       "msync", "--repeat", "3").stdout.split("Mean ± standard deviation")[1]
    for step in ("memset", "msync", "access"):
        row, = (line for line in table.splitlines() if line.startswith(step))
        assert "±" in row


def test_allow_write_overwrites_the_file(small_file):
    result = pfstat.drive("--write", "0.25", "--pattern", "sequential", "--allow-write", small_file)
    assert result["environment"]["backing"] == "file"
    content = small_file.read_bytes()
    assert content[::4] == b"\1" * (len(content) // 4)
    assert content.count(b"\x5a") == len(content) // 4 * 3


@pytest.mark.parametrize("options, words", [
    (["--write", "0.5"], "--allow-write"),
    (["--pattern", "locality"], "--allow-write"),
    (["--fill", "msync"], "--allow-write"),
    (["--map", "shared+populate", "--write", "1%"], "--allow-write"),
])
def test_a_named_file_is_not_overwritten_without_the_option(options, words, small_file):
    content, before = small_file.read_bytes(), small_file.stat()
    assert words in pfstat.refused(2, *options, small_file)
    assert small_file.read_bytes() == content
    assert small_file.stat().st_mtime_ns == before.st_mtime_ns


def test_a_disk_too_small_for_the_scratch_file_is_refused():
    with pfstat.mounted_disk("little", 1000) as folder:
        before = free_bytes(folder)
        assert "no room" in pfstat.refused(1, "--scratch", "1G", "--scratch-dir", folder)
        assert [path.name for path in folder.iterdir()] == ["lost+found"]
        assert free_bytes(folder) == before


def test_missing_folder_for_the_scratch_file_is_refused():
    assert "No such file" in pfstat.refused(1, "--scratch", "1M", "--scratch-dir", "/nowhere")


def test_a_store_on_a_full_disk_is_reported():
    """A store to a hole of a file needs blocks, and the disk has none left."""
    with pfstat.mounted_disk("little", 1000) as folder:
        path = folder / "holes"
        with open(path, "wb") as file:
            os.truncate(file.fileno(), 200 << 20)
        with open(folder / "rest", "wb", buffering=0) as rest:
            with contextlib.suppress(OSError):
                while rest.write(b"r" * (1 << 20)):
                    pass
            os.fsync(rest.fileno())
        os.sync()
        sentence = pfstat.refused(1, "--pattern", "stride:4K", "--accesses", "50000", "--write",
                                  "1", "--allow-write", path)
        assert "the disk is full" in sentence and "accesses" in sentence
        assert "memset" in pfstat.refused(1, "--fill", "msync", "--allow-write", path)
        assert not list(pathlib.Path.cwd().glob("core*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_scratch_file_is_removed(number):
    before, names = free_bytes(pfstat.DISK), set(pfstat.DISK.iterdir())
    with subprocess.Popen([pfstat.PFDRIVE, *map(str, SCRATCH), "--write", "1", "--accesses",
                           FOREVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        pfstat.wait_until(lambda: pfstat.hooked() or process.poll() is not None)
        assert free_bytes(pfstat.DISK) <= before - SIZE
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert (stdout, stderr) == ("", "")
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert set(pfstat.DISK.iterdir()) == names
    pfstat.wait_until(lambda: free_bytes(pfstat.DISK) >= before)
    pfstat.wait_until(lambda: not pfstat.PINS.exists())


def test_a_file_truncated_during_stores_is_reported(small_file):
    with subprocess.Popen([pfstat.PFDRIVE, "--write", "1", "--accesses", FOREVER, "--allow-write",
                           small_file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        pfstat.wait_until(lambda: pfstat.hooked() or process.poll() is not None)
        time.sleep(0.5)
        os.truncate(small_file, pfstat.PAGE)
        stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 1
    assert stdout == "" and "truncated the file" in stderr and stderr.count("\n") == 1


def test_ledger_without_ebpf_marks_unknown_differences(small_file):
    result = pfstat.drive("--no-bpf", "--map", "private", "--write", "0.5", small_file)
    amounts = {f"{d['left']} - {d['right']}": d["amount"] for d in result["ledger"]["differences"]}
    assert amounts["wrapper calls - logical faults"] is not None
    assert amounts["minflt - logical faults, minor"] is None
    assert result["ledger"]["unexplained"] == 0


def test_module_counts_all_faults_of_a_shared_file_without_ebpf():
    result = pfstat.drive("--no-bpf", *EACH_PAGE_ONCE, *SCRATCH, "--map", "shared+populate",
                          "--write", "0.5", "--fill", "msync")
    assert all(d["amount"] is not None for d in result["ledger"]["differences"])
    assert result["ledger"]["unexplained"] == 0
    # Populated, filled, and half the pages stored to again after the msync.
    assert faults_of(result["rusage"]) == result["faults"] == 2 * PAGES + PAGES // 2


def test_locality_study_makes_five_runs_by_default():
    result = json.loads(pfstat.run(pfstat.PFDRIVE, "--no-bpf", *SCRATCH, "--pattern", "locality",
                                   "--accesses", "8192", "--format", "json").stdout)
    assert len(result["runs"]) == 5

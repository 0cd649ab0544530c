# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive study io: files read and written with mmap, read and write, and the cost of each access
method."""
import contextlib
import functools
import os
import pathlib
import signal
import subprocess
import time

import pytest

import pfstat

FILES = 4
FILE_BYTES = 1 << 20
FILE_PAGES = FILE_BYTES // pfstat.PAGE
PAGES = FILES * FILE_PAGES
AROUND = 65536 // pfstat.PAGE   # pages that fault-around maps for one cached page
BLOCKS_A_PAGE = pfstat.PAGE // 512
OWN_BLOCKS = 64
WAYS = ("mmap", "read:512", "read:64K", "write:512", "write:64K")
FEW = ("--files", str(FILES), "--file-size", str(FILE_BYTES), "--scratch-dir", str(pfstat.DISK))


def via(*options):
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "study", "io", "--format", "json",
                                       *options).stdout, "pfdrive-study-io")


@functools.lru_cache(maxsize=None)
def rows():
    """All access methods in all cache states, by (method, cache)."""
    pfstat.load()
    names = set(pfstat.DISK.iterdir())
    result = via(*FEW, "--repeat", "2", *WAYS)
    assert set(pfstat.DISK.iterdir()) == names
    return {(row["way"], row["cache"]): row for row in result["rows"]}


def system_calls(row):
    return {call["name"]: call["count"] for call in row["watched"]["syscalls"]
            if call["name"] not in ("getrusage", "clock_gettime")}


@pytest.mark.deterministic
def test_every_access_method_has_a_row_for_each_cache_state():
    assert len(rows()) == (len(WAYS) + 1) * 3
    for row in rows().values():
        assert row["files"] == FILES and row["bytes"] == FILES * FILE_BYTES
        assert len(row["passes"]) == 2
        for one in row["passes"] + [row["watched"]["pass"]]:
            assert one["mib_per_s"] == pytest.approx(
                FILES * FILE_BYTES / (1 << 20) / (one["elapsed_ns"] / 1e9), rel=1e-3)
            assert one["elapsed_ns"] == one["map_ns"] + one["move_ns"] + (one["sync_ns"] or 0)
        mean = sum(one["elapsed_ns"] for one in row["passes"]) / 2
        assert row["mean"]["elapsed_ns"] == pytest.approx(mean, abs=0.01)


@pytest.mark.deterministic
def test_every_fault_is_accounted_for():
    for row in rows().values():
        watched = row["watched"]
        pfstat.assert_nothing_lost(watched)
        assert all(d["amount"] is not None for d in watched["ledger"]["differences"])
        assert watched["calls"] == sum(watched["classes"].values())
        rusage = watched["pass"]["rusage"]
        assert rusage["minflt"] + rusage["majflt"] == watched["faults"]
        # At the edges of the two windows one interval may be seen by only one side.
        assert abs(watched["off_cpu_count"] - rusage["nvcsw"] - rusage["nivcsw"]) <= 2


@pytest.mark.deterministic
@pytest.mark.parametrize("cache", ["cold", "warm", "fit"])
def test_system_calls_match_the_access_method(cache):
    written = {} if cache == "fit" else {"fsync": FILES}
    mapped = {"mmap": FILES, "munmap": FILES}
    assert system_calls(rows()["mmap, read", cache]) == mapped
    assert system_calls(rows()["mmap, write", cache]) == {**mapped, **written}
    for block, name in ((512, "512"), (65536, "64K")):
        calls = {"lseek": FILES, "read": FILES * FILE_BYTES // block}
        row = rows()[f"read:{name}", cache]
        assert system_calls(row) == calls
        assert row["watched"]["system_calls"] == sum(calls.values())
        calls = {"lseek": FILES, "write": FILES * FILE_BYTES // block, **written}
        assert system_calls(rows()[f"write:{name}", cache]) == calls


@pytest.mark.deterministic
@pytest.mark.parametrize("cache", ["cold", "warm", "fit"])
def test_faults_match_the_access_method(cache):
    for way in WAYS[1:]:
        assert rows()[way, cache]["watched"]["faults"] == 0
        assert rows()[way, cache]["watched"]["calls"] == 0
    written = rows()["mmap, write", cache]["watched"]
    # The first store to a page calls the file system, within the page's fault.
    assert written["faults"] == written["classes"]["mkwrite"] == PAGES
    read = rows()["mmap, read", cache]["watched"]
    if cache == "cold":
        assert FILES <= read["major"] <= read["faults"] < PAGES
    else:
        # A file not mapped at a multiple of this many pages takes one more fault.
        assert 0 <= read["faults"] - PAGES // AROUND <= FILES and read["major"] == 0
    # Unobserved passes have the same number.
    for one in rows()["mmap, write", cache]["passes"]:
        assert one["rusage"]["minflt"] + one["rusage"]["majflt"] == PAGES


@pytest.mark.deterministic
def test_cached_pages_are_counted():
    for (way, cache), row in rows().items():
        for one in row["passes"]:
            assert one["before"]["resident_pages"] == (0 if cache == "cold" else PAGES)
            assert one["after"]["resident_pages"] == PAGES, (way, cache)
            grown = (one["after"]["meminfo"]["cached_kb"] - one["before"]["meminfo"]["cached_kb"])
            # Each method brings file pages into the page cache, not only read(2).
            expected = PAGES * pfstat.PAGE // 1024 if cache == "cold" else 0
            assert abs(grown - expected) <= 512, (way, cache)
            assert one["before"]["meminfo"]["buffers_kb"] > 0


@pytest.mark.deterministic
def test_blocks_read_and_written_are_counted():
    for (way, cache), row in rows().items():
        for one in row["passes"]:
            rusage = one["rusage"]
            if row["direction"] == "read":
                assert rusage["oublock"] == 0
                assert rusage["inblock"] == (PAGES * BLOCKS_A_PAGE if cache == "cold" else 0)
            else:
                assert 0 <= rusage["oublock"] - PAGES * BLOCKS_A_PAGE <= OWN_BLOCKS, (way, cache)
                # Pages that are overwritten completely are not read before.
                if way == "write:64K":
                    assert rusage["inblock"] <= OWN_BLOCKS
            assert (one["sync_ns"] is None) == (row["direction"] == "read" or cache == "fit")


@pytest.mark.deterministic
def test_results_agree_with_the_study():
    """mmap is faster than read, the cache has the greatest effect, and writing to disk is slowest.
    """
    def rate(way, cache):
        return rows()[way, cache]["mean"]["mib_per_s"]
    for cache in ("cold", "warm", "fit"):
        assert rate("mmap, read", cache) > rate("read:512", cache)
        assert rate("mmap, write", cache) > rate("write:512", cache)
    for way in ("mmap, read", "read:512", "read:64K", "mmap, write", "write:512"):
        assert rate(way, "warm") > rate(way, "cold")
    for way in ("mmap, write", "write:512", "write:64K"):
        assert rate(way, "fit") > rate(way, "warm")


@pytest.mark.deterministic
def test_table_has_a_row_for_each_access_method():
    text = pfstat.run(pfstat.PFDRIVE, "study", "io", *FEW, "--repeat", "2", "--cache", "warm",
                      "mmap").stdout
    assert "4 of 1 MiB in /mnt/disk; ext4 on nullb0" in text
    for way in ("mmap, read", "mmap, write"):
        lines = [line for line in text.splitlines() if line.startswith(way)]
        assert len(lines) == 4
        assert "±" in lines[0] and "±" in lines[1]


@pytest.mark.smoke
def test_values_of_ebpf_are_na_without_it():
    result = via(*FEW, "--repeat", "1", "--cache", "cold", "--no-bpf", "mmap", "read:64K")
    assert "--no-bpf" in result["bpf_missing"]
    for row in result["rows"]:
        assert row["watched"]["system_calls"] is row["watched"]["syscalls"] is None
        assert row["watched"]["off_cpu_count"] is None
        assert row["watched"]["ledger"]["unexplained"] == 0
    assert result["rows"][0]["watched"]["faults"] > 0


def test_full_disk_and_missing_folder_are_reported():
    with pfstat.mounted_disk("little", 1000) as folder:
        sentence = pfstat.refused(1, "study", "io", "--files", "7", "--file-size", "10M",
                                  "--scratch-dir", folder)
        assert "no room for 7 files" in sentence
        assert [path.name for path in folder.iterdir()] == ["lost+found"]
    assert "No such file" in pfstat.refused(1, "study", "io", "--scratch-dir", "/nowhere")


def test_tmpfs_is_refused():
    """A tmpfs has no disk, so the files cannot be cold."""
    said = pfstat.refused(1, "study", "io", "--files", "1", "--file-size", "64K", "--scratch-dir",
                          "/dev/shm", "mmap")
    assert said == "pfdrive: /dev/shm is on a tmpfs, which has no disk; name another " \
        "--scratch-dir\n"
    assert not list(pathlib.Path("/dev/shm").iterdir())


@pytest.mark.deterministic
def test_both_fault_sources_count_the_same_calls():
    few = (*FEW, "--repeat", "1", "--cache", "warm", "mmap", "read:64K")
    module = via(*few)
    pfstat.unload()
    ebpf = via(*few)
    assert (module["environment"]["source"], ebpf["environment"]["source"]) == ("module", "ebpf")
    for of_module, of_ebpf in zip(module["rows"], ebpf["rows"]):
        pfstat.assert_nothing_lost(of_ebpf["watched"])
        assert of_ebpf["watched"]["ledger"]["unexplained"] == 0
        for name in ("major", "system_calls"):
            assert of_ebpf["watched"][name] == of_module["watched"][name], name
        classes = [dict(one["watched"]["classes"]) for one in (of_module, of_ebpf)]
        around = [one.pop("around") for one in classes]
        assert classes[0] == classes[1]
        # A file not mapped at a multiple of this many pages takes one more fault.
        assert abs(around[0] - around[1]) <= FILES
    assert ebpf["rows"][0]["watched"]["calls"] > 0
    text = pfstat.run(pfstat.PFDRIVE, "study", "io", *few).stdout
    assert "watched by eBPF, without the module" in text


def test_missing_module_is_reported():
    pfstat.unload()
    assert "is not loaded" in pfstat.refused(1, "study", "io", *FEW, "--no-bpf")


@pytest.mark.parametrize("delay", [0.1, 1, 3])
def test_a_signal_ends_it_without_leftovers(delay):
    before = os.statvfs(pfstat.DISK).f_bfree
    with subprocess.Popen([pfstat.PFDRIVE, "study", "io", *FEW, "--repeat", "1000", "read:8",
                           "mmap"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert (stdout, stderr) == ("", "")
    assert process.returncode in (128 + signal.SIGINT, -signal.SIGINT)
    assert not pfstat.PINS.exists()
    with contextlib.suppress(FileNotFoundError):
        assert not list(pfstat.DISK.glob(".pfdrive*"))
    pfstat.wait_until(lambda: os.statvfs(pfstat.DISK).f_bfree >= before)

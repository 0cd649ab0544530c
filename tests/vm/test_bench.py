# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive bench --quick: all rows are measured, costs are plausible, and counts are as claimed."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import pfstat

pytestmark = pytest.mark.needs(not pfstat.KMEMLEAK.exists(),
                               "a kernel that does not check each access")

# Derived from the sweep. An emulated machine's caches are unknown here.
OF_THE_SWEEP = {"memory.l1", "memory.l2", "memory.l3", "memory.line", "memory.dram"}
DISK_NS = 100000
# The memory cgroup limit for file.cache_size with --quick.
CACHE_LIMIT = 32 << 20
# Why a row was not measured, if the host is busy.
LATE = "did not finish within|no time was left|it was not done"


def bench(*options, check=True, **kwargs):
    return pfstat.run(pfstat.PFDRIVE, "bench", "--quick", *options, check=check, **kwargs)


def rows_of(text):
    return {row["name"]: row for row in pfstat.report_of(text)["rows"]}


def repeated_if_late(row):
    """A row that had too little time on a busy host is measured again, without the others."""
    for _ in range(3):
        if row["measured"] or is_swept(row) or not re.search(LATE, row["missing"]):
            break
        text = bench("--format", "json", "--directory", pfstat.DISK, row["name"]).stdout
        row = rows_of(text)[row["name"]]
    return row


@pytest.fixture(name="results", scope="module")
def all_rows():
    """The results from one run of all rows, which takes half a minute."""
    pfstat.load()
    results = pfstat.report_of(bench("--format", "json", "--directory", pfstat.DISK).stdout)
    assert results["files"] == {"directory": str(pfstat.DISK), "filesystem": "ext4",
                                "device": "nullb0", "no_direct": None}
    results["rows"] = [repeated_if_late(row) for row in results["rows"]]
    return results


@pytest.fixture(name="rows")
def rows_by_name(results):
    return {row["name"]: row for row in results["rows"]}


def median(rows, name):
    return rows[name]["measured"]["median"]


def each_time(row, event):
    """The events per operation. Repeats the row if the kernel dropped events in the watched run."""
    for _ in range(5):
        if row["watched"]["counts"][event] is not None:
            break
        assert row["watched"]["lost"] > 0 and pfstat.may_skip()
        text = bench("--format", "json", "--directory", pfstat.DISK, row["name"]).stdout
        row = rows_of(text)[row["name"]]
    return row["watched"]["counts"][event] / row["watched"]["operations"]


def is_swept(row):
    return row["operation"] == "memory.latency"


def test_every_row_is_measured(rows):
    """Except another machine's rows, which name their option: see test_bench_peer.py."""
    missing = {name: row["missing"] for name, row in rows.items() if row["measured"] is None}
    for family, option in (("peer.", "--peer"), ("nfs.", "--nfs")):
        theirs = [name for name in missing if name.startswith(family)]
        assert theirs and all(option in missing.pop(name) for name in theirs)
    # An emulated machine may not reach the last of many points within 5 s.
    late = {name for name, why in missing.items() if is_swept(rows[name]) or
            rows[name]["point"] and re.search(LATE, why)}
    assert set(missing) - late <= OF_THE_SWEEP, missing
    assert len(late) < 10


def test_every_row_but_the_sweep_is_watched(results, rows):
    assert results["not_watched"] is None
    for name, row in rows.items():
        unwatched = row["measured"] is None or is_swept(row) or row["unit"] == "bytes"
        assert (row["watched"] is None) == (unwatched or name in OF_THE_SWEEP), row


def test_kernel_counts_contradict_no_row(rows):
    found = {name: row["contradiction"] for name, row in rows.items() if row["contradiction"]}
    assert not found


def test_costs_are_in_the_expected_order(rows):
    order = ["cpu.call:0", "cpu.syscall", "thread.create", "process.fork", "process.vfork_exec"]
    costs = [median(rows, name) for name in order]
    assert costs == sorted(costs), dict(zip(order, costs))
    for name in ("pipe.self", "switch.thread", "switch.process"):
        assert median(rows, name) > median(rows, "cpu.syscall")
    assert median(rows, "fault.cold") > median(rows, "fault.cached")
    assert median(rows, "fault.cow") > median(rows, "cpu.syscall")


def test_a_disk_fault_takes_at_least_the_time_of_the_disk(rows):
    assert median(rows, "fault.cold") > DISK_NS
    assert rows["fault.cold"]["watched"]["kernel_source"] == "module"
    assert rows["fault.cold"]["watched"]["kernel_ns"] > DISK_NS


def test_latency_grows_with_size(rows):
    sweep = [row for row in rows.values() if is_swept(row) and row["measured"] and
             row["point"].endswith(":64")]
    assert len(sweep) > 10
    assert sweep[-1]["measured"]["min"] > 3 * sweep[0]["measured"]["min"]


def test_sweep_takes_at_most_a_quarter_of_memory(results, rows):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    sizes = [row["point"].split(":")[0] for row in rows.values() if is_swept(row)]
    largest = max(int(size[:-1]) * units[size[-1]] for size in sizes)
    assert largest <= results["machine"]["memory_bytes"] / 4


def test_copying_is_slower_than_the_best_reading_and_writing(rows):
    assert rows["memory.copy"]["measured"]["min"] < max(
        rows[name]["measured"]["max"] for name in ("memory.read", "memory.write"))


@pytest.mark.parametrize("name", ["switch.process", "switch.thread"])
def test_a_context_switch_row_counts_its_switches(rows, name):
    row = rows[name]
    assert each_time(row, "switches") >= 0.99
    seen = row["measured"]["rusage"]["switches"] / row["measured"]["operations"]
    # A process's getrusage(2) misses the partner's half.
    assert seen >= (0.49 if name == "switch.process" else 0.99)


def test_rows_make_the_claimed_system_calls(rows):
    assert each_time(rows["cpu.syscall"], "syscalls") == 1
    assert each_time(rows["pipe.self"], "syscalls") == 2
    assert each_time(rows["cpu.call:7"], "syscalls") == 0


@pytest.mark.parametrize("name", ["fault.anon", "fault.cached", "fault.cow", "fault.cold"])
def test_each_fault_counts_once_and_includes_the_kernels_time(rows, name):
    row = rows[name]
    assert 1 <= each_time(row, "faults") <= 1.01
    assert 0.99 <= row["measured"]["rusage"]["faults"] / row["measured"]["operations"] <= 1.01
    assert each_time(row, "major") == pytest.approx(1 if name == "fault.cold" else 0, abs=0.01)
    assert 0 < row["watched"]["kernel_ns"] < row["watched"]["ns"]


@pytest.mark.parametrize("name", ["file.sequential:1M", "file.random:1M", "file.contend:1"])
def test_each_direct_read_takes_the_time_of_the_disk(rows, name):
    assert rows[name]["measured"]["min"] > DISK_NS


def test_cached_reads_beat_readahead_and_readahead_beats_direct_reads(rows):
    assert median(rows, "file.cached:1M") < median(rows, "file.dropped:1M")
    assert median(rows, "file.dropped:1M") < median(rows, "file.sequential:1M")


def test_round_trips_cost_more_than_system_calls_and_switch(rows):
    assert median(rows, "net.tcp_rtt") > 2 * median(rows, "cpu.syscall")
    assert median(rows, "net.tcp_setup") > median(rows, "cpu.syscall")
    assert each_time(rows["net.tcp_rtt"], "switches") >= 1.98


def test_an_echo_agrees_with_ping(rows):
    """ping(8) has other overhead and prints each reply: within a factor of 30."""
    text = pfstat.run("ping", "-q", "-c", "20", "-i", "0.01", "127.0.0.1").stdout
    least_ns = float(text.split("= ")[1].split("/")[0]) * 1e6
    assert least_ns / 30 < rows["net.icmp_rtt"]["measured"]["median"] < least_ns * 30


def test_faults_of_threads_are_counted(rows):
    for name in ("scale.anon_shared", "scale.anon_own", "scale.cached_shared",
                 "scale.cached_own"):
        for threads in range(1, 5):
            assert 1 <= each_time(rows[f"{name}:{threads}"], "faults") <= 1.05


def test_only_cold_faults_fall_back_to_mmap_lock(rows):
    shares = {name: row["watched"]["mmap_lock_share"] for name, row in rows.items()
              if name.startswith(("scale.", "fault."))}
    cold = shares.pop("fault.cold")
    if pfstat.KERNEL < (6, 4):      # no per-VMA locks
        assert cold is None and not [share for share in shares.values() if share is not None]
        return
    # A fault that waited for the disk is retried under mmap_lock (see module.rst).
    assert cold > 0.95
    assert max(shares.values()) < 0.1, shares


def sectors_read():
    return int(pathlib.Path("/sys/block/nullb0/stat").read_text().split()[2])


def sectors_of_second_reading(path, size, group):
    """Sectors dd reads from the disk when it reads the file twice in this memory cgroup."""
    pfstat.make_file(path, size)
    pfstat.drop_cache()
    for _ in range(2):
        before = sectors_read()
        pfstat.run("sh", "-c", f"echo $$ >{group}/cgroup.procs; "
                   f"exec dd if={path} of=/dev/null bs=256k")
    return sectors_read() - before


def test_a_file_of_cache_size_is_read_again_from_the_cache(rows):
    size = rows["file.cache_size"]["measured"]["median"]
    assert rows["file.cache_size"]["predicted"]["value"] == CACHE_LIMIT
    assert 0.8 * CACHE_LIMIT < size <= CACHE_LIMIT
    assert not list(pathlib.Path("/sys/fs/cgroup").glob("pfdrive-*"))
    path = pfstat.DISK / "cache-size"
    group = pfstat.cgroup("cache-size", "memory")
    try:
        (group / "memory.max").write_text(str(CACHE_LIMIT))
        # dd also needs some memory of its own.
        assert sectors_of_second_reading(path, int(0.9 * size) // 4096 * 4096, group) == 0
        larger = int(1.3 * size) // 4096 * 4096
        assert sectors_of_second_reading(path, larger, group) > larger / 512 / 4
    finally:
        path.unlink()
        group.rmdir()


@pytest.mark.parametrize("name", ["fault.anon", "fault.cow", "fault.cached"])
def test_the_module_times_faults(rows, name):
    assert rows[name]["watched"]["kernel_source"] == "module"


def test_ebpf_times_faults_that_call_no_file_if_the_module_must_not():
    hold = pathlib.Path("/sys/module/pfstat/parameters/hold_faults")
    hold.write_text("N")
    try:
        rows = rows_of(bench("fault.anon", "fault.cached", "--format", "json").stdout)
    finally:
        hold.write_text("Y")
    assert rows["fault.anon"]["watched"]["kernel_source"] == "eBPF"
    assert rows["fault.cached"]["watched"]["kernel_source"] == "module"


def test_rows_are_watched_without_the_module():
    pfstat.unload()
    result = pfstat.report_of(bench("cpu.syscall", "fault.cached", "fault.anon", "--format",
                                    "json").stdout)
    assert result["not_watched"] is None
    rows = {row["name"]: row for row in result["rows"]}
    assert rows["cpu.syscall"]["watched"]["counts"]["syscalls"] > 0
    for name in ("fault.cached", "fault.anon"):
        assert rows[name]["watched"]["kernel_source"] == "eBPF"
        assert rows[name]["watched"]["kernel_ns"] > 0
    assert not [row["contradiction"] for row in result["rows"] if row["contradiction"]]


def test_rows_are_measured_without_root_but_not_watched():
    text = bench("cpu.syscall", "switch", "fault", "file.cache_size", "--format", "json",
                 user=65534, group=65534, extra_groups=[]).stdout
    result = pfstat.report_of(text)
    assert "root" in result["not_watched"]
    assert "memory cgroup" in result["rows"][-1]["missing"]
    assert all(row["measured"] for row in result["rows"][:-1])
    # getrusage(2) still counts switches and faults.
    contradictions = {row["name"]: row["contradiction"] for row in result["rows"]
                      if row["contradiction"]}
    assert not contradictions


def test_rows_without_files_are_measured_without_a_scratch_file():
    rows = rows_of(bench("cpu.syscall", "fault", "--no-bpf", "--format", "json", "--directory",
                         "/proc").stdout)
    assert rows["cpu.syscall"]["measured"] and rows["fault.anon"]["measured"]
    assert "/proc" in rows["fault.cached"]["missing"]


def test_a_disk_fault_needs_a_disk():
    rows = rows_of(bench("fault.cold", "--no-bpf", "--format", "json", "--directory",
                         "/dev/shm").stdout)
    assert "--directory" in rows["fault.cold"]["missing"]


def test_the_page_cache_needs_a_file_system_that_reads_into_it():
    rows = rows_of(bench("file.cache_size", "--no-bpf", "--format", "json", "--directory",
                         "/dev/shm").stdout)
    assert "/dev/shm" in rows["file.cache_size"]["missing"]


def test_a_prediction_of_a_missing_point_is_reported(tmp_path):
    path = tmp_path / "predictions"
    path.write_text("cpu.call:99 = 1\nscale.anon_own:3 = 1\n")
    process = bench("cpu.call", "--no-bpf", "--format", "json", "--predict", path)
    assert "cpu.call:99" in process.stderr and "scale" not in process.stderr


def test_a_given_prediction_replaces_the_formula(tmp_path):
    path = tmp_path / "predictions"
    path.write_text("# mine\ncpu.syscall = 40 * cpu.loop\ncpu.syscall.hardware = 1 us\n")
    rows = rows_of(bench("cpu.syscall", "--no-bpf", "--format", "json", "--predict", path).stdout)
    row = rows["cpu.syscall"]
    assert row["predicted"]["given"] and row["hardware"]["value"] == 1000
    assert row["predicted"]["value"] == pytest.approx(
        40 * rows["cpu.loop"]["measured"]["mean"], abs=0.1)


@pytest.mark.parametrize("options, words", [
    (["--cpu", "1000"], "CPU 1000"),
    (["--predict", "/nowhere"], "/nowhere"),
    (["--predict", "/etc/passwd"], "line 1"),
    (["cpu.loop", "--json", "/nowhere/file"], "/nowhere/file"),
    (["cpu.loop", "--report", "/nowhere/file"], "/nowhere/file"),
])
def test_bad_input_is_refused(options, words):
    process = bench(*options, check=False)
    assert process.returncode == 1
    assert process.stdout == ""
    assert words in process.stderr and process.stderr.count("\n") <= 2


def test_a_signal_ends_bench_and_its_workers():
    process = subprocess.Popen([pfstat.PFDRIVE, "bench", "switch.process"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pfstat.wait_until(lambda: process.poll() is not None or pfstat.children(process.pid))
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert (process.returncode, stdout, stderr) == (130, "", "")
    assert pfstat.run("pgrep", "-c", "pfdrive", check=False).stdout == "0\n"


@pytest.mark.smoke
def test_a_quick_operation_ends_within_5_seconds():
    """The limit applies to each operation."""
    start = time.monotonic()
    bench("process.fork", "--no-bpf")
    assert time.monotonic() - start < 5 + 2


def test_report_has_the_section_and_the_machine(tmp_path):
    path = tmp_path / "report.rst"
    bench("switch.thread", "--no-bpf", "--report", path)
    text = path.read_text()
    assert "\nswitch.thread\n=============\n" in text and "(to be written)" in text
    assert os.uname().release in text


def test_list_names_operations_and_csv_has_rows():
    names = pfstat.run(pfstat.PFDRIVE, "bench", "--list").stdout
    for name in ("cpu.counter_ordered", "memory.l3", "fault.cold"):
        assert name in names
    lines = bench("cpu.loop", "--no-bpf", "--format", "csv").stdout.splitlines()
    assert lines[0].startswith("name,unit,") and lines[1].startswith("cpu.loop,ns,")
    assert json.loads(bench("cpu.loop", "--no-bpf", "--format", "json").stdout)["quick"]

# SPDX-License-Identifier: GPL-2.0-only
"""eBPF alone, on kernels for which there is no module."""
import functools
import json
import os
import pathlib

import pytest

import pfstat
from test_experiments import CLASSES, EXPERIMENTS, PAGES, SIZE, count
from test_study_pressure import LIMITED, STUDY, check_matrix

# On others test_fault_sources.py compares the sources.
pytestmark = [pytest.mark.no_module,
              pytest.mark.needs(pfstat.KERNEL < (6, 1), "a kernel for which there is no module")]

AROUND = pathlib.Path("/sys/kernel/debug/fault_around_bytes")


@functools.lru_cache(maxsize=None)
def experiment(name):
    """eBPF cannot disable fault-around for one program, so it is disabled for all."""
    path = pfstat.make_file(pfstat.DISK / "alone.bin", SIZE)
    before = AROUND.read_text()
    AROUND.write_text("4096")
    try:
        return pfstat.drive(*EXPERIMENTS[name], path)
    finally:
        AROUND.write_text(before)


@pytest.mark.deterministic
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_counts_add_up(name):
    result = experiment(name)
    assert result["environment"]["source"] == "ebpf"
    counts = {c: count(result, c) for c in CLASSES}
    assert result["lost"] == result["events_lost"] == 0
    assert result["calls"] == sum(counts.values())
    assert counts["short"] == result["retried"]
    assert counts["short"] == counts["disk"] + counts["wait"] + counts["readahead"]
    assert counts["long"] + counts["short"] == PAGES == result["faults"]
    rusage = result["rusage"]
    assert rusage["minflt"] + rusage["majflt"] == PAGES
    assert rusage["majflt"] == result["retried"]
    assert counts["around"] == counts["pass"] == counts["error"] == counts["mkwrite"] == 0
    # From getrusage(2), handle_mm_fault(), perf's counters and the records.
    assert result["ledger"]["unexplained"] == 0, result["ledger"]


@pytest.mark.deterministic
def test_read_ahead_rule_predicts_each_count(tmp_path):
    for name in EXPERIMENTS:
        (tmp_path / f"{name}.json").write_text(json.dumps(experiment(name)))
    page = pfstat.run(pfstat.PFBENCH, "faults", tmp_path).stdout
    assert "In all five experiments this run counts exactly" in page
    assert page.count("<td>equal</td>") == len(EXPERIMENTS)


@pytest.mark.deterministic
def test_fault_around_maps_all_pages_read():
    path = pfstat.make_file(pfstat.DISK / "alone.bin", SIZE)
    result = pfstat.drive("--accesses", "8M", path)
    assert result["faults"] < PAGES == result["pages_touched"]
    assert result["readahead"]["read"] == result["readahead"]["mapped"] == PAGES
    assert result["ledger"]["unexplained"] == 0, result["ledger"]


PROGRAMS = {"same": 8, "apart": 4, "server": 4, "execs": 3, "strided": 16}


@pytest.mark.parametrize("name", PROGRAMS)
def test_faults_of_threads_and_children_add_up(name):
    path = pfstat.make_file(pfstat.DISK / "alone-1024.bin", 1024 * pfstat.PAGE)
    pfstat.drop_cache()
    result, _ = pfstat.record(pfstat.BUILD / "workload", name, path, PROGRAMS[name],
                              options=("--perf-faults",))
    pfstat.assert_nothing_lost(result)
    assert result["calls"] > 100
    assert count(result, "disk") > 0


def test_writes_to_a_shared_mapping_are_recorded(tmp_path):
    path = pfstat.make_file(pfstat.DISK / "written.bin", 256 * pfstat.PAGE)
    recording = tmp_path / "run.pfs"
    pfstat.drop_cache()
    pfstat.record(pfstat.BUILD / "touch_pages", path, "write", *range(0, 64),
                  options=("-o", recording))
    result = pfstat.report(recording)
    assert result["lost"] == result["events_lost"] == 0
    assert count(result, "mkwrite") == 64
    # The ledger does not add up: the kernel repeats a fault that has written to a file, and counts
    # it as major.
    lines = pfstat.run(pfstat.BUILD / "records_dump", recording).stdout.splitlines()
    names = lines[0].lstrip("# ").split()
    records = [pfstat.parse_record(names, line.split()) for line in lines[1:]]
    inode = os.stat(path).st_ino
    assert {record["pgoff"] for record in records if record["inode"] == inode} == set(range(64))


@pytest.mark.deterministic
def test_the_matrix_has_all_pages_that_are_swapped_in():
    with pfstat.swap_disk("aloneswap"):
        result = pfstat.drive("--map", "anon+populate", "--size", "12M", "--write", "100%",
                              "--pattern", "stride:4K", "--accesses", "6000", *LIMITED,
                              "--compete", "0.75:sequential", command=STUDY)
    swapped = check_matrix(result["competition"])
    assert sum(row["the run"] for row in swapped["evicted_by"].values()) > 0
    swap_ins = result["competition"]["with"]["faults"]["swap"]
    assert swap_ins["major"] > 0
    assert result["parts"]["classes"]["swap"]["count"] == swap_ins["count"]


@pytest.mark.parametrize("command", [
    ("check", "--max-major", "100000", "--", "true"),
    ("top", "-i", "0.2", "--", "sleep", "0.5"),
], ids=lambda command: command[0])
def test_other_commands_state_the_source(command):
    lines = pfstat.run(pfstat.PFDRIVE, *command).stdout.splitlines()
    assert "measured with eBPF, without the pfstat module" in lines[:2]


def test_doctor_reports_that_ebpf_measures():
    done = pfstat.run(pfstat.PFDRIVE, "doctor", check=False)
    assert done.returncode == 0, done.stdout
    lines = {line[9:22].strip(): line for line in done.stdout.splitlines()}
    assert lines["module"].split()[0] == "limited"
    assert "pfdrive uses eBPF instead" in lines["module"]

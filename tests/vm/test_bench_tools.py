# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive bench agrees with perf bench, stress-ng, fio, each within what is said at it."""
import json
import pathlib
import re

import pytest

import pfstat

pytestmark = pytest.mark.deterministic


@pytest.fixture(name="rows", scope="module")
def of_one_run():
    text = pfstat.run(pfstat.PFDRIVE, "bench", "--quick", "--no-bpf", "--format", "json",
                      "--directory", pfstat.DISK, "cpu.syscall", "pipe", "switch.process", "thread",
                      "fault.anon", "file.sequential", "file.random").stdout
    return {row["name"]: row for row in pfstat.report_of(text)["rows"]}


def mean(rows, name):
    assert rows[name]["measured"], rows[name]["missing"]
    return rows[name]["measured"]["mean"]


def perf_bench_ns(*words):
    text = pfstat.run("perf", "bench", *words).stdout
    return 1000 * float(re.search(r"([0-9.]+) usecs/op", text).group(1))


def context_switches():
    """Of all CPUs, so far."""
    text = pathlib.Path("/proc/stat").read_text(encoding="utf-8")
    return int(re.search(r"^ctxt (\d+)$", text, re.MULTILINE)[1])


def stress_ng_ns(name, operations, words, *options):
    """What its table of metrics says in these words."""
    process = pfstat.run("stress-ng", f"--{name}", "1", f"--{name}-ops", str(operations),
                         "--metrics", *options)
    return float(re.search(rf"([0-9.]+) {words}", process.stdout + process.stderr).group(1))


def is_within(factor, ours, theirs):
    return theirs / factor < ours < theirs * factor


def fio_ns(way):
    out = "/tmp/fio.json"
    pfstat.run("fio", "--name=agreement", f"--directory={pfstat.DISK}", f"--rw={way}", "--bs=4k",
               "--size=4M", "--direct=1", "--ioengine=psync", "--output-format=json",
               f"--output={out}")
    with open(out, encoding="utf-8") as file:
        return json.load(file)["jobs"][0]["read"]["lat_ns"]["mean"]


def test_a_system_call_takes_what_perf_bench_says(rows):
    """Its loop is in its figure: within 5 %."""
    assert mean(rows, "cpu.syscall") == pytest.approx(
        perf_bench_ns("syscall", "basic", "-l", "30000"), rel=0.05)


@pytest.mark.parametrize("row, way", [("file.random:4M", "randread"),
                                      ("file.sequential:4M", "read")])
def test_a_block_takes_what_fio_says(rows, row, way):
    """It reads its clock for each block: within 5 %."""
    assert mean(rows, row) == pytest.approx(fio_ns(way), rel=0.05)


def test_a_round_through_pipes_takes_what_perf_bench_says(rows):
    """Two messages, and switches: two, or one where a message finds its reader under way (7.2).

    Starting its processes is in its figure: within 15 %.
    """
    perf_bench_ns("sched", "pipe", "-l", "1000")        # the first time it is read from the disk
    before = context_switches()
    theirs = perf_bench_ns("sched", "pipe", "-l", "12000")
    switches = (context_switches() - before) / 12000
    ours = switches * mean(rows, "switch.process") + 2 * mean(rows, "pipe.self")
    assert ours == pytest.approx(theirs, rel=0.15)


def test_a_switch_takes_what_stress_ng_says(rows):
    """Its pipe holds one message: each takes a switch there and one back. Within 10 %."""
    ours = 2 * mean(rows, "switch.process") + mean(rows, "pipe.self")
    assert ours == pytest.approx(stress_ng_ns(
        "switch", 10000, "nanosecs per context switch"), rel=0.1)


def test_a_thread_takes_what_stress_ng_says(rows):
    """Until it runs; pfdrive's until it has ended as well: within a factor of 2."""
    assert is_within(2, mean(rows, "thread.create"), stress_ng_ns(
        "pthread", 200, "nanosecs to start a pthread", "--pthread-max", "1"))


def test_a_fault_takes_what_stress_ng_says(rows):
    """Its faults are on pages of files, not of anonymous memory: within a factor of 2."""
    assert is_within(2, mean(rows, "fault.anon"), stress_ng_ns(
        "fault", 300, "nanosecs per page fault"))

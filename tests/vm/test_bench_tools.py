# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive bench agrees with perf bench, stress-ng and fio, within the tolerance of each test."""
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
    """Context switches on all CPUs since boot."""
    text = pathlib.Path("/proc/stat").read_text(encoding="utf-8")
    return int(re.search(r"^ctxt (\d+)$", text, re.MULTILINE)[1])


def stress_ng_ns(name, operations, words, *options):
    """The metric with this name in the stress-ng table."""
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


def test_system_call_agrees_with_perf_bench(rows):
    """perf's figure includes the loop: within 5 %."""
    assert mean(rows, "cpu.syscall") == pytest.approx(
        perf_bench_ns("syscall", "basic", "-l", "30000"), rel=0.05)


@pytest.mark.parametrize("row, way", [("file.random:4M", "randread"),
                                      ("file.sequential:4M", "read")])
def test_file_read_agrees_with_fio(rows, row, way):
    """fio reads the clock for each block: within 5 %."""
    assert mean(rows, row) == pytest.approx(fio_ns(way), rel=0.05)


def test_round_trip_through_pipes_agrees_with_perf_bench(rows):
    """A round trip is two messages and two switches, or one if the reader still runs (7.2).

    perf's figure includes process start: within 15 %.
    """
    perf_bench_ns("sched", "pipe", "-l", "1000")        # loads the program from the disk
    before = context_switches()
    theirs = perf_bench_ns("sched", "pipe", "-l", "12000")
    switches = (context_switches() - before) / 12000
    ours = switches * mean(rows, "switch.process") + 2 * mean(rows, "pipe.self")
    assert ours == pytest.approx(theirs, rel=0.15)


def test_context_switch_agrees_with_stress_ng(rows):
    """The pipe holds one message, so each message needs two switches: within 10 %."""
    ours = 2 * mean(rows, "switch.process") + mean(rows, "pipe.self")
    assert ours == pytest.approx(stress_ng_ns(
        "switch", 10000, "nanosecs per context switch"), rel=0.1)


def test_thread_agrees_with_stress_ng(rows):
    """stress-ng times a thread's start, pfdrive also the thread's exit: within a factor of 2."""
    assert is_within(2, mean(rows, "thread.create"), stress_ng_ns(
        "pthread", 200, "nanosecs to start a pthread", "--pthread-max", "1"))


def test_fault_agrees_with_stress_ng(rows):
    """stress-ng faults on file pages, pfdrive on anonymous memory: within a factor of 2."""
    assert is_within(2, mean(rows, "fault.anon"), stress_ng_ns(
        "fault", 300, "nanosecs per page fault"))

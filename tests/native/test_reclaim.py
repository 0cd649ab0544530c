# SPDX-License-Identifier: GPL-2.0-only
"""Reclaim in the recorded program's threads, for root: perf's events of the kernel's tracepoints."""
import contextlib
import os
import pathlib
import re
import sys

import pytest

TRACEFS = pathlib.Path("/sys/kernel/tracing")
COMPACT = "/proc/sys/vm/compact_memory"
# The kernel compacts each zone in the writing thread.
PROGRAM = f"""
import os, sys
print(os.getpid())
for _ in range(int(sys.argv[1])):
    with open("{COMPACT}", "w") as file:
        file.write("1")
"""
AS_ROOT = pytest.mark.parametrize("caller", ["root"], indirect=True)
AS_USER = pytest.mark.parametrize("caller", ["user"], indirect=True)
ROOT = pytest.mark.needs(os.geteuid() == 0, "root, to compact memory")
TRACES = pytest.mark.needs(os.access(TRACEFS / "events/compaction", os.R_OK), "tracefs")
COMPACTS = pytest.mark.needs(os.path.exists(COMPACT), "CONFIG_COMPACTION")


@contextlib.contextmanager
def traced(name):
    """ftrace's own lines for a tracepoint, as a function to call."""
    instance = TRACEFS / f"instances/pfstat-{os.getpid()}"
    instance.mkdir()
    try:
        (instance / f"events/{name}/enable").write_text("1")
        yield lambda: (instance / "trace").read_text().splitlines()
    finally:
        (instance / f"events/{name}/enable").write_text("0")
        instance.rmdir()


def compact(caller, times):
    return caller.record(sys.executable, "-c", PROGRAM, times)


@ROOT
@TRACES
@COMPACTS
@AS_ROOT
def test_root_gets_each_compaction_that_the_kernel_traces(caller):
    with traced("compaction/mm_compaction_end") as lines:
        recording = compact(caller, 3)
        report = recording.report()
        pid, = {row["pid"] for row in recording.rows}
        expected = sum(bool(re.search(rf"-{pid} ", line)) for line in lines())
    assert expected >= 3
    found = report["reclaims"]["compaction"]
    assert found["count"] == expected and found["total_ns"] > 0
    assert report["events_lost"] == 0
    assert report["reclaims"]["throttle"] is None
    text = " ".join(recording.print().split())
    assert "on and off the CPU, and reclaim; adds" in text
    assert f"{expected} compactions" in text


@ROOT
@TRACES
@COMPACTS
@AS_ROOT
def test_a_compaction_by_another_program_is_not_counted(caller):
    with caller.recorder("--output", caller.folder / "other.pfs", "--", "sleep", "1") as process:
        pathlib.Path(COMPACT).write_text("1")
        process.communicate()
    assert process.returncode == 0
    report = caller.run("report", "--format", "json", caller.folder / "other.pfs").stdout
    assert '"compaction":{"count":0' in re.sub(r"\s", "", report)


@AS_USER
def test_reclaim_is_not_known_to_a_user(caller):
    recording = caller.record("true")
    report = recording.report()
    assert report["reclaims"] is None
    assert report["parts"]["all"]["parts"]["reclaim"]["total_ns"] is None
    assert "and reclaim" not in " ".join(recording.print().split())

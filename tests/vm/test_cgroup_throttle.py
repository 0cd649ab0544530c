# SPDX-License-Identifier: GPL-2.0-only
"""A program faults in a cgroup with used-up CPU time, or above memory.high. The report names the
limit and has the counts. Without a limit, the report has no line about limits."""
import contextlib
import pathlib
import signal
import subprocess

import pytest

import pfstat
from pfstat import PFDRIVE, begin_record, run, wait_until

RECORDING = pathlib.Path("/tmp/cgroup_throttle.pfs")
MIB = 1 << 20
# v6.18: threads are held back on their way to user space, so never in a fault.
HELD_IN_FAULTS = pfstat.KERNEL < (6, 18)

TOUCH = """
import mmap
while True:
    memory = mmap.mmap(-1, {bytes})
    for at in range(0, {bytes}, mmap.PAGESIZE):
        memory[at] = 1
    memory.close()
"""


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")), "ebpf"])
def fixture_source(request):
    return request.param


@contextlib.contextmanager
def cgroup_of(nr_bytes, **limits):
    """A cgroup with these limits, with a program in it that touches new memory."""
    group = pfstat.cgroup("limited", "cpu", "memory")
    with subprocess.Popen(["python3", "-c", TOUCH.format(bytes=nr_bytes)]) as process:
        try:
            (group / "cgroup.procs").write_text(str(process.pid))
            for name, value in limits.items():
                (group / name.replace("_", ".")).write_text(str(value))
            yield group
        finally:
            process.kill()
            process.wait()
            wait_until(lambda: is_removed(group))


def is_removed(group):
    """Tries to remove the cgroup. pfdrive's last processes may outlive pfdrive for a moment."""
    try:
        group.rmdir()
    except OSError:
        return False
    return True


def counted(group, name, key):
    words = (group / name).read_text().split()
    return int(words[words.index(key) + 1])


def record_until(group, source, number, count):
    """Records the cgroup until the count has grown by the number. Returns the JSON and the text."""
    process = begin_record("--cgroup", group, "--source", source, "-o", RECORDING)
    start = count()
    wait_until(lambda: count() >= start + number)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, stderr
    text = " ".join(run(PFDRIVE, "report", RECORDING).stdout.split())
    return pfstat.report(RECORDING), text


def rules(result):
    return {cause["rule"]: cause["text"] for cause in result["verdict"]["causes"]}


@pytest.mark.smoke
def test_used_up_cpu_time_is_counted_and_named(source):
    with cgroup_of(MIB, cpu_max="20000 100000") as group:
        result, text = record_until(
            group, source, 30, lambda: counted(group, "cpu.stat", "nr_throttled"))
        most = counted(group, "cpu.stat", "nr_throttled")
    limits, held = result["cgroup_limits"], result["cpu_limit"]
    assert limits["path"] == limits["cpu"]["path"] == str(group)
    assert limits["cpu"]["quota_ns"] == 20000000 and limits["cpu"]["period_ns"] == 100000000
    assert 30 <= limits["cpu"]["throttled"] <= most
    assert limits["cpu"]["throttled"] <= limits["cpu"]["periods"]
    assert limits["cpu"]["throttled_ns"] > 0
    assert limits["memory"] is None
    assert f"CPU limit cpu.max of {group} (20 ms of 100 ms): used up in " in text
    assert held["count"] > 0 and held["total_ns"] > 0
    waits = result["cpu_waits"]["throttled"]
    assert waits["count"] <= held["count"] and waits["total_ns"] <= held["total_ns"]
    # Chance decides whether a thread is held back in a fault.
    assert HELD_IN_FAULTS or not waits["count"]
    assert "while its cgroup had used up its CPU time (cpu.max)" in rules(result)["cpu-limit"]
    assert f"The CPU time of the cgroup {group} was used up in" in rules(result)["cpu-limit"]


def test_quota_of_a_parent_is_named(source):
    with cgroup_of(MIB, cpu_max="20000 100000") as group:
        child = group / "child"
        child.mkdir()
        try:
            (child / "cgroup.procs").write_text((group / "cgroup.procs").read_text().split()[0])
            result, text = record_until(
                child, source, 10, lambda: counted(group, "cpu.stat", "nr_throttled"))
        finally:
            (group / "cgroup.procs").write_text((child / "cgroup.procs").read_text().split()[0])
            child.rmdir()
    assert result["cgroup_limits"]["path"] == str(child)
    assert result["cgroup_limits"]["cpu"]["path"] == str(group)
    assert result["cgroup_limits"]["cpu"]["throttled"] > 0
    assert result["cpu_limit"]["count"] > 0
    assert f"cpu.max of {group} (20 ms of 100 ms): used up in " in text


def test_memory_high_is_counted_and_named(source):
    with cgroup_of(16 * MIB, memory_swap_max=0, memory_high=8 * MIB) as group:
        result, text = record_until(
            group, source, 5, lambda: counted(group, "memory.events.local", "high"))
        most = counted(group, "memory.events.local", "high")
        has_pressure = (group / "memory.pressure").exists()
    limits = result["cgroup_limits"]
    assert limits["cpu"] is None
    assert limits["memory"]["path"] == str(group)
    assert limits["memory"]["high_bytes"] == 8 * MIB
    assert 5 <= limits["memory"]["high"] <= most
    assert f"Memory events of {group}, memory.high (8 MiB) exceeded " in text
    assert "CPU limit" not in text
    full = limits["pressure"]["memory_full_ns"]
    assert (full is not None) == has_pressure
    if has_pressure:
        assert 0 < full <= limits["pressure"]["memory_some_ns"]
    assert "cpu-limit" not in rules(result)


def test_cgroup_without_limits_has_no_sentence(source):
    with cgroup_of(MIB) as group:
        result, text = record_until(
            group, source, 500000, lambda: counted(group, "cpu.stat", "usage_usec"))
    limits = result["cgroup_limits"]
    assert limits["path"] == str(group)
    assert limits["cpu"] is None and limits["memory"] is None
    assert result["cpu_limit"] is None or result["cpu_limit"]["count"] == 0
    assert "CPU limit" not in text and "Memory events" not in text
    assert "cpu-limit" not in rules(result)


def test_limits_of_a_cgroup_that_a_command_left_are_not_stated():
    group = pfstat.cgroup("limited", "cpu")
    try:
        # The root has no limits.
        assert pfstat.record("true")[0]["cgroup_limits"] is None
        for command, path in (("true", str(group)),
                              ("echo $$ >/sys/fs/cgroup/cgroup.procs", None)):
            run("sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", PFDRIVE, "record",
                "-o", RECORDING, "--", "sh", "-c", command)
            limits = pfstat.report(RECORDING)["cgroup_limits"]
            assert (limits and limits["path"]) == path
    finally:
        wait_until(lambda: is_removed(group))

# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive run with the module and eBPF: what it refuses, what it leaves, and counts that add up."""
import contextlib
import json
import os
import signal
import subprocess

import pytest

import pfstat
from pfstat import Mapping, Session

FOREVER = "4000G"       # accesses


@contextlib.contextmanager
def unmounted(place, kind):
    pfstat.run("umount", place)
    try:
        yield
    finally:
        pfstat.run("mount", "-t", kind, kind, place)


@pytest.fixture
def running(small_file):
    """A pfdrive that is making accesses."""
    process = subprocess.Popen([pfstat.PFDRIVE, "--accesses", FOREVER, small_file],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pfstat.wait_until(lambda: pfstat.makes_accesses(process.pid))
    yield process
    process.kill()
    process.communicate()


def test_a_file_that_is_too_large_is_refused(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        os.truncate(file.fileno(), 1 << 47)     # sparse, on a tmpfs
    assert "too large" in pfstat.refused(1, tmp_path / "large")


def test_an_unreadable_file_is_refused(small_file):
    os.chmod(small_file, 0)
    assert "permission denied" in pfstat.refused(1, small_file, user=65534, group=65534,
                                                 extra_groups=[])


def test_missing_root_is_reported(small_file):
    assert "sudo" in pfstat.refused(1, small_file, user=65534, group=65534, extra_groups=[])


def test_missing_module_is_reported(small_file):
    pfstat.unload()
    for option in ("--fault-around=off", "--source=module"):
        assert f"run 'insmod {pfstat.MODULE}' as root" in pfstat.refused(1, option, small_file)


def test_the_module_is_reached_without_debugfs(small_file):
    with unmounted("/sys/kernel/debug", "debugfs"):
        assert pfstat.drive("--accesses", "10", small_file)["ledger"]["unexplained"] == 0


def test_the_module_is_reached_without_devices(small_file):
    """As in a container."""
    hidden = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none {pfstat.DEVICES}; "
              'exec "$0" "$@"', pfstat.PFDRIVE, "--source", "module", "--accesses", "10",
              small_file]
    pfstat.run(*hidden)
    with unmounted("/sys/kernel/debug", "debugfs"):
        result = pfstat.run(*hidden, check=False)
    assert result.returncode == 1 and "mount -t debugfs" in result.stderr
    assert "there is no /dev/pfstat" in result.stderr


def test_missing_bpffs_is_reported(small_file):
    with unmounted("/sys/fs/bpf", "bpf"):
        assert "mount -t bpf" in pfstat.refused(1, small_file)
        result = pfstat.drive("--no-bpf", "--accesses", "10", small_file)
    assert result["syscalls"] is None
    assert result["classes"]["disk"]["off_cpu_ns"] is None


def test_missing_privilege_for_ebpf_is_reported(small_file):
    """Root with reduced privileges: pfdrive names the missing one, or runs without eBPF on request.
    """
    bounded = ["setpriv", "--bounding-set", "-bpf,-sys_admin", "--inh-caps", "-bpf,-sys_admin",
               pfstat.PFDRIVE, "--accesses", "10", small_file]
    result = pfstat.run(*bounded, check=False)
    assert result.returncode == 1
    assert "without CAP_BPF" in result.stderr and "--no-bpf" in result.stderr


def test_the_holder_is_named(running, small_file):
    assert f"held by pfdrive (pid {running.pid})" in pfstat.refused(1, small_file)
    assert running.poll() is None


def test_holder_of_control_is_named(small_file):
    pfstat.control(f"pid {os.getpid()}")
    assert "'stop'" in pfstat.refused(1, small_file)


def test_pages_that_stay_in_the_cache_are_counted(small_file):
    with Mapping(small_file) as mapping:
        for page in range(256):
            mapping.read(page)
        assert "256 of 256 pages" in pfstat.refused(1, small_file)


def test_pins_exist_while_it_runs(running):
    assert {pin.name for pin in pfstat.PINS.iterdir()} >= {
        "targets", "syscalls", "counts", "events", "on_sched_switch", "on_sys_enter", "on_sys_exit"}
    for name in ("syscalls", "targets", "counts"):
        json.loads(pfstat.run("bpftool", "-j", "map", "dump", "pinned", pfstat.PINS / name).stdout)
    assert "on_sched_switch" in pfstat.run("bpftool", "prog", "show", "pinned",
                                           pfstat.PINS / "on_sched_switch").stdout


def test_a_signal_ends_it_cleanly(running):
    running.terminate()
    stdout, stderr = running.communicate(timeout=pfstat.PATIENCE)
    assert running.returncode == 128 + signal.SIGTERM
    assert (stdout, stderr) == ("", "")
    assert not pfstat.PINS.exists()
    assert pfstat.hooked() == 0


def test_pins_of_a_killed_pfdrive_are_removed(running, small_file):
    assert pfstat.PINS.exists()
    running.kill()
    running.communicate()
    pfstat.wait_until(lambda: not pfstat.PINS.exists() and not pfstat.hooked())
    pfstat.drive("--accesses", "10", small_file)
    assert not pfstat.PINS.exists()


PATTERNS = ["random", "sequential", "stride:4K", "stride:64K"]


# Each pair of choices.
@pytest.mark.parametrize("pattern, around, cache", [
    (pattern, around, cache) for pattern in PATTERNS for around in ("keep", "off")
    for cache in ("cold", "warm")
    if not (PATTERNS.index(pattern) + (around == "off") + (cache == "warm")) % 2])
def test_counts_add_up(pattern, around, cache, small_file):
    result = pfstat.drive("--pattern", pattern, "--cache", cache, "--fault-around", around,
                          small_file)
    pfstat.assert_nothing_lost(result)
    assert result["calls"] == sum(c["count"] for c in result["classes"].values())
    assert result["rusage"]["minflt"] + result["rusage"]["majflt"] == result["faults"]
    assert result["pages_touched"] == 256
    assert result["environment"]["resident_pages"] == (256 if cache == "warm" else 0)


@pytest.mark.smoke
def test_off_cpu_intervals_match_the_context_switches(small_file):
    result = pfstat.drive("--fault-around", "off", small_file)
    switches = result["rusage"]["nvcsw"] + result["rusage"]["nivcsw"]
    # At the edges one interval may be seen by only one of eBPF and getrusage.
    assert abs(result["off_cpu_count"] - switches) <= 1


@pytest.mark.deterministic
def test_a_disk_fault_has_off_cpu_time(small_file):
    # If the emulated CPUs share a host CPU, a request may complete before the thread sleeps.
    result = pfstat.drive("--fault-around", "off", small_file)
    disk = result["classes"]["disk"]["count"]
    assert disk > 0
    assert result["rusage"]["nvcsw"] >= disk


def test_system_calls_match_the_run(small_file):
    calls = {call["name"]: call["count"] for call in pfstat.drive(small_file)["syscalls"]}
    assert calls.pop("getrusage") == 2
    assert set(calls) <= {"clock_gettime"}


def test_losses_of_a_ring_of_one_page_are_reported(small_file):
    pages = 11264
    big = pfstat.make_file(pfstat.DISK / "big", pages * pfstat.PAGE)
    options = ("--ring-size", "4K", "--fault-around", "off", "--cache", "warm", "--pattern",
               f"stride:{pfstat.PAGE}", "--accesses", pages, big)
    result = pfstat.drive(*options)
    read = sum(c["count"] for c in result["classes"].values())
    assert result["calls"] == pages == read + result["lost"]
    assert result["lost"] > 0
    table = pfstat.run(pfstat.PFDRIVE, *options).stdout
    assert "LOST" in table


def test_only_the_cache_of_this_file_is_dropped(small_file):
    other = pfstat.make_file(pfstat.DISK / "other", 64 * pfstat.PAGE)
    pfstat.warm(other)
    pfstat.drive("--cache", "cold", "--accesses", "10", small_file)
    with Session("fault_around off") as session, Mapping(other) as mapping:
        session.command(f"file {mapping.fd()}")
        for page in range(64):
            mapping.read(page)
        assert pfstat.classes(pfstat.log()[1]) == {"long": 64}

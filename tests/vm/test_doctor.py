# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive doctor in the guest: it is right about a machine that works, and about one that does
not."""
import os
import pathlib
import shlex

import pytest

import pfstat
from pfstat import PFDRIVE, run

# The checks that the guest passes. Others depend on its kernel and its emulated processor.
PASSED = {"module", "capabilities", "debugfs", "BTF", "bpffs", "symbols", "page size",
          "path"} | (set() if pfstat.ARM64 else {"all faults"})
STATES = ("ok", "limited", "missing")

RELEASE = os.uname().release
CLOCKS = "sys/devices/system/clocksource/clocksource0"
COPIED = ("etc/os-release", "proc/sys/kernel/osrelease",
          str(pfstat.kernel_config_file()).removeprefix("/"), "proc/keys",
          "sys/module/module/parameters/sig_enforce", "proc/sys/kernel/kptr_restrict",
          "sys/module/pfstat/version", "sys/module/pfstat/parameters/hold_faults",
          "proc/self/status", "proc/sys/kernel/perf_event_paranoid", "proc/self/mounts",
          "proc/swaps", "sys/fs/cgroup/cgroup.controllers", f"{CLOCKS}/current_clocksource",
          f"{CLOCKS}/available_clocksource")
# Only their existence is checked. The guest of arm64 has no headers: they are where it is built.
LARGE = ("sys/kernel/btf/vmlinux", "proc/kallsyms", f"lib/modules/{RELEASE}/build/Makefile")
LINKS = ("proc/self/ns/user", "proc/self/ns/pid")


def parse(text):
    """{check: (state, text)} of the lines; their sum is the last line."""
    *lines, last = text.splitlines()
    checks = {line[9:22].strip(): (line[:8].strip(), line[23:]) for line in lines}
    states = [state for state, _ in checks.values()]
    assert len(checks) == len(lines)
    assert last == ", ".join(f"{states.count(state)} {state}" for state in STATES)
    return checks


def doctor(*arguments, status=0):
    done = run(PFDRIVE, "doctor", *arguments, check=False)
    assert done.returncode == status and done.stderr == "", (done.stdout, done.stderr)
    return parse(done.stdout)


@pytest.fixture(name="copy")
def fixture_copy(tmp_path):
    """A folder with the files of this guest that doctor reads."""
    for name in COPIED + LARGE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name in LARGE else pathlib.Path("/", name).read_bytes())
    (tmp_path / "sys/kernel/debug").mkdir()
    (tmp_path / "proc/self/ns").mkdir()
    for name in LINKS:
        os.symlink(os.readlink(f"/{name}"), tmp_path / name)
    os.symlink(PFDRIVE.resolve(), tmp_path / "proc/self/exe")
    return tmp_path


def test_guest_that_measures_misses_nothing():
    checks = doctor(pfstat.DISK)
    assert {name for name in PASSED if checks[name][0] == "ok"} == PASSED, checks
    assert all(state != "missing" for state, _ in checks.values())
    assert checks["path"][1].startswith(f"'{pfstat.DISK}' is on ext4, device ")


def test_command_of_the_module_check_loads_the_module():
    pfstat.unload()
    state, text = doctor()["module"]
    assert state == "limited"
    assert "not loaded; pfdrive uses eBPF instead; run: insmod " in text
    run(*shlex.split(text.split("; run: ")[1]))
    assert doctor()["module"][0] == "ok"


def test_missing_debugfs_is_mounted_by_the_command():
    """In a mount namespace of its own, so that no other test misses it."""
    command = f"{PFDRIVE} doctor"
    before = f"umount --recursive --lazy /sys/kernel/debug; {command}"
    done = run("unshare", "--mount", "sh", "-c", before, check=False)
    state, text = parse(done.stdout)["debugfs"]
    assert done.returncode == 0 and state == "limited" and text.startswith("not mounted: ")
    fix = text.split("; run: ")[1]
    done = run("unshare", "--mount", "sh", "-c", f"{before} >/dev/null; {fix}; {command}")
    assert parse(done.stdout)["debugfs"] == ("ok", "mounted and readable")


def test_path_without_a_disk_is_missing(tmp_path):
    run("mount", "-t", "tmpfs", "none", tmp_path)
    try:
        state, text = doctor(tmp_path, status=3)["path"]
    finally:
        run("umount", tmp_path)
    assert state == "missing" and f"'{tmp_path}' is on tmpfs, which has no disk" in text


def test_report_begins_with_versions_and_kernel():
    machine, checks = run(PFDRIVE, "doctor", "--report").stdout.split("\n\n")
    facts = {line[:14].strip(): line[15:] for line in machine.splitlines() if "=" not in line}
    assert list(facts)[:4] == ["pfdrive", "module", "distribution", "kernel"]
    assert facts["pfdrive"] == facts["module"]
    assert facts["kernel"] == os.uname().release
    assert int(facts["CPUs"]) == os.cpu_count()
    assert "CONFIG_KPROBES=y" in machine.splitlines()
    assert parse(checks)["module"] == ("ok", f"loaded, version {facts['pfdrive']}")


@pytest.mark.parametrize("name, check, state", [
    ("sys/kernel/btf/vmlinux", "BTF", "limited"),
    ("proc/kallsyms", "symbols", "missing"),
    ("proc/swaps", "swap", "limited"),
    ("sys/fs/cgroup/cgroup.controllers", "cgroup v2", "limited"),
    (f"lib/modules/{RELEASE}/build/Makefile", "headers", "limited"),
    ("sys/module/pfstat/version", "module", "limited"),
])
def test_missing_file_changes_one_line_of_a_copied_machine(name, check, state, copy):
    whole = doctor("--root", copy)
    differ = {key for key, line in doctor().items() if whole[key] != line}
    assert differ == ({"headers"} if pfstat.ARM64 else set())
    (copy / name).unlink()
    checks = doctor("--root", copy, status=3 if state == "missing" else 0)
    assert {key for key in whole if checks[key] != whole[key]} == {check}
    assert checks[check][0] == state

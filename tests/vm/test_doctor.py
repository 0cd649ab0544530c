# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive doctor in the guest: it is right about a working machine, and about one that does not
work. doctor tries each source as the calling user, so the answer is compared with what this user
can do."""
import contextlib
import errno
import os
import pathlib
import shlex

import pytest

import pfstat
import syscall_filter
from pfstat import PFDRIVE, run

# The checks passed by the guest. Others depend on the guest's kernel and emulated processor.
PASSED = {"module", "capabilities", "debugfs", "eBPF", "bpffs", "perf", "symbols",
          "page size", "path"} | (set() if pfstat.ARM64 else {"all faults"})
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

PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
PARTS = "the parts of each fault, disk requests"
CALLS = "each file operation call"
WITH_PERF = "pfdrive measures here with perf: whole faults"
AS_USER = {"user": 65534, "group": 65534, "extra_groups": []}


def parse(text):
    """{check: (state, text)} for the lines after the answer. Their sum is the last line."""
    _, *lines, last = text.splitlines()
    checks = {line[9:22].strip(): (line[:8].strip(), line[23:]) for line in lines}
    states = [state for state, _ in checks.values()]
    assert len(checks) == len(lines)
    assert last == ", ".join(f"{states.count(state)} {state}" for state in STATES)
    return checks


def whole_doctor(*arguments, status=0, **kwargs):
    """The answer, and the checks."""
    done = run(PFDRIVE, "doctor", *arguments, check=False, **kwargs)
    assert done.returncode == status and done.stderr == "", (done.stdout, done.stderr)
    return done.stdout.splitlines()[0], parse(done.stdout)


def doctor(*arguments, **kwargs):
    return whole_doctor(*arguments, **kwargs)[1]


@contextlib.contextmanager
def paranoid(level):
    before = PARANOID.read_text()
    PARANOID.write_text(str(level))
    try:
        yield
    finally:
        PARANOID.write_text(before)


@pytest.fixture(name="copy")
def fixture_copy(tmp_path):
    """A folder with the guest files read by doctor."""
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
    answer, checks = whole_doctor(pfstat.DISK)
    assert answer == f"pfdrive measures here with the module and eBPF: {CALLS}, {PARTS}"
    assert {name for name in PASSED if checks[name][0] == "ok"} == PASSED, checks
    assert all(state != "missing" for state, _ in checks.values())
    assert checks["path"][1].startswith(f"'{pfstat.DISK}' is on ext4, device ")


def test_command_of_the_module_check_loads_the_module():
    pfstat.unload()
    answer, checks = whole_doctor()
    assert answer == f"pfdrive measures here with eBPF: {CALLS}, {PARTS}"
    state, text = checks["module"]
    assert state == "limited"
    assert "not loaded; pfdrive uses eBPF instead; run: insmod " in text
    run(*shlex.split(text.split("; run: ")[1]))
    assert doctor()["module"][0] == "ok"


def test_a_module_that_records_is_busy():
    with open(pfstat.DEBUGFS / "session", "r+", encoding="ascii"):
        answer, checks = whole_doctor()
    assert answer.endswith("; another measurement is running now")
    assert checks["module"][0] == "limited" and "the recorder is held by " in checks["module"][1]


def test_doctor_disturbs_no_measurement(small_file, tmp_path):
    """It loads the programs, but claims nothing and removes no pin."""
    recording = tmp_path / "run.pfs"
    process = pfstat.begin_record("-o", recording, "--", "sleep", "30")
    try:
        answer, checks = whole_doctor()
        pins = list(pathlib.Path("/sys/fs/bpf/pfstat").iterdir())
    finally:
        process.terminate()
        process.wait()
    assert answer.startswith("pfdrive measures here with the module and eBPF: ")
    assert checks["eBPF"] == ("ok", "tried: the programs can be loaded")
    assert pins and small_file.exists()


@pytest.mark.parametrize("loaded", [True, False], ids=["module", "no-module"])
def test_a_user_measures_its_own_processes_with_perf(loaded):
    if not loaded:
        pfstat.unload()
    with paranoid(2):
        answer, checks = whole_doctor(**AS_USER)
        recorded = run(PFDRIVE, "record", "--", "true", cwd="/", **AS_USER).stdout
    assert answer == (f"{WITH_PERF} except those in system calls, no disk requests, no reasons of "
                      "sleeps; with sudo: these too, and perhaps "
                      f"{'the module and ' if loaded else ''}eBPF: {PARTS}")
    assert " Source perf: whole faults" in " ".join(recorded.split())
    assert checks["perf"][0] == "limited"
    assert checks["perf"][1].endswith("; run: sudo sysctl kernel.perf_event_paranoid=1")
    assert checks["eBPF"][0] == "limited"
    assert "without CAP_PERFMON and CAP_BPF" in checks["eBPF"][1]
    assert checks["module"][0] == "limited"
    assert ("requires root or CAP_PERFMON" if loaded else "pfdrive uses perf instead") in \
        checks["module"][1]


def test_the_command_of_the_perf_check_shows_faults_in_system_calls():
    with paranoid(2):
        fix = doctor(**AS_USER)["perf"][1].split("; run: sudo ")[1]
        run(*shlex.split(fix))
        answer, checks = whole_doctor(**AS_USER)
    assert answer.startswith(f"{WITH_PERF}, no disk requests; with sudo perhaps ")
    assert checks["perf"][0] == "ok"


@pytest.mark.needs("Debian" in pathlib.Path("/proc/version").read_text(), "a kernel of Debian")
@pytest.mark.parametrize("level", [3, 4])
def test_debian_leaves_a_user_nothing_above_paranoid_2(level):
    with paranoid(level):
        answer, checks = whole_doctor(status=3, **AS_USER)
        as_root, _ = whole_doctor()
    assert answer == ("pfdrive cannot measure here as this user: kernel.perf_event_paranoid is "
                      f"{level}, with which this kernel refuses perf events to users without "
                      "CAP_SYS_ADMIN; with sudo: perf, perhaps also the module and eBPF")
    assert checks["perf"][0] == "missing"
    assert checks["perf"][1].endswith("; run: sudo sysctl kernel.perf_event_paranoid=2")
    assert as_root.startswith("pfdrive measures here with the module and eBPF: ")


def test_a_filter_that_refuses_bpf_leaves_perf():
    pfstat.unload()
    refusing = syscall_filter.refusing("bpf")
    answer, checks = whole_doctor(preexec_fn=refusing)
    reason = "no eBPF: a system call filter (seccomp) refuses bpf(2)"
    assert answer == f"{WITH_PERF} and reclaim, no disk requests; {reason}"
    assert checks["eBPF"][0] == "limited" and "(seccomp) refuses bpf(2)" in checks["eBPF"][1]
    with paranoid(2):
        answer, _ = whole_doctor(preexec_fn=refusing, **AS_USER)
    assert answer.endswith(reason if pfstat.KERNEL >= (5, 19) else PARTS)


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
def test_a_filter_that_refuses_bpf_and_perf_leaves_nothing(error):
    pfstat.unload()
    refusing = syscall_filter.refusing("bpf", "perf_event_open", error=error)
    answer, checks = whole_doctor(status=3, preexec_fn=refusing)
    assert answer.startswith("pfdrive cannot measure here: the module is not loaded; eBPF: a "
                             "system call filter (seccomp) refuses bpf(2); perf: a system call "
                             "filter (seccomp) ")
    assert answer.endswith("; run pfdrive outside the service or sandbox with this filter")
    assert {name for name, (state, _) in checks.items() if state == "missing"} >= \
        {"module", "eBPF", "perf"}


def test_missing_debugfs_is_mounted_by_the_command():
    """In a separate mount namespace, so no other test misses it."""
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
    assert parse(checks)["module"] == (
        "ok", f"loaded, version {facts['pfdrive']}; tried: this user can open it")


def test_sources_are_not_tried_for_a_copied_machine(copy):
    whole = doctor("--root", copy)
    differ = {key for key, line in doctor().items() if whole[key] != line}
    assert differ == {"module", "eBPF", "perf"} | ({"headers"} if pfstat.ARM64 else set())


@pytest.mark.parametrize("name, check, state", [
    ("sys/kernel/btf/vmlinux", "eBPF", "limited"),
    ("proc/kallsyms", "symbols", "limited"),
    ("proc/swaps", "swap", "limited"),
    ("sys/fs/cgroup/cgroup.controllers", "cgroup v2", "limited"),
    (f"lib/modules/{RELEASE}/build/Makefile", "headers", "limited"),
    ("sys/module/pfstat/version", "module", "limited"),
])
def test_missing_file_changes_one_line_of_a_copied_machine(name, check, state, copy):
    whole = doctor("--root", copy)
    (copy / name).unlink()
    checks = doctor("--root", copy)
    # Without BTF, perf is the source.
    assert {key for key in whole if checks[key] != whole[key]} - {"all faults"} == {check}
    assert checks[check][0] == state

# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive record with the module and with cgroups. tests/native has what works with perf alone."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest

import pfstat
from pfstat import begin_record, group_of, record, report, wait_until, watches

PAGES = 512
RECORDING = pathlib.Path("/tmp/run.pfs")
WORKLOAD = pfstat.BUILD / "workload"


@pytest.fixture(name="cold_file")
def fixture_cold_file():
    path = pfstat.make_file(pfstat.DISK / "record", PAGES * pfstat.PAGE)
    pfstat.drop_cache()
    return path


@pytest.fixture(autouse=True)
def no_recording():
    RECORDING.unlink(missing_ok=True)


@pytest.fixture(name="waiting")
def fixture_waiting(cold_file):
    """A program that has mapped nothing yet, and reads the file when it is released."""
    workload = pfstat.Workload("touch", cold_file)
    yield workload
    workload.kill()


def write_recording(*command, options=()):
    """JSON for the run written to RECORDING."""
    pfstat.run(pfstat.PFDRIVE, "record", "-o", RECORDING, *options, "--", *command)
    return report(RECORDING)


def end(process, number=signal.SIGINT):
    """The standard error after the signal. It must exit with status 0."""
    process.send_signal(number)
    _, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, stderr
    return stderr


@pytest.mark.smoke
def test_report_of_a_recording_equals_the_direct_one(cold_file):
    direct, _ = record(WORKLOAD, "apart", cold_file, "4",
                       options=("-o", RECORDING, "--by", "code"))
    later = report(RECORDING, "--by", "code")
    assert direct["parts"]["all"]["count"] > 0 and direct["damage"] is None
    for key, value in direct.items():
        assert later[key] == value, key


def test_by_stack_names_the_callers_of_the_loop(cold_file):
    direct, _ = record(WORKLOAD, "now", cold_file, options=(
        "-o", RECORDING, "--by", "stack", "--fault-around", "off"))
    later = report(RECORDING, "--by", "stack")
    assert later["groups"] == direct["groups"]
    row = max(direct["groups"]["rows"], key=lambda row: row["faults"])
    assert row["faults"] == PAGES
    assert row["name"].split(";")[-3:] == ["main", "touch_file", "touch"]
    groups = direct["groups"]
    assert sum(row["faults"] for row in groups["rows"]) + groups["left_out"]["faults"] == \
        direct["parts"]["all"]["count"]


def test_faults_of_one_file_can_be_selected(cold_file):
    result, _ = record("sh", "-c", f"cat /etc/passwd; {WORKLOAD} now {cold_file}",
                       options=("--by", "file", "--fault-around", "off", "--file", cold_file))
    assert result["environment"]["only_file"] == str(cold_file)
    assert result["faults"] == PAGES == group_of(result, cold_file)["faults"]
    # Nothing else is hooked: faults of other files, which only eBPF sees, have the class file.
    hooked = [row["name"] for row in result["groups"]["rows"]
              if any(row["classes"][name] for name in result["classes"])]
    assert hooked == [str(cold_file)]


def test_processes_that_join_a_cgroup_later_are_watched(cold_file):
    group = pfstat.cgroup("watched")
    first, second = (pfstat.Workload("touch", cold_file) for _ in range(2))
    try:
        (group / "cgroup.procs").write_text(str(first.pid))
        process = begin_record("--cgroup", group, "--by", "thread", "--fault-around", "off",
                               "--json", RECORDING)
        (group / "cgroup.procs").write_text(str(second.pid))
        wait_until(lambda: str(second.pid) in pfstat.targets())
        first.finish()
        second.finish()
        assert "1 process joined the cgroup while it was watched" in end(process)
    finally:
        first.kill()
        second.kill()
        group.rmdir()
    rows = pfstat.report_of(RECORDING.read_text())["groups"]["rows"]
    for workload in (first, second):
        faults = sum(row["faults"] for row in rows if row["pid"] == workload.pid)
        assert faults >= PAGES
    assert f"workload ({first.pid})" in {row["name"] for row in rows}


def test_a_threaded_cgroup_is_watched(cold_file):
    """Only the parent group lists a threaded group's members."""
    group = pfstat.cgroup("process")
    threads = group / "threads"
    threads.mkdir()
    (threads / "cgroup.type").write_text("threaded")
    workload = pfstat.Workload("touch", cold_file)
    try:
        (group / "cgroup.procs").write_text(str(workload.pid))
        (threads / "cgroup.threads").write_text(str(workload.pid))
        assert f"cannot list the processes in {threads}: Operation not supported" in \
            pfstat.refused(1, "record", "--cgroup", threads)
        process = begin_record("--cgroup", group, "--fault-around", "off", "--json", RECORDING)
        workload.finish()
        end(process)
    finally:
        workload.kill()
        threads.rmdir()
        group.rmdir()
    assert pfstat.report_of(RECORDING.read_text())["faults"] >= PAGES


def test_counts_of_a_process_with_children_are_unknown():
    """/proc counts only a process's own faults. The report must not present them as all faults."""
    shell = subprocess.Popen(["sh", "-c", "read _; sleep 0 & wait; sleep 600; :"],
                             stdin=subprocess.PIPE, bufsize=0)
    try:
        process = begin_record("-p", shell.pid, "--json", RECORDING)
        wait_until(lambda: watches(process))
        shell.stdin.write(b"\n")
        wait_until(lambda: len(pathlib.Path(
            f"/proc/{shell.pid}/task/{shell.pid}/children").read_text().split()) == 1)
        time.sleep(1)
        end(process)
    finally:
        shell.kill()
        shell.wait()
    result = json.loads(RECORDING.read_text())
    assert result["faults"] > 0
    assert result["rusage"]["minflt"] is None and result["rusage"]["majflt"] is None


def open_files(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--no-bpf"]])
def test_the_children_of_a_cgroup_are_watched_once(options):
    group = pfstat.cgroup("watched")
    shell = subprocess.Popen(["sh", "-c", "while read _; do sleep 600 & done"],
                             stdin=subprocess.PIPE, bufsize=0)
    try:
        (group / "cgroup.procs").write_text(str(shell.pid))
        process = begin_record("--cgroup", group, *options, "--json", RECORDING)
        shell.stdin.write(b"\n")        # the program of the shell's children stays open from now on
        time.sleep(2.5)                 # all is open, and pfdrive has looked at the group twice
        # Once a second, while pfdrive looks at the group, one more file is open for a moment.
        before = min(open_files(process) for _ in range(10))
        shell.stdin.write(b"\n\n\n")
        members = group / "cgroup.procs"
        wait_until(lambda: len(members.read_text().split()) == 5)
        time.sleep(2.5)
        wait_until(lambda: open_files(process) == before)
        end(process)
    finally:
        (group / "cgroup.kill").write_text("1")
        shell.wait()
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()
    counts = pfstat.report_of(RECORDING.read_text())["ledger"]["counts"]
    perf = [count["value"] for count in counts if count["source"] == "perf"]
    assert perf and set(perf) == {None}


def join(group):
    """A process in the group that only sleeps."""
    process = subprocess.Popen(["sleep", "600"])
    (group / "cgroup.procs").write_text(str(process.pid))
    return process


def kill(process):
    process.kill()
    process.wait()


@pytest.mark.long
def test_processes_that_left_a_cgroup_keep_no_descriptors(waiting):
    group = pfstat.cgroup("watched")
    try:
        (group / "cgroup.procs").write_text(str(waiting.pid))
        first = join(group)             # the program stays open from now on
        process = begin_record("--cgroup", group, "-o", RECORDING)
        time.sleep(1)
        kill(first)
        time.sleep(2.5)
        before = min(open_files(process) for _ in range(10))
        for _ in range(2):
            others = [join(group) for _ in range(5)]
            wait_until(lambda: open_files(process) >= before + 5)
            for other in others:
                kill(other)
            wait_until(lambda: open_files(process) == before)
        end(process)
    finally:
        waiting.kill()
        group.rmdir()
    assert report(RECORDING)["maps_lost"] == 0


def free_numbers(process, count):
    """Numbers for the next descriptors. Now and then one more is in use for a moment."""
    folder = f"/proc/{process.pid}/fd"
    used = min((set(os.listdir(folder)) for _ in range(10)), key=len)
    return [number for number in range(len(used) + count) if str(number) not in used][:count]


@pytest.mark.long
def test_a_process_is_not_watched_if_no_descriptors_are_left(cold_file, waiting):
    """A process joining when no descriptor is left to watch the exit is not watched."""
    group = pfstat.cgroup("watched")
    others = []
    try:
        others.append(join(group))
        process = begin_record("--cgroup", group, "--by", "thread", "--fault-around", "off",
                               "--json", RECORDING)
        time.sleep(2.5)
        # pfdrive keeps 64 free. One is for the member list, one for the process's exit.
        limit = free_numbers(process, 3)[2] + 64
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        (group / "cgroup.procs").write_text(str(waiting.pid))
        wait_until(lambda: str(waiting.pid) in pfstat.targets())
        time.sleep(0.5)
        others.append(join(group))
        time.sleep(2.5)
        waiting.finish()
        stderr = end(process)
    finally:
        waiting.kill()
        for other in others:
            kill(other)
        group.rmdir()
    assert f"cannot watch for process {others[1].pid}'s exit" in stderr
    rows = pfstat.report_of(RECORDING.read_text())["groups"]["rows"]
    assert sum(row["faults"] for row in rows if row["pid"] == waiting.pid) >= PAGES


@pytest.mark.long
def test_a_recreated_cgroup_is_watched_again(cold_file, waiting):
    group = pfstat.cgroup("watched")
    other = join(group)
    try:
        process = begin_record("--cgroup", group, "--by", "thread", "--fault-around", "off",
                               "--json", RECORDING)
        wait_until(lambda: watches(process))
        kill(other)
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()
        time.sleep(2.5)
        group.mkdir()
        (group / "cgroup.procs").write_text(str(waiting.pid))
        wait_until(lambda: str(waiting.pid) in pfstat.targets())
        time.sleep(0.5)
        waiting.finish()
        end(process)
    finally:
        waiting.kill()
        kill(other)
        group.rmdir()
    rows = pfstat.report_of(RECORDING.read_text())["groups"]["rows"]
    assert sum(row["faults"] for row in rows if row["pid"] == waiting.pid) >= PAGES


def test_a_cgroup_has_a_relative_path(waiting):
    """The only member is in a child group."""
    group = pfstat.cgroup("watched")
    below = group / "below"
    below.mkdir()
    try:
        (below / "cgroup.procs").write_text(str(waiting.pid))
        pfstat.run(pfstat.PFDRIVE, "record", "--cgroup", group.name, "--duration", "0.1", "-o",
                   RECORDING, cwd=group.parent)
    finally:
        waiting.kill()
        below.rmdir()
        group.rmdir()


@pytest.mark.long
def test_perf_counts_are_added_on_request():
    """The tasks' own counters are always available. perf's counters lack get_user_pages()
    faults."""
    script = "import os; os.fork() or os._exit(0 * len(bytearray(1 << 22))); os.wait()"
    for options in ([], ["--perf-faults"]):
        ledger = write_recording("python3", "-c", script, options=options)["ledger"]
        counts = {count["name"]: count["value"] for count in ledger["counts"]}
        assert counts["min_flt"] == counts["handle_mm_fault() minor"] == counts["minflt"] > 1000
        assert counts["maj_flt"] == counts["handle_mm_fault() major"] == counts["majflt"]
        assert ledger["unexplained"] == 0
        if options:
            assert 1000 < counts["minor-faults"] <= counts["min_flt"]
            assert counts["major-faults"] <= counts["maj_flt"]
            assert counts["page-faults"] >= counts["minor-faults"] + counts["major-faults"]
        else:
            assert not any(counts[name + "-faults"] for name in ("page", "minor", "major"))



def test_the_holder_is_named(waiting, cold_file):
    process = begin_record("-p", waiting.pid, "-o", RECORDING)
    assert f"held by pfdrive (pid {process.pid})" in pfstat.refused(1, "record", "--", "true")
    end(process)
    waiting.finish()


def most_anonymous_kib(process):
    """A process's highest RssAnon until the exit. Mapped rings, whose size is a choice, are not
    part of it."""
    most = 0
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        kib = [int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")]
        most = max([most, *kib])
        time.sleep(0.05)
    return most


@pytest.mark.long
def test_memory_is_bounded(cold_file):
    """2000 processes in turn: data about a process is freed when it exits."""
    with subprocess.Popen([pfstat.PFDRIVE, "record", "-o", RECORDING, "--", WORKLOAD, "server",
                           cold_file, "2000"], stderr=subprocess.PIPE) as process:
        kib = most_anonymous_kib(process)
    assert process.returncode == 0
    assert 0 < kib < 64 * 1024


def test_another_pid_namespace_is_refused():
    """The process ids differ from those in records, so no fault would have a mapping."""
    record = ["unshare", "-pf", "--mount-proc", pfstat.PFDRIVE, "record"]
    result = pfstat.run(*record, "--source", "module", "--no-bpf", "--", "true", check=False)
    assert result.returncode == 1
    assert "in this PID namespace" in result.stderr and result.stderr.count("\n") == 1


def test_perf_records_in_another_pid_namespace():
    result = pfstat.run("unshare", "-pf", "--mount-proc", pfstat.PFDRIVE, "record", "--", "true")
    assert "Source        perf: whole faults" in result.stdout


def test_a_folder_of_cgroup_v1_is_refused(tmp_path):
    pfstat.run("mount", "-t", "cgroup", "-o", "none,name=pfstat", "none", tmp_path)
    try:
        assert (tmp_path / "cgroup.procs").exists()
        words = pfstat.refused(1, "record", "--cgroup", tmp_path)
    finally:
        pfstat.run("umount", tmp_path)
    assert f"cannot watch {tmp_path}: it is not a cgroup v2 folder" in words


@pytest.mark.needs(not pfstat.ARM64, "the module's count of all faults (x86-64)")
def test_fault_records_without_room_are_the_modules_loss():
    """The rings hold some 500 records for each CPU, and pfdrive is stopped while the program takes
    more faults. No event of eBPF is lost then."""
    touch = f"""
import mmap, sys
sys.stdin.read(1)
memory = mmap.mmap(-1, {20 * PAGES * pfstat.PAGE})
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(memory), {pfstat.PAGE}):
    memory[at] = 1
"""
    with subprocess.Popen(["python3", "-c", touch], stdin=subprocess.PIPE, text=True) as program:
        recorder = begin_record("--ring-size", "64K", "-o", RECORDING, "-p", program.pid)
        recorder.send_signal(signal.SIGSTOP)
        program.communicate("x")
        recorder.send_signal(signal.SIGCONT)
        _, messages = recorder.communicate(timeout=120)
    result = report(RECORDING)
    assert result["faults_lost"] > 15 * PAGES and result["events_lost"] == 0
    assert result["faults_unwatched"] == 0 and result["verdict"]["at_least"]
    assert f", {result['faults_lost']} fault records lost (see --ring-size), in " in messages
    text = pfstat.run(pfstat.PFDRIVE, "report", RECORDING).stdout
    assert "FAULT RECORDS OF THE MODULE" in text and "EBPF" not in text


# getpid() has number 20 in the 32-bit table, as writev() in the 64-bit one. The code is
# mov $20, %eax; int $0x80; ret.
COMPAT = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
for _ in range(100):
    ctypes.CFUNCTYPE(ctypes.c_int)(address)()
"""


@pytest.mark.needs(pfstat.kernel_config().get("CONFIG_IA32_EMULATION") == "y",
                   "32-bit system calls (x86-64)")
def test_32_bit_calls_have_the_names_of_their_own_table():
    result, _ = record("python3", "-c", COMPAT)
    calls = {row["name"]: row for row in result["syscalls"]}
    assert calls["getpid (32-bit)"]["count"] == 100
    assert calls["getpid (32-bit)"]["number"] == 20 and "writev" not in calls

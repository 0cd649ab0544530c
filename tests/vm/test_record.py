# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive record and report: a recording is the same whether it is made, cut, read or ended in one
way or another."""
import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

import pfstat
from pfstat import begin_record, group_of, record, report, wait_until, watches

PAGES = 512
RECORDING = pathlib.Path("/tmp/run.pfs")
OLDER = pathlib.Path("/tmp/run.pfs.old")
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
WORKLOAD = pfstat.BUILD / "workload"


@pytest.fixture(name="cold_file")
def fixture_cold_file():
    path = pfstat.make_file(pfstat.DISK / "record", PAGES * pfstat.PAGE)
    pfstat.drop_cache()
    return path


@pytest.fixture(autouse=True)
def no_recording():
    RECORDING.unlink(missing_ok=True)
    OLDER.unlink(missing_ok=True)


@pytest.fixture(name="waiting")
def fixture_waiting(cold_file):
    """A program that has mapped nothing yet, and reads the file when it is released."""
    workload = pfstat.Workload("touch", cold_file)
    yield workload
    workload.kill()


def write_recording(*command, options=()):
    """JSON of the run that is written to RECORDING."""
    pfstat.run(pfstat.PFDRIVE, "record", "-o", RECORDING, *options, "--", *command)
    return report(RECORDING)


def recorded_once(name, *command):
    """A recording for several tests, which leave it as it is."""
    path = pathlib.Path(f"/tmp/{name}.pfs")
    file = pfstat.make_file(pfstat.DISK / "record", PAGES * pfstat.PAGE)
    pfstat.drop_cache()
    pfstat.load()
    pfstat.run(pfstat.PFDRIVE, "record", "-o", path, "--fault-around", "off", "--by", "code", "--",
               WORKLOAD, *[file if word == "FILE" else word for word in command])
    path.chmod(0o644)
    return path


@pytest.fixture(name="one_reader", scope="module")
def fixture_one_reader():
    """One thread reads each page of the file."""
    return recorded_once("one-reader", "now", "FILE")


@pytest.fixture(name="four_readers", scope="module")
def fixture_four_readers():
    """Four threads do, each in its own mapping."""
    return recorded_once("four-readers", "apart", "FILE", "4")


def end(process, number=signal.SIGINT):
    """Its standard error after the signal; it must exit with status 0."""
    process.send_signal(number)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return stderr


def one_line_program(path):
    """A shell that writes its pid to a file, then sleeps."""
    return ["sh", "-c", f"echo $$ >{path}; exec sleep 600 >/dev/null 2>&1"]


def alive(pid):
    with contextlib.suppress(FileNotFoundError):
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    return False


@pytest.mark.long
@pytest.mark.parametrize("by", ["file", "vma", "thread", "code"])
def test_report_of_a_recording_equals_the_direct_one(by, cold_file):
    direct, _ = record(WORKLOAD, "apart", cold_file, "4",
                       options=("-o", RECORDING, "--by", by))
    later = report(RECORDING, "--by", by)
    assert direct["parts"]["all"]["count"] > 0 and direct["damage"] is None
    for key, value in direct.items():
        assert later[key] == value, key


@pytest.mark.smoke
def test_the_groups_hold_all_faults(four_readers):
    groups = report(four_readers, "--by", "file", "--top", "3")["groups"]
    shown = sum(row["faults"] for row in groups["rows"])
    assert len(groups["rows"]) == 3 and groups["left_out"]["rows"] > 0
    assert shown + groups["left_out"]["faults"] == \
        report(four_readers)["parts"]["all"]["count"]


def test_report_needs_neither_root_nor_the_module(one_reader):
    whole = report(one_reader)
    pfstat.unload()
    text = pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", one_reader, **NOBODY).stdout
    assert pfstat.report_of(text) == whole


def test_a_recording_without_its_end_is_reported(one_reader):
    whole = report(one_reader)
    shutil.copy(one_reader, RECORDING)
    os.truncate(RECORDING, RECORDING.stat().st_size - 1)
    result = pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", RECORDING)
    cut = pfstat.report_of(result.stdout)
    assert "cut" in cut["damage"] and cut["damage"] in result.stderr
    assert cut["parts"]["all"]["count"] == whole["parts"]["all"]["count"]
    assert cut["calls"] is None and cut["rusage"]["minflt"] is None


def test_a_recording_cut_in_the_middle_is_reported_up_to_there():
    whole = write_recording(WORKLOAD, "anon", "20000")
    os.truncate(RECORDING, RECORDING.stat().st_size // 2)
    result = pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", RECORDING)
    cut = pfstat.report_of(result.stdout)
    assert cut["damage"] in result.stderr
    assert 0 < cut["parts"]["all"]["count"] < whole["parts"]["all"]["count"]
    assert cut["damage"] in pfstat.run(pfstat.PFDRIVE, "report", RECORDING).stdout


def test_a_file_that_is_not_a_recording_is_refused(cold_file):
    assert "is not a recording" in pfstat.refused(1, "report", cold_file)
    assert "No such file" in pfstat.refused(1, "report", "/tmp/missing.pfs")


def test_a_newer_version_is_refused_by_its_number(one_reader):
    shutil.copy(one_reader, RECORDING)
    with open(RECORDING, "r+b") as file:
        file.seek(8)
        file.write(b"\x07\0\0\0")
    assert "version 7" in pfstat.refused(1, "report", RECORDING)


@pytest.mark.smoke
def test_by_vma_names_the_mapping(one_reader, cold_file):
    result = report(one_reader, "--by", "vma")
    row = next(row for row in result["groups"]["rows"] if str(cold_file) in row["name"])
    assert row["faults"] == PAGES
    assert row["address"] % pfstat.PAGE == 0 and row["pid"] > 0


def test_by_thread_names_each(four_readers):
    result = report(four_readers, "--by", "thread")
    readers = [row for row in result["groups"]["rows"] if row["faults"] >= PAGES]
    assert len({row["tid"] for row in readers}) == 4
    assert len({row["pid"] for row in readers}) == 1


def test_by_code_names_the_loop(cold_file):
    result, _ = record(WORKLOAD, "now", cold_file,
                       options=("--by", "code", "--fault-around", "off"))
    row = max(result["groups"]["rows"], key=lambda row: row["faults"])
    assert row["name"].startswith("touch") and str(WORKLOAD.name) in row["name"]
    assert row["faults"] >= PAGES


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


def test_stacks_are_unknown_without_the_option(one_reader):
    result = report(one_reader)
    later = report(one_reader, "--by", "stack")
    assert [row["name"] for row in later["groups"]["rows"]] == ["(not known)"]
    assert later["groups"]["rows"][0]["faults"] == result["parts"]["all"]["count"]
    assert "eBPF" in pfstat.refused(2, "record", "--stacks", "--no-bpf", "true")


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
    """Only the parent group lists the members of a threaded group."""
    group = pfstat.cgroup("process")
    threads = group / "threads"
    threads.mkdir()
    (threads / "cgroup.type").write_text("threaded")
    workload = pfstat.Workload("touch", cold_file)
    try:
        (group / "cgroup.procs").write_text(str(workload.pid))
        (threads / "cgroup.threads").write_text(str(workload.pid))
        assert f"cannot list the processes of {threads}: Operation not supported" in \
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
    """/proc counts only a process's own faults; the report must not present them as all faults."""
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
        wait_until(lambda: open_files(process) == before, 10)
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
        first = join(group)             # its program stays open from now on
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
            wait_until(lambda: open_files(process) == before, 10)
        end(process)
    finally:
        waiting.kill()
        group.rmdir()
    assert report(RECORDING)["maps_lost"] == 0


def free_numbers(process, count):
    """Numbers for its next descriptors; now and then one more is in use for a moment."""
    folder = f"/proc/{process.pid}/fd"
    used = min((set(os.listdir(folder)) for _ in range(10)), key=len)
    return [number for number in range(len(used) + count) if str(number) not in used][:count]


@pytest.mark.long
def test_a_process_is_not_watched_if_no_descriptors_are_left(cold_file, waiting):
    """A process that joins when no descriptor is left to watch its exit is not watched."""
    group = pfstat.cgroup("watched")
    others = []
    try:
        others.append(join(group))
        process = begin_record("--cgroup", group, "--by", "thread", "--fault-around", "off",
                               "--json", RECORDING)
        time.sleep(2.5)
        # pfdrive keeps 64 free. One is for the list of members, one for the exit of the process.
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
    assert f"cannot watch for the end of process {others[1].pid}" in stderr
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
    """Its only member is in a child group."""
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
    """The tasks' own counters are always available. perf's counters lack faults of
    get_user_pages()."""
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


def test_a_process_is_watched_for_one_second(waiting):
    start = time.monotonic()
    pfstat.run(pfstat.PFDRIVE, "record", "-p", waiting.pid, "--duration", "1", "-o", RECORDING)
    assert time.monotonic() - start >= 1
    assert 1e9 <= report(RECORDING)["elapsed_ns"] < 20e9
    waiting.finish()


def test_sigint_ends_the_watch_of_a_process(waiting):
    end(begin_record("-p", waiting.pid, "-o", RECORDING))
    assert report(RECORDING)["damage"] is None
    waiting.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_recording_and_the_command_runs_on(number, tmp_path):
    said = tmp_path / "pid"
    process = begin_record("-o", RECORDING, "--", *one_line_program(said))
    wait_until(lambda: said.exists() and said.read_text().endswith("\n"))
    pid = int(said.read_text())
    end(process, number)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)
    result = report(RECORDING)
    assert result["damage"] is None
    assert result["parts"]["all"]["count"] > 0


class Terminal:
    """pfdrive record of a command on a terminal of its own, in the foreground there."""

    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(pfstat.PFDRIVE, [str(pfstat.PFDRIVE), "record", "-o", str(RECORDING), "--",
                                      *map(str, command)])
        self.shown = b""

    def wait_for(self, text):
        while text not in self.shown:
            self.shown += os.read(self.fd, 4096)

    def press(self, key=b"\x03"):
        os.write(self.fd, key)

    def status(self):
        with contextlib.suppress(OSError):      # EIO: all of its processes have exited
            while more := os.read(self.fd, 4096):
                self.shown += more
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_ctrl_c_goes_to_the_command(tmp_path):
    """The command dies of it, as without pfdrive; the recording is complete, and the status shows
    it."""
    terminal = Terminal("sh", "-c", "echo it runs; exec sleep 600")
    terminal.wait_for(b"it runs")
    terminal.press()
    assert terminal.status() == 128 + signal.SIGINT
    result = report(RECORDING)
    assert result["damage"] is None and result["rusage"]["minflt"] is not None


def test_a_command_that_handles_ctrl_c_is_recorded_to_its_end():
    terminal = Terminal("sh", "-c", "trap 'echo it cleans up; sleep 2; exit 7' INT; echo it runs;"
                        "while :; do sleep 0.1; done")
    terminal.wait_for(b"it runs")
    terminal.press()
    assert terminal.status() == 7
    assert b"it cleans up" in terminal.shown
    assert report(RECORDING)["elapsed_ns"] > 2e9


def test_a_second_ctrl_c_ends_the_recording(tmp_path):
    said = tmp_path / "pid"
    terminal = Terminal("sh", "-c", f"trap '' INT HUP; echo $$ >{said}; echo it runs;"
                        "exec sleep 600 >/dev/null 2>&1")
    terminal.wait_for(b"it runs")
    terminal.press()
    terminal.wait_for(b"recording continues until sh exits; a second Ctrl-C stops it now")
    terminal.press()
    terminal.wait_for(b"calls of file operations recorded")
    pid = int(said.read_text())
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)
    assert terminal.status() == 0
    assert report(RECORDING)["damage"] is None


@pytest.mark.parametrize("script, status", [("exit 3", 3), ("kill -9 $$", 128 + 9)])
def test_the_commands_status_is_passed_on(script, status):
    result = pfstat.run(pfstat.PFDRIVE, "record", "--no-bpf", "-o", RECORDING, "--", "sh", "-c", script,
                        check=False)
    assert result.returncode == status
    assert report(RECORDING)["damage"] is None


def test_no_such_command_writes_nothing(tmp_path):
    path = tmp_path / "run.pfs"
    assert "no-such-command" in pfstat.refused(127, "record", "-o", path, "--", "no-such-command")
    assert not list(tmp_path.iterdir())


def test_a_command_that_cannot_be_executed_writes_nothing(tmp_path):
    path = tmp_path / "run.pfs"
    assert "Permission denied" in pfstat.refused(126, "record", "-o", path, "--", "/etc/passwd")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_fails_before_anything_runs(tmp_path):
    ran = tmp_path / "ran"
    assert "cannot write" in pfstat.refused(1, "record", "-o", tmp_path / "missing/run.pfs", "--",
                                            "touch", ran)
    assert not ran.exists()


# Begins at a line of input: before that it takes no time from pfdrive's start.
FAULTS_FOR_EVER = """
import mmap, sys
sys.stdin.readline()
while True:
    with mmap.mmap(-1, 1 << 22) as memory:
        memory.write(bytes(1 << 22))
"""


@contextlib.contextmanager
def recorded_faulting(recording, *prefix):
    """A program that faults for ever, and a pfdrive that records it."""
    with subprocess.Popen(["python3", "-c", FAULTS_FOR_EVER], stdin=subprocess.PIPE) as faulting:
        process = subprocess.Popen([*prefix, pfstat.PFDRIVE, "record", "-p", str(faulting.pid),
                                    "-o", recording], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        wait_until(lambda: process.poll() is not None or watches(process))
        faulting.stdin.write(b"\n")
        faulting.stdin.flush()
        yield process
        assert alive(faulting.pid)
        faulting.kill()


def fill(folder):
    with contextlib.suppress(OSError), open(folder / "filler", "wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            pass


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    pfstat.run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder)
    try:
        yield
    finally:
        pfstat.run("umount", folder)


def test_on_a_full_disk_the_report_is_printed_and_no_file_is_left(tmp_path):
    ran, folder = tmp_path / "ran", tmp_path / "full"
    with small_disk(folder):
        fill(folder)
        result = pfstat.run(pfstat.PFDRIVE, "record", "-o", folder / "run.pfs", "--", "touch", ran,
                            check=False)
        assert result.returncode == 1
        assert result.stderr == f"pfdrive: cannot write {folder / 'run.pfs'}: No space left on " \
            "device; there is no recording, the report is printed instead\n"
        assert re.search("^Counts: ", result.stdout, re.MULTILINE)
        assert [path.name for path in folder.iterdir()] == ["filler"]
    assert ran.exists()


def end_after_failure(process):
    """The run goes on after the message about its recording, until it is interrupted."""
    first = process.stderr.readline()
    assert first.endswith("; the run goes on, and its report is printed at the end\n"), first
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 1
    assert re.search("^Counts: ", stdout, re.MULTILINE)
    return stderr


def check_cut(stderr, path, reason):
    """One message states why it is cut and how many items it has; the report agrees."""
    said = re.fullmatch(rf"pfdrive: {path} is incomplete: {reason}; 'pfdrive report' can read "
                        r"the first (\d+) of its (\d+) items; .*\n", stderr)
    assert said, stderr
    result = report(path)
    assert result["damage"] == f"{path} was cut: {reason}"
    assert result["parts"]["all"]["count"] > 0 and 0 < int(said[1]) < int(said[2])
    # It has the counters of the whole run, so events that are missing in it are lost.
    assert result["events_lost"] > 0 and result["calls"] is not None


def test_full_disk_keeps_the_recorded_events(tmp_path):
    folder = tmp_path / "full"
    recording = folder / "run.pfs"
    with small_disk(folder), recorded_faulting(recording) as process:
        wait_until(lambda: recording.exists() and recording.stat().st_size > 20000)
        fill(folder)
        stderr = end_after_failure(process)
        assert {path.name for path in folder.iterdir()} == {"filler", "run.pfs"}
        check_cut(stderr, recording, "cannot write to it: No space left on device")


def test_file_size_limit_keeps_the_recorded_events():
    with recorded_faulting(RECORDING, "prlimit", "--fsize=300000") as process:
        stderr = end_after_failure(process)
    check_cut(stderr, RECORDING, "cannot write to it: File too large")


def test_a_report_that_is_too_large_for_the_limit_leaves_nothing(one_reader, tmp_path):
    result = pfstat.run("prlimit", "--fsize=4096", pfstat.PFDRIVE, "report", one_reader, "--json",
                        tmp_path / "run.json", check=False)
    assert result.returncode == 1 and "File too large" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_killed_pfdrive_leaves_the_recording(waiting, cold_file):
    process = begin_record("-p", waiting.pid, "-o", RECORDING)
    wait_until(RECORDING.exists)
    process.kill()
    process.communicate()
    wait_until(lambda: not pfstat.hooked())
    assert alive(waiting.pid)
    assert report(RECORDING)["damage"] == f"{RECORDING} was cut: it has no end"
    waiting.finish()
    result = write_recording(WORKLOAD, "now", cold_file)
    assert result["damage"] is None and result["lost"] == 0
    # The cut recording was kept as FILE.old.
    assert report(OLDER)["damage"] == f"{OLDER} was cut: it has no end"


def test_recording_and_json_must_be_different_files():
    pfstat.refused(2, "record", "-o", RECORDING, "--json", "/tmp/../tmp/run.pfs", "--", "true")
    assert not RECORDING.exists()


def test_the_holder_is_named(waiting, cold_file):
    process = begin_record("-p", waiting.pid, "-o", RECORDING)
    assert f"held by pfdrive (pid {process.pid})" in pfstat.refused(1, "record", "--", "true")
    end(process)
    waiting.finish()


def most_anonymous_kib(process):
    """The most RssAnon of a process until its exit. Mapped rings, whose size is a choice, are not
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
    """Its process ids differ from those in records, so no fault would have a mapping."""
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
    assert f"cannot watch {tmp_path}: it is not a folder of cgroup v2" in words

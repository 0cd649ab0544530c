# SPDX-License-Identifier: GPL-2.0-only
"""perf records the same user mode faults as the module and as eBPF, and records alone where neither
works: for an ordinary user, and on a locked-down kernel."""
import bisect
import collections
import contextlib
import csv
import io
import pathlib
import shutil
import signal
import statistics
import subprocess

import pytest

import filesystems
import pfstat
import users
from test_fault_sources import PROGRAM

pytestmark = pytest.mark.no_module

PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
LEVEL = pfstat.boot_lockdown()
RARE = pfstat.BUILD / "rare_faults"
WORKLOAD = pfstat.BUILD / "workload"
AROUND_PAGES = 65536 // pfstat.PAGE
# In the instruction clock: more than a perf sample takes.
SAMPLE_NS = 1000
FEW = 5
FILE_PAGES = 1024
DIRECT_PAGES = 256

SOURCES = [
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")),
    pytest.param("ebpf", marks=pytest.mark.needs(
        LEVEL != "confidentiality", "eBPF that may read the kernel's memory")),
]

# A thread that has written this much to files sleeps in the fault, in balance_dirty_pages().
DIRTY = """
dirty=/proc/sys/vm/dirty
limit_dirty() { echo 262144 >${dirty}_background_bytes; echo 1048576 >${dirty}_bytes; }
unlimit_dirty() { echo 10 >${dirty}_background_ratio; echo 20 >${dirty}_ratio; }
"""

# The program in test_fault_sources.py, then anonymous memory, copies after a fork, the stack, huge
# pages, file writes, swap, faults without registers, and failing faults.
MIXED = PROGRAM + DIRTY + """
$workload anon 500
$workload copy 500
$workload twice 300
$rare stack 100
$rare shared $direct
$rare private $direct
$rare store $direct
$rare copy $direct
limit_dirty; $rare store $file; unlimit_dirty
$rare huge 8
$rare swapped 300
cold; $rare direct $direct
$rare refused 4 >>$refused
$rare dies >>$refused
"""


class Fault:
    """A `pfdrive report --format faults-csv` row."""

    def __init__(self, row):
        self.start_ns = int(row["start_ns"])
        self.duration_ns = int(row["duration_ns"] or 0)     # perf: a failed fault has no end
        self.pid, self.tid = int(row["pid"]), int(row["tid"])
        self.file = row["file"]
        self.class_name = row["class"]
        self.major, self.solved, self.kernel = (row[name] == "1"
                                                for name in ("major", "solved", "kernel"))
        self.page = int(row["address"], 16) // pfstat.PAGE

    def end_ns(self):
        return self.start_ns + self.duration_ns

    def identity(self):
        """Everything both sources know about it, besides the thread and the time."""
        return self.page, self.solved, self.major

    def __repr__(self):
        words = [name for name in ("major", "solved", "kernel") if getattr(self, name)]
        return f"{self.tid} {self.start_ns}+{self.duration_ns} {self.class_name} " \
            f"page {self.page:#x} {' '.join(words)}"


def faults_of(recording):
    text = pfstat.run(pfstat.PFDRIVE, "report", "-f", "faults-csv", recording).stdout
    return [Fault(row) for row in csv.DictReader(io.StringIO(text))]


def of_user_mode(faults):
    """By thread, in the order in which they began."""
    threads = collections.defaultdict(list)
    for fault in sorted(faults, key=lambda fault: fault.start_ns):
        if not fault.kernel:
            threads[fault.tid].append(fault)
    return threads


def matched(perf, other):
    """For each perf fault, the other source's faults beginning before the thread's next one: perf's
    event comes first. The key None has those beginning before the thread's first."""
    matches = collections.defaultdict(list)
    for tid, faults in other.items():
        starts = [fault.start_ns for fault in perf[tid]]
        for fault in faults:
            at = bisect.bisect_right(starts, fault.start_ns)
            matches[perf[tid][at - 1] if at else None].append(fault)
    return matches


def recorder(recording, source, pid):
    process = pfstat.begin_record("--source", source, "--ring-size", "16M", "-o", recording,
                                  "-p", pid)
    assert process.poll() is None, process.communicate()
    return process


class Pair:
    """The recordings from perf and the other source, for one run of a shell program."""

    def __init__(self, folder, source, program=MIXED, disk=pfstat.DISK):
        refused = folder / "refused"
        refused.touch()
        words = {"file": pfstat.make_file(disk / "mixed", FILE_PAGES * pfstat.PAGE),
                 "direct": pfstat.make_file(disk / "direct", DIRECT_PAGES * pfstat.PAGE),
                 "workload": WORKLOAD, "touch": pfstat.BUILD / "touch_pages", "rare": RARE,
                 "refused": refused}
        recordings = folder / "perf.pfs", folder / f"{source}.pfs"
        shell = subprocess.Popen(["sh", "-c", "read line;" + program], stdin=subprocess.PIPE,
                                 text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={name: str(word) for name, word in words.items()})
        processes = [recorder(recording, name, shell.pid)
                     for recording, name in zip(recordings, ("perf", source))]
        shell.communicate("\n", timeout=pfstat.PATIENCE)
        for process in processes:
            _, errors = process.communicate(timeout=pfstat.PATIENCE)
            assert process.returncode == 0, errors
        self.reports = [pfstat.report(recording) for recording in recordings]
        self.perf, self.other = (of_user_mode(faults_of(recording)) for recording in recordings)
        self.matches = matched(self.perf, self.other)
        lines = (line.split() for line in refused.read_text().splitlines())
        # The kernel refuses these accesses without calling handle_mm_fault().
        self.refused = collections.Counter((int(tid), int(address, 16) // pfstat.PAGE)
                                           for tid, address in lines)

    def differences(self):
        """(perf's fault, the other source's faults) where the match is not one to one."""
        refused = self.refused.copy()
        for fault in self.matches.get(None, ()):
            yield None, [fault]
        for fault in (fault for faults in self.perf.values() for fault in faults):
            partners = self.matches.get(fault, [])
            if not partners and not fault.solved and refused[fault.tid, fault.page]:
                refused[fault.tid, fault.page] -= 1
            elif [partner.identity() for partner in partners] != [fault.identity()]:
                yield fault, partners
        for access in +refused:
            yield access, []

    def skipped(self):
        """The number of events the kernel may have skipped for eBPF."""
        return self.reports[1]["events_skipped"] if pfstat.may_skip() else 0

    def solved(self):
        """(perf's fault, the other source's fault), for those solved at once."""
        return [(fault, partners[0]) for fault, partners in self.matches.items()
                if fault and fault.solved and len(partners) == 1]


def assert_complete(result):
    """A perf report: no sample is lost, and the ledger adds up, except for get_user_pages()."""
    assert result["environment"]["source"] == "perf"
    assert result["events_lost"] == 0 and not result["perf_ended"]
    assert not any(row["unexplained"] for row in result["ledger"]["differences"]
                   if row["left"] not in ("minflt", "majflt")), result["ledger"]


@pytest.fixture(name="pair", params=SOURCES, scope="module")
def fixture_pair(request, tmp_path_factory):
    """Recorded once for all tests with a source."""
    if pfstat.has_module():
        pfstat.load()
    return Pair(tmp_path_factory.mktemp("pair"), request.param)


def test_the_program_has_faults_of_every_kind(pair):
    """Otherwise the sources might agree because there is little to see."""
    faults = [fault for thread in pair.perf.values() for fault in thread]
    assert len(faults) > 5000 and len(pair.perf) > 50
    assert sum(fault.major for fault in faults) > 50
    assert sum(not fault.solved for fault in faults) > sum(pair.refused.values()) > 90
    assert {fault.class_name for fault in faults} >= {"file", "anon", "again"}
    seen = {fault.class_name for thread in pair.other.values() for fault in thread}
    assert seen >= {"disk", "around", "long", "mkwrite", "anon", "cow", "error"}, seen


def test_both_sources_record_the_same_faults(pair):
    assert_complete(pair.reports[0])
    pfstat.assert_nothing_lost(pair.reports[1])
    found = list(pair.differences())
    assert len(found) <= pair.skipped(), (len(found), found[:5])
    # A skipped event leaves nothing of the fault, or a retried call.
    assert not [partners for _, partners in found if any(fault.solved for fault in partners)], found


def test_each_fault_has_the_same_place_in_time(pair):
    """perf's second event comes before the return from handle_mm_fault()."""
    pairs = pair.solved()
    assert len(pairs) > 5000
    late = [(perf, other) for perf, other in pairs if perf.end_ns() >= other.end_ns()]
    assert len(late) <= len(pairs) / 1000, (len(late), late[:5])


def by_class(pairs):
    classes = collections.defaultdict(list)
    for perf, other in pairs:
        classes[other.class_name].append((perf, other))
    return classes


def assert_times_agree(pair):
    """perf's fault time includes perf's first sample, and the other source's time includes the
    second. perf's also has a wait for the mappings lock, so a class with few faults says
    nothing."""
    for name, pairs in by_class(pair.solved()).items():
        more = [perf.duration_ns - other.duration_ns for perf, other in pairs]
        if len(more) >= FEW:
            assert abs(statistics.median(more)) < SAMPLE_NS, (name, statistics.median(more))


@pytest.mark.deterministic
def test_times_differ_by_the_cost_of_a_sample(pair):
    assert_times_agree(pair)


@contextlib.contextmanager
def disk_of(name):
    with filesystems.dax() if name == "dax" else filesystems.mounted(name) as place:
        yield place.folder


@pytest.mark.deterministic
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", [
    pytest.param("btrfs", marks=pytest.mark.needs("btrfs" in filesystems.here(), "btrfs")),
    pytest.param("dax", marks=pytest.mark.needs(
        filesystems.has_persistent_memory(),
        "memory that is taken for persistent: tools/lab run --pmem")),
])
def test_times_of_writes_agree_on(name, source, tmp_path):
    if pfstat.has_module():
        pfstat.load()
    with disk_of(name) as disk:
        pair = Pair(tmp_path, source, "$rare shared $file; $rare store $direct; $rare copy $file",
                    disk)
    pfstat.assert_nothing_lost(pair.reports[1])
    assert len(pair.solved()) > DIRECT_PAGES
    assert_times_agree(pair)


def faults_without_event(result):
    """The getrusage(2) faults for which perf has no event."""
    differences = {row["left"]: row["amount"] for row in result["ledger"]["differences"]}
    return differences["minflt"] + differences["majflt"]


def begun(how, path):
    """A program that touches the file in two processes, and the options to watch it."""
    if how == "command":
        return None, ["--", "sh", "-c", f"echo | {WORKLOAD} fork {path} >/dev/null"]
    program = pfstat.Workload("fork", path)
    if how == "pid":
        return program, ["-p", program.pid]
    if how == "file":
        return program, ["--file", path]
    group = pfstat.cgroup("perf-source")
    (group / "cgroup.procs").write_text(str(program.pid))
    return program, ["--cgroup", group]


@pytest.mark.parametrize("how", ["command", "pid", "cgroup", "file"])
def test_perf_records_alone(how, small_file, tmp_path):
    recording = tmp_path / "run.pfs"
    program, target = begun(how, small_file)
    process = pfstat.begin_record("--source", "perf", "-o", recording, *target)
    if program:
        assert process.poll() is None, process.communicate()
        program.finish()
    if how == "cgroup":
        process.send_signal(signal.SIGINT)      # others might enter the group
    _, errors = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, errors
    if how == "cgroup":
        pathlib.Path(target[1]).rmdir()
    result = pfstat.report(recording, "--by", "file")
    assert_complete(result)
    faults = [fault for fault in faults_of(recording) if fault.file == str(small_file)]
    # Each of both processes, with at most 16 pages mapped by a fault.
    assert len(faults) >= 2 * 256 // AROUND_PAGES
    assert pfstat.group_of(result, small_file)["faults"] == len(faults)
    assert len({fault.pid for fault in faults}) == 2
    if how == "file":
        assert result["parts"]["all"]["count"] == len(faults)
    if how == "command":
        # execve(2) writes each program's arguments with get_user_pages().
        assert 0 < faults_without_event(result) < 8
        assert result["ledger"]["unexplained"] == 0


def test_pfdrive_makes_its_accesses_with_perf(small_file):
    """Each fault in the accesses is a getrusage(2) fault."""
    result = pfstat.drive("--source", "perf", "--pattern", "random", small_file)
    assert_complete(result)
    rusage = result["rusage"]
    assert result["parts"]["all"]["count"] == rusage["minflt"] + rusage["majflt"] > 0
    assert result["faults"] is result["calls"] is None


def test_a_direct_read_is_counted_as_get_user_pages(tmp_path):
    """perf has no event for these faults, so the ledger cannot know their cause."""
    path = pfstat.make_file(pfstat.DISK / "direct", DIRECT_PAGES * pfstat.PAGE)
    result, _ = pfstat.record(RARE, "direct", path, options=("--source", "perf"))
    assert_complete(result)
    unexplained = {row["left"]: row["unexplained"] for row in result["ledger"]["differences"]}
    assert DIRECT_PAGES <= unexplained["minflt"] < DIRECT_PAGES + 8


@pytest.fixture(name="home", scope="module")
def fixture_home():
    """For an ordinary user, with pfdrive and the program."""
    with users.user() as home:
        for program in (pfstat.PFDRIVE, WORKLOAD):
            shutil.copy(program, home)
        yield home


@contextlib.contextmanager
def paranoid(level):
    before = PARANOID.read_text()
    PARANOID.write_text(str(level))
    try:
        yield
    finally:
        PARANOID.write_text(before)


USER = {"user": users.UID, "group": users.GID, "extra_groups": []}


def as_user(home, *words, **kwargs):
    return pfstat.run(home / "pfdrive", *words, cwd=home, **USER, **kwargs)


@pytest.mark.parametrize("options", [(), ("--source", "perf")], ids=["default", "perf"])
def test_a_user_records_an_own_program(options, home, small_file):
    """Without a privilege, perf is what works, whether it is asked for or not."""
    recording = home / "run.pfs"
    with paranoid(2):
        as_user(home, "record", "-o", recording, *options, "--", home / "workload", "same",
                small_file, 4)
    assert recording.stat().st_uid == users.UID
    result = pfstat.report(recording)
    assert_complete(result)
    faults = faults_of(recording)
    assert len([fault for fault in faults if fault.file == str(small_file)]) >= 256 // AROUND_PAGES
    assert len({fault.tid for fault in faults}) == 5
    assert not [fault for fault in faults if fault.kernel]
    text = pfstat.run(pfstat.PFDRIVE, "report", recording).stdout
    assert "and faults in system calls (kernel.perf_event_paranoid is above 1)" in \
        " ".join(text.split())
    recording.unlink()


def test_a_user_watches_an_own_process_and_no_other(home, small_file):
    recording = home / "run.pfs"
    with paranoid(2), subprocess.Popen([home / "workload", "fork", small_file], **USER, text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        pid = program.stdout.readline().strip()
        with subprocess.Popen([home / "pfdrive", "record", "-o", recording, "-p", pid], cwd=home,
                              **USER, stderr=subprocess.PIPE, text=True) as process:
            pfstat.wait_until(lambda: process.poll() is not None or pfstat.watches(process))
            program.communicate("\n")
            _, errors = process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 0, errors
        result = as_user(home, "record", "-p", "1", check=False)
    assert_complete(pfstat.report(recording))
    assert len({fault.pid for fault in faults_of(recording)}) == 2
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result.stderr
    recording.unlink()


# Opens perf's page-faults for itself, in user mode only: exits with 1 if that is denied.
OPEN = """
import ctypes, sys
libc = ctypes.CDLL(None)
number = {"x86_64": 298, "aarch64": 241}[__import__("os").uname().machine]
attr = (ctypes.c_uint64 * 14)(1 | 112 << 32, 2, 0, 0, 0, 1 << 5 | 1 << 6)
sys.exit(libc.syscall(number, attr, 0, -1, -1, 0) < 0)
"""


def test_a_user_is_refused_in_one_sentence(home):
    """Debian's kernels know level 3, at which users are denied. Others know only 2."""
    with paranoid(3):
        denied = pfstat.run("python3", "-c", OPEN, check=False, **USER).returncode
        result = as_user(home, "record", "--source", "perf", "--", "true", check=False)
    assert denied in (0, 1) and result.returncode == denied, result.stderr
    if denied:
        assert result.stdout == "" and result.stderr.count("\n") == 1
        assert "kernel.perf_event_paranoid is 3" in result.stderr
        assert "sysctl kernel.perf_event_paranoid=2" in result.stderr

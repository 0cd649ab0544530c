# SPDX-License-Identifier: GPL-2.0-only
"""Lab c: a module that logs the calls of ->fault() of one process.

The truth is two probes of the kernel on filemap_fault(), which the submission's wrapper must call:
they report the begin and the end of the same calls, inside of the submission's times.
"""
import contextlib
import dataclasses
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import sys
import time

from grader.page_cache import evict
from grader.questions import Lab, Wrong

LAB = Lab("c", "fault_module", "Write the fault module", ("Kbuild", "faultlog.c"))

HERE = pathlib.Path(__file__).parent
LOG = pathlib.Path("/sys/kernel/debug/faultlog")
TRACING = pathlib.Path("/sys/kernel/tracing")
PAGE = 4096
PAGES = 2048
DISK_NS = 100_000
BUILD_SECONDS = 300
LOAD_SECONDS = 60
ANSWER_SECONDS = 60
LINE = re.compile(r"^(\d+) (\d+) (\d+) 0x([0-9a-f]+) (major|minor|retry)$")
EVENT = re.compile(r"-(\d+)\s+\[\d+\].*?(\d+)\.(\d{6}): (begin|end):.*?(?:result=(0x\w+))?$")
# enum vm_fault_reason of the kernel
MAJOR, RETRY = 0x4, 0x400
# The longest time between the begins, or the ends, of the inner call and the wrapper. A probe runs
# in it.
OWN_NS = 20_000


@dataclasses.dataclass
class Call:
    start_ns: int
    duration_ns: int
    tid: int
    address: int
    kind: str


def lab_libraries():
    """Modules that pfstat's own tests use in the guest."""
    path = str(HERE.parents[2] / "tests/vm/lib")
    if path not in sys.path:
        sys.path.append(path)
    import filesystems
    import kmsg
    return filesystems, kmsg


def module_loaded():
    return pathlib.Path("/sys/module/faultlog").exists()


def build(box):
    if module_loaded():     # an earlier question failed
        rmmod()
    release = subprocess.check_output(["uname", "-r"], text=True).strip()
    ended = box.run("make", "-C", f"/lib/modules/{release}/build", f"M={box.home}", "modules",
                    seconds=BUILD_SECONDS)
    if not (box.home / "faultlog.ko").is_file():
        lines = [line for line in (ended.err + ended.out).splitlines() if "rror" in line]
        raise Wrong("make builds no faultlog.ko: " + (lines or ["it says no error"])[0][:200])
    return ended


def insmod(box, pid):
    command = ["insmod", box.home / "faultlog.ko", f"pid={pid}"]
    try:
        ended = subprocess.run(command, text=True, capture_output=True, timeout=LOAD_SECONDS,
                               check=False)
    except subprocess.TimeoutExpired:
        raise Wrong(f"insmod did not end within {LOAD_SECONDS} s") from None
    if ended.returncode:
        raise Wrong(f"insmod fails: {ended.stderr.strip()[:200]}")


def rmmod():
    try:
        ended = subprocess.run(["rmmod", "faultlog"], text=True, capture_output=True,
                               timeout=LOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Wrong(f"rmmod did not end within {LOAD_SECONDS} s") from None
    if ended.returncode:
        raise Wrong(f"rmmod fails: {ended.stderr.strip()[:200]}")


@contextlib.contextmanager
def clean_log(marks, points):
    """Gives POINTS if the kernel reports no problem until the end of the block."""
    _, kmsg = lab_libraries()
    log = kmsg.Log()
    yield
    bad = kmsg.report(log.lines())
    marks.check(points, not bad, f"the kernel reports: {bad[0][:200] if bad else ''}")


class Target:
    """The watched process."""

    def __init__(self, path):
        program = pathlib.Path("/run/faultlog_target")
        if not program.exists():
            subprocess.run(["gcc", "-O2", "-o", program, HERE / "target.c"], check=True)
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        self.pid, self.map, _ = self.answer()

    def answer(self):
        """(thread, address of the mapping, sum of the bytes)"""
        words = self._line().split()
        return int(words[0]), int(words[1], 16), int(words[2])

    def _line(self):
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], ANSWER_SECONDS)[0]:
                raise Wrong(f"the watched process does not answer within {ANSWER_SECONDS} s")
            byte = self.process.stdout.read(1)
            if not byte:
                raise Wrong("the watched process was killed")
            line += byte
        return line

    def send(self, line):
        self.process.stdin.write(f"{line}\n".encode())

    def ask(self, line):
        self.send(line)
        return self.answer()

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def fresh_file(path, seed):
    """A cold file of PAGES pages: (its bytes at the start of each page)."""
    first_bytes = random.Random(seed).randbytes(PAGES)
    path.write_bytes(b"".join(bytes([b]) + bytes(PAGE - 1) for b in first_bytes))
    evict(path)
    return first_bytes


class Truth:
    """The calls of filemap_fault() by the kernel's own kprobes."""

    def __init__(self):
        self._write("kprobe_events", "p:faultlog/begin filemap_fault", os.O_APPEND)
        self._write("kprobe_events", "r:faultlog/end filemap_fault result=$retval:x32",
                    os.O_APPEND)
        self._write("trace_clock", "mono")
        self._write("trace", "")
        self._write("events/faultlog/enable", "1")

    @staticmethod
    def _write(name, text, flags=os.O_TRUNC):
        """Not by open(): for appending it seeks, which these files refuse."""
        fd = os.open(TRACING / name, os.O_WRONLY | flags)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def calls(self, tid):
        """[(start_ns, end_ns, result)] of that thread, whose calls follow one another."""
        found, start_ns = [], 0
        for line in (TRACING / "trace").read_text().splitlines():
            match = EVENT.search(line)
            if not match or int(match[1]) != tid:
                continue
            now_ns = int(match[2]) * 10**9 + int(match[3]) * 1000
            if match[4] == "begin":
                start_ns = now_ns
            else:
                found.append((start_ns, now_ns, int(match[5], 16)))
        return found

    def close(self):
        self._write("events/faultlog/enable", "0")
        self._write("kprobe_events", "-:faultlog/begin", os.O_APPEND)
        self._write("kprobe_events", "-:faultlog/end", os.O_APPEND)
        self._write("trace_clock", "local")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read_log():
    """The calls that the submission logged; raises Wrong for a line of another form."""
    if not LOG.exists():
        raise Wrong(f"there is no file {LOG}")
    calls = []
    for line in LOG.read_text().splitlines():
        match = LINE.match(line)
        if not match:
            raise Wrong(f"the log has a line of another form: {line[:100]}")
        calls.append(Call(int(match[1]), int(match[2]), int(match[3]), int(match[4], 16), match[5]))
    return calls


@contextlib.contextmanager
def watched(box, path):
    """The submission, loaded, watches a target that maps PATH; both are gone at the end."""
    build(box)
    with Target(path) as target:
        insmod(box, target.pid)
        try:
            yield target
        finally:
            if module_loaded():
                rmmod()


def random_pages(seed, count):
    return random.Random(seed).sample(range(PAGES), count)


def touch_some(target, seed):
    """A cold sequence, then scattered pages."""
    target.ask("touch 0 128")
    for page in random_pages(seed, 40):
        target.ask(f"touch {page} 1")


@LAB.question("load", 4, "builds, loads and unloads")
def load(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    fresh_file(path, seed)
    ended = build(box)
    with Target(path) as target, clean_log(marks, 1):
        insmod(box, target.pid)
        log_was_there = LOG.exists()
        for _ in range(10):
            rmmod()
            insmod(box, target.pid)
        rmmod()
        if not log_was_there:
            raise Wrong(f"there is no file {LOG}")
        marks.check(1, not LOG.exists(), f"{LOG} stays when the module is unloaded")
        marks.check(2, "warning:" not in ended.err, "the compiler warns")


@LAB.question("count", 5, "logs each call once, with thread and address")
def count(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    fresh_file(path, seed)
    with watched(box, path) as target, Truth() as truth:
        touch_some(target, seed)
        calls, real = read_log(), truth.calls(target.pid)
        if not marks.check(3, len(calls) == len(real) > 0,
                           f"the log has {len(calls)} calls, the kernel made {len(real)}"):
            return
        marks.check(1, all(c.tid == target.pid for c in calls),
                    "a line has another thread than the one that faulted")
        inside = range(target.map, target.map + PAGES * PAGE)
        marks.check(1, all(c.address in inside for c in calls),
                    "a line has an address outside of the mapping")


@LAB.question("time", 4, "times each call")
def times(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    fresh_file(path, seed)
    with watched(box, path) as target, Truth() as truth:
        touch_some(target, seed)
        calls, real = read_log(), truth.calls(target.pid)
    if len(calls) != len(real) or not calls:
        raise Wrong(f"the log has {len(calls)} calls, the kernel made {len(real)}")
    calls.sort(key=lambda call: call.start_ns)
    # The trace prints whole microseconds, rounded.
    early = [start - call.start_ns for call, (start, _, _) in zip(calls, real)]
    marks.check(1, all(-1000 <= ns < OWN_NS for ns in early),
                "a call starts after the kernel's, or much earlier; use CLOCK_MONOTONIC in ns")
    late = [call.start_ns + call.duration_ns - end for call, (_, end, _) in zip(calls, real)]
    marks.check(2, all(-1000 <= ns < OWN_NS for ns in late),
                "a call ends before the kernel's, or much later; use CLOCK_MONOTONIC in ns")
    disk = [c.duration_ns for c, (_, _, result) in zip(calls, real) if result & MAJOR]
    marks.check(1, disk and max(disk) > DISK_NS,
                f"no call takes the {DISK_NS // 1000} us of the disk")


@LAB.question("classes", 2, "tells major, minor and retried calls apart")
def classes(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    fresh_file(path, seed)
    with watched(box, path) as target, Truth() as truth:
        touch_some(target, seed)
        calls, real = read_log(), truth.calls(target.pid)
    expected = ["retry" if result & RETRY else "major" if result & MAJOR else "minor"
                for _, _, result in real]
    logged = [call.kind for call in sorted(calls, key=lambda call: call.start_ns)]
    for kinds in (("retry",), ("major", "minor")):
        marks.check(1, all((a in kinds) == (b in kinds) and (a == b or a not in kinds)
                           for a, b in zip(logged, expected)) and len(logged) == len(expected) > 0,
                    f"calls of class {' or '.join(kinds)} differ from the kernel's results")


@LAB.question("fork", 4, "children and moved mappings")
def fork(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    content = fresh_file(path, seed)
    build(box)
    with clean_log(marks, 1), Target(path) as target, Truth() as truth:
        insmod(box, target.pid)
        target.ask("child")
        child, _, total = target.ask("fork 100 20")
        real, calls = truth.calls(child), [c for c in read_log() if c.tid == child]
        marks.check(1, len(calls) == len(real) > 0,
                    f"of a child the log has {len(calls)} calls, the kernel made {len(real)}")
        _, there, _ = target.ask("move")
        before = len(read_log())
        _, _, moved = target.ask("touch 1000 1")
        later = read_log()[before:]
        marks.check(1, later and later[0].address == there + 1000 * PAGE,
                    "a call after mremap() is missing, or has an old address")
        rmmod()
        _, _, afterwards = target.ask("wake 1500 20")
        marks.check(1, (total, moved, afterwards) ==
                    (sum(content[100:120]), content[1000], sum(content[1500:1520])),
                    "the process or its child reads wrong data")


@contextlib.contextmanager
def stuck_fault(box, place, path):
    """The submission is loaded, and a fault of the target waits for a suspended disk."""
    build(box)
    with Target(path) as target:
        insmod(box, target.pid)
        target.ask("touch 0 1")
        if not read_log():
            raise Wrong("the log has no call")
        place.device.dmsetup("suspend", "--noflush", "--nolockfs")
        try:
            target.send("touch 500 1")
            state = pathlib.Path(f"/proc/{target.pid}/stat")
            while state.read_text().rsplit(")", 1)[1].split()[0] != "D":
                time.sleep(0.01)
            yield target
        finally:
            place.device.dmsetup("resume")


@LAB.question("unload", 5, "can be unloaded while a fault is in it")
def unload(marks, box, seed):
    filesystems, _ = lab_libraries()
    with clean_log(marks, 2), filesystems.on_disk("ext4") as place:
        path = place.file("faultlog", PAGES)
        content = fresh_file(path, seed)
        with stuck_fault(box, place, path) as target:
            process = subprocess.Popen(["rmmod", "faultlog"], stderr=subprocess.DEVNULL)
            time.sleep(1)
            gone = process.poll() is not None and not module_loaded()
            marks.check(1, not gone, "the module is gone while a fault is in it")
            place.device.dmsetup("resume")
            _, _, byte = target.answer()
            marks.check(1, byte == content[500], "the process reads wrong data")
            try:
                process.wait(timeout=LOAD_SECONDS)
            except subprocess.TimeoutExpired:
                raise Wrong(f"rmmod did not end within {LOAD_SECONDS} s of the fault") from None
            if module_loaded():      # rmmod refused while the fault was in it: try again
                rmmod()
            _, _, total = target.ask("touch 600 200")
            marks.check(1, total == sum(content[600:800]) and not module_loaded(),
                        "the process reads wrong data when the module is gone")


@LAB.question("debug", 4, "no report by KASAN and lockdep", machine="debug")
def debug(marks, box, seed):
    path = pathlib.Path("/mnt/disk/faultlog")
    fresh_file(path, seed)
    with clean_log(marks, 4):
        with watched(box, path) as target:
            touch_some(target, seed)
            target.ask("fork 100 20")
            target.ask("move")
            read_log()
            rmmod()
            target.ask("touch 1500 10")

# SPDX-License-Identifier: GPL-2.0-only
"""Every step by which pfdrive sets its instruments up, or reads them, fails once: it ends
with one sentence and status 1, or goes on with figures that close; nothing stays behind.

strace makes the n-th call of a kind fail. A sample of the steps, or with --every-step all."""
import json
import pathlib
import re
import subprocess

import pfstat
from pfstat import PAGE

SYSCALLS = ("bpf", "perf_event_open", "mmap", "epoll_create1", "epoll_ctl", "eventfd2", "openat",
            "write", "ioctl", "pidfd_open", "membarrier", "mkdir", "read", "statfs")
# Calls of these say what they are about by the file; others are the C library's business.
WANTED = re.compile(r"/sys/kernel/debug/pfstat|/sys/fs/bpf|anon_inode|/proc/(self|\d+)/(maps|task)"
                    r"|/sys/kernel/btf")
BY_FILE = ("mmap", "openat", "write", "ioctl", "read", "mkdir", "statfs")
RECORDING = pathlib.Path("/tmp/steps/run.pfs")
ERRORS = ("EPERM", "ENOMEM")
# Of a call that failed none of these is the cause, nor a sentence. (Of a process EPERM is the
# module's word for a kernel thread.)
UNTRUE = re.compile(r"\(null\)|Protocol error|pfdrive: /\S+ is a kernel thread|Success")
LINE = re.compile(r"(\w+)\((.*)")
# The sample: each step takes a start of pfdrive, some seconds.
SAMPLE = 3


def drive(file):
    return [str(pfstat.PFDRIVE), "--format", "json", "--cache", "warm", str(file)]


def record(file):
    return [str(pfstat.PFDRIVE), "record", "-o", str(RECORDING), "--json", "/dev/stdout", "--",
            str(pfstat.BUILD / "workload"), "now", str(file)]


def strace(command, syscalls, *options):
    """CompletedProcess of the command, and strace's lines. Of its first thread alone: what
    strace makes fail the n-th time would do so once in each thread and process it follows."""
    trace = pathlib.Path("/tmp/strace")
    result = subprocess.run(["strace", "-y", "-s", "64", "-o", trace,
                             "-e", "trace=" + ",".join(syscalls), *options, *command],
                            text=True, capture_output=True, timeout=pfstat.PATIENCE, check=False)
    return result, trace.read_text(errors="replace").splitlines()


def kind_of(name, rest):
    """What a call is: its name, and the first word or the file of what it is about."""
    if name == "bpf":
        return f"bpf {rest.split(',')[0]}"
    found = WANTED.search(rest)
    file = re.search(r'[<"](/sys/[^>"]*|/proc/[^>"]*|anon_inode:[^>"]*)', rest)
    return f"{name} {re.sub('[0-9]+', 'N', file[1])}" if file and found else name


def steps_of(command):
    """[(syscall, n, kind)]: calls that set up, in their order."""
    result, lines = strace(command, SYSCALLS)
    assert result.returncode == 0, result.stderr
    counts, steps = {}, []
    for line in lines:
        call = LINE.match(line)
        if not call or call[1] not in SYSCALLS:
            continue
        name = call[1]
        counts[name] = counts.get(name, 0) + 1
        about = call[2].split(" = ")[0]
        if name == "read" and "/sys/kernel/btf" in about:
            continue        # thousands, one like the other
        if name == "write" and "eventfd" in about:
            continue        # a 1 is refused only by one that has counted to 2^64 - 2
        if name not in BY_FILE or WANTED.search(about):
            steps.append((name, counts[name], kind_of(name, call[2])))
    return steps


def distinct(steps):
    """The first of each kind, and the last."""
    kinds = {}
    for step in steps:
        kinds.setdefault(step[2], []).append(step)
    return sorted({step for found in kinds.values() for step in (found[0], found[-1])},
                  key=steps.index)


def bpf_objects():
    """Programs, maps and links of pfdrive's."""
    found = []
    for what in ("prog", "map", "link"):
        listed = json.loads(pfstat.run("bpftool", "-j", what).stdout or "[]")
        found += [item.get("name", item["id"]) for item in listed]
    return found


def left_behind(before):
    """What should not be there after pfdrive's end; the kernel frees some a little later."""
    return {name: there for name, there in {
        "objects": [item for item in bpf_objects() if item not in before],
        "pins": pfstat.PINS.exists() and str(pfstat.PINS),
        "recorder": not pfstat.targets().startswith("recorder none") and pfstat.targets(),
        "process": pfstat.run("pgrep", "-x", "pfdrive|workload", check=False).stdout,
    }.items() if there}


def check_figures(text):
    """What it found is right though a step failed: the counts of it agree."""
    report = pfstat.report_of(text)
    assert report["ledger"]["unexplained"] == 0 and report["lost"] == 0 and report["calls"] > 0


def lost_recording(result):
    """What is wrong with what is left of the recording, or None: after an error it is not there
    if nothing was watched yet; else it can be read, and says what is missing."""
    left = [path.name for path in RECORDING.parent.iterdir()]
    if not left and result.returncode and not result.stdout:
        return None
    if left != [RECORDING.name]:
        return f"it left {left}, status {result.returncode}"
    damage = pfstat.report(RECORDING)["damage"]
    if result.returncode and not damage and "names of code" not in result.stderr:
        return "the recording does not say that it is not whole"
    return f"status 0, but {damage}" if damage and not result.returncode else None


def wrong_output(command, result):
    if command[1] == "record":
        return lost_recording(result)
    return result.stdout and f"status 1, but it printed {result.stdout[:80]!r}"


def fail(command, step, error, before):
    """A line that says what is wrong, or None; what happened is printed."""
    name, nth, kind = step
    what = f"{kind} ({name} {nth}), {error}"
    wrong = wrong_after(command, step, error, before, what)
    if wrong:
        print("FAILED", wrong, flush=True)
    return wrong


def wrong_after(command, step, injected, before, what):
    name, nth, _ = step
    for path in RECORDING.parent.iterdir():
        path.unlink()
    try:
        result, lines = strace(command, [name], "-e", f"inject={name}:error={injected}:when={nth}")
    except subprocess.TimeoutExpired:
        return f"{what}: it did not end"
    said = [line for line in result.stderr.splitlines() if line.startswith("pfdrive: ")]
    if not any("(INJECTED)" in line for line in lines):
        return f"{what}: it was not made"
    if result.returncode == 0:
        try:
            check_figures(result.stdout)
        except AssertionError as error:
            return f"{what}: status 0, but {error}"
    elif result.returncode != 1 or len(said) != 1 or len(result.stderr.splitlines()) != 1:
        return f"{what}: status {result.returncode}, {result.stderr!r}"
    elif UNTRUE.search(said[0]):
        return f"{what}: {said[0]!r}"
    wrong = wrong_output(command, result) if result.returncode or command[1] == "record" else None
    if wrong:
        return f"{what}: {wrong}"
    try:
        pfstat.wait_until(lambda: not left_behind(before), 10)
    except AssertionError:
        return f"{what}: it left {left_behind(before)}"
    print(f"{what}: {result.returncode} {said}")
    return None


def sample(steps):
    """Spread over all kinds; of another kernel others."""
    every = len(steps) // SAMPLE
    return steps[pfstat.KERNEL[1] % every::every][:SAMPLE]


def part(steps, which):
    """Of I/N every N-th, from the I-th on."""
    number, parts = map(int, which.split("/"))
    return steps[number - 1::parts]


def choose(command, steps, which):
    """Without `which` a sample. A drive makes record's steps; what comes after them is its own:
    so of each kind two do."""
    if not which:
        return sample(distinct(steps))
    return part(steps if command is record else distinct(steps), which)


def pytest_generate_tests(metafunc):
    commands = (record, drive) if metafunc.config.getoption("--every-step") else (record,)
    metafunc.parametrize("command", commands)


def test_each_step_fails_once(command, pytestconfig):
    file = pfstat.make_file(pfstat.DISK / "steps", 64 * PAGE)
    RECORDING.parent.mkdir(exist_ok=True)
    before = bpf_objects()
    steps = steps_of(command(file))
    assert {"bpf", "perf_event_open", "mmap"} <= {name for name, _, _ in steps}
    chosen = choose(command, steps, pytestconfig.getoption("--every-step"))
    failures = [fail(command(file), step, ERRORS[i % 2], before) for i, step in enumerate(chosen)]
    failures = [line for line in failures if line]
    print(f"{len(chosen)} of {len(steps)} steps failed in turn")
    assert not failures, "\n".join(failures)
    check_figures(pfstat.run(*command(file)).stdout)    # right after

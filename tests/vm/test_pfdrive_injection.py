# SPDX-License-Identifier: GPL-2.0-only
"""Every step by which pfdrive sets instruments up, or reads them, fails once: pfdrive exits with
one message and status 1, or continues with figures that add up. Nothing is left behind.

strace makes the n-th call of a kind fail. A sample of the steps, or with --every-step all.
"""
import json
import pathlib
import re
import subprocess

import pfstat
from pfstat import PAGE

SYSCALLS = ("bpf", "perf_event_open", "mmap", "epoll_create1", "epoll_ctl", "eventfd2", "openat",
            "write", "ioctl", "pidfd_open", "membarrier", "mkdir", "read", "statfs")
# The subject of these calls is in their file. Other calls belong to the C library.
WANTED = re.compile(r"/dev/pfstat|/sys/fs/bpf|anon_inode|/proc/(self|\d+)/(maps|task)"
                    r"|/sys/kernel/btf")
BY_FILE = ("mmap", "openat", "write", "ioctl", "read", "mkdir", "statfs")
RECORDING = pathlib.Path("/tmp/steps/run.pfs")
ERRORS = ("EPERM", "ENOMEM")
# Messages that are wrong for a failed call, or malformed. (For a process, EPERM is the module's
# code for a kernel thread.)
UNTRUE = re.compile(r"\(null\)|Protocol error|pfdrive: /\S+ is a kernel thread|Success")
LINE = re.compile(r"(\w+)\((.*)")
# Sample size: each step needs a pfdrive start, which takes some seconds.
SAMPLE = 3


def drive(file):
    return [str(pfstat.PFDRIVE), "--format", "json", "--cache", "warm", str(file)]


def record(file):
    return [str(pfstat.PFDRIVE), "record", "-o", str(RECORDING), "--json", "/dev/stdout", "--",
            str(pfstat.BUILD / "workload"), "now", str(file)]


def strace(command, syscalls, *options):
    """Runs the command, and returns the CompletedProcess and the strace lines. Only the first
    thread is traced: strace would count n separately in each thread and process it follows."""
    trace = pathlib.Path("/tmp/strace")
    result = subprocess.run(["strace", "-y", "-s", "64", "-o", trace,
                             "-e", "trace=" + ",".join(syscalls), *options, *command],
                            text=True, capture_output=True, timeout=pfstat.PATIENCE, check=False)
    return result, trace.read_text(errors="replace").splitlines()


def kind_of(name, rest):
    """A call's kind: the name, and the first word or the file."""
    if name == "bpf":
        return f"bpf {rest.split(',')[0]}"
    found = WANTED.search(rest)
    file = re.search(r'[<"](/sys/[^>"]*|/dev/pfstat[^>"]*|/proc/[^>"]*|anon_inode:[^>"]*)', rest)
    return f"{name} {re.sub('[0-9]+', 'N', file[1])}" if file and found else name


def steps_of(command):
    """[(syscall, n, kind)] for the setup calls, in order."""
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
            continue        # thousands of equal calls
        if name == "write" and "eventfd" in about:
            continue        # a failed write of 1 needs a counter at 2^64 - 2
        if name not in BY_FILE or WANTED.search(about):
            steps.append((name, counts[name], kind_of(name, call[2])))
    return steps


def distinct(steps):
    """The first call in each kind, and the last one."""
    kinds = {}
    for step in steps:
        kinds.setdefault(step[2], []).append(step)
    return sorted({step for found in kinds.values() for step in (found[0], found[-1])},
                  key=steps.index)


def bpf_objects():
    """pfdrive's programs, maps and links."""
    found = []
    for what in ("prog", "map", "link"):
        listed = json.loads(pfstat.run("bpftool", "-j", what).stdout or "[]")
        found += [item.get("name", item["id"]) for item in listed]
    return found


def left_behind(before):
    """Leftovers after pfdrive's exit. The kernel frees some objects a little later."""
    return {name: there for name, there in {
        "objects": [item for item in bpf_objects() if item not in before],
        "pins": pfstat.PINS.exists() and str(pfstat.PINS),
        "recorder": not pfstat.targets().startswith("recorder none") and pfstat.targets(),
        "process": pfstat.run("pgrep", "-x", "pfdrive|workload", check=False).stdout,
    }.items() if there}


def check_figures(text):
    """The figures are correct although a step failed: the counts agree."""
    report = pfstat.report_of(text)
    assert report["ledger"]["unexplained"] == 0 and report["lost"] == 0 and report["calls"] > 0


def lost_recording(result):
    """A problem in the remaining recording, or None. After an error the recording is missing if the
    watch had not begun. Otherwise it is readable and states what is missing."""
    left = [path.name for path in RECORDING.parent.iterdir()]
    if not left and result.returncode and not result.stdout:
        return None
    if left != [RECORDING.name]:
        return f"it left {left}, status {result.returncode}"
    damage = pfstat.report(RECORDING)["damage"]
    if result.returncode and not damage and "cannot look up" not in result.stderr:
        return "the recording does not say that it is not whole"
    return f"status 0, but {damage}" if damage and not result.returncode else None


def wrong_output(command, result):
    if command[1] == "record":
        return lost_recording(result)
    return result.stdout and f"status 1, but it printed {result.stdout[:80]!r}"


def fail(command, step, error, before):
    """Prints the step, and returns a line about the problem, or None."""
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
        pfstat.wait_until(lambda: not left_behind(before))
    except AssertionError:
        return f"{what}: it left {left_behind(before)}"
    print(f"{what}: {result.returncode} {said}")
    return None


def sample(steps):
    """A sample over all kinds, which differs between kernels."""
    every = len(steps) // SAMPLE
    return steps[pfstat.KERNEL[1] % every::every][:SAMPLE]


def part(steps, which):
    """For I/N: every N-th step, beginning with the I-th."""
    number, parts = map(int, which.split("/"))
    return steps[number - 1::parts]


def choose(command, steps, which):
    """Without `which` a sample. A drive repeats record's steps before the drive's own, so for a
    drive two steps in each kind are enough."""
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
    check_figures(pfstat.run(*command(file)).stdout)    # immediately afterwards

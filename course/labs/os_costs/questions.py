# SPDX-License-Identifier: GPL-2.0-only
"""Lab b: the cost of system operations, measured by the submission and by pfdrive bench.

Both measure in the same VM, whose clock counts instructions. A number that was written into the
program instead of measured is refused: the kernel counts what the program did.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess

from grader.questions import Lab, Wrong
from grader.report import grade_report

LAB = Lab("b", "os_costs", "What does an operating system cost?",
          ("measure.c", "predictions", "report.rst"))

HERE = pathlib.Path(__file__).parent
FOLDER = pathlib.Path("/mnt/disk/measure")
SECONDS = 10
BENCH_SECONDS = 900
# The stages of the report, with the operations of each and the row of pfdrive bench.
STAGES = {
    "cpu": {"cpu.syscall": "cpu.syscall", "pipe.self": "pipe.self",
            "switch.process": "switch.process", "thread.create": "thread.create",
            "process.vfork_exec": "process.vfork_exec"},
    "memory": {"fault.anon": "fault.anon", "fault.cow": "fault.cow"},
    "network": {"net.tcp_rtt": "net.tcp_rtt", "net.tcp_setup": "net.tcp_setup"},
    "files": {"file.cached": "file.cached:4M", "file.random": "file.random:4M"},
}
CLOSE = 0.15
# The least number of operations of a repeated measurement, as the kernel counts them.
LEAST = {"cpu.syscall": ("system calls", 1000), "pipe.self": ("system calls", 1000),
         "switch.process": ("switches", 500), "thread.create": ("new tasks", 50),
         "process.vfork_exec": ("new tasks", 30), "fault.anon": ("faults", 500),
         "fault.cow": ("faults", 500), "net.tcp_rtt": ("switches", 100),
         "net.tcp_setup": ("system calls", 100), "file.cached": ("system calls", 500),
         "file.random": ("blocks read", 200)}
TRACING = pathlib.Path("/sys/kernel/tracing")


def bench(box, rows):
    """{row: (ns, predicted ns or None)} of pfdrive bench with the submission's predictions."""
    ended = subprocess.run(["pfdrive", "bench", "--quick", "--no-bpf", "--format", "json",
                            "--directory", "/mnt/disk", "--predict", box.home / "predictions",
                            *sorted({"cpu.syscall"} | {row.split(":")[0] for row in rows})],
                           check=False, text=True, capture_output=True, timeout=BENCH_SECONDS)
    if ended.returncode == 2:
        raise Wrong(f"pfdrive refuses the predictions: {ended.stderr.strip()[:200]}")
    ended.check_returncode()
    return {row["name"]: (row["measured"]["median"], row["predicted"]["value"])
            for row in json.loads(ended.stdout)["rows"] if row["name"] in rows}


class Counts:
    """What the kernel counts while the submission runs."""

    EVENTS = {"system calls": "raw_syscalls/sys_enter", "new tasks": "sched/sched_process_fork",
              "switches": "sched/sched_switch"}

    def __enter__(self):
        self.before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for event in self.EVENTS.values():
            (TRACING / "events" / event / "trigger").write_text("hist:keys=common_pid.execname\n")
        return self

    def __exit__(self, *_):
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.counts = {"faults": after.ru_minflt - self.before.ru_minflt,
                       "blocks read": (after.ru_inblock - self.before.ru_inblock) // 8}
        for what, event in self.EVENTS.items():
            text = (TRACING / "events" / event / "hist").read_text()
            # The kernel keeps the name that a process had at its first event, before its exec.
            self.counts[what] = sum(int(count) for count in re.findall(
                r"common_pid: (?:launch|measure) +\[.*hitcount: +(\d+)", text))
            (TRACING / "events" / event / "trigger").write_text(
                "!hist:keys=common_pid.execname\n")


def run_measure(box, operation):
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.chown(FOLDER, box.user, box.user)
    return box.must_run("./measure", operation, FOLDER, seconds=SECONDS).out


def measured(box, operation):
    """(ns that the submission prints, counts of the kernel) by two runs: counting takes time."""
    out = run_measure(box, operation)
    with Counts() as counts:
        run_measure(box, operation)
    try:
        return float(out), counts.counts
    except ValueError:
        raise Wrong(f"measure {operation} prints {out[:40]!r} instead of a number") from None


def grade_stage(marks, box, stage):
    """Two points for each operation that agrees, one for each prediction within a factor of 3."""
    rows = STAGES[stage]
    truth = bench(box, rows.values())
    box.compile("measure", "measure.c", "-lpthread", "-lm")
    for operation, row in rows.items():
        real, guess = truth[row]
        marks.check(1, guess and real / 3 <= guess <= real * 3,
                    f"the prediction for {row} is {guess or 0:.0f} ns, not within a factor of 3 of "
                    f"{real:.0f}")
        try:
            ns, counts = measured(box, operation)
        except Wrong as wrong:
            marks.check(2, False, str(wrong))
            continue
        what, least = LEAST[operation]
        if counts[what] < least:
            marks.check(2, False, f"measure {operation} made {counts[what]} {what}; a measurement "
                        f"needs at least {least}")
            continue
        marks.check(2, abs(ns - real) <= CLOSE * real,
                    f"measure {operation} says {ns:.0f} ns, pfdrive bench {real:.0f}: more than "
                    f"{CLOSE:.0%} apart")


@LAB.question("cpu", 15, "system call, pipe, switch, thread, process")
def cpu(marks, box, _seed):
    grade_stage(marks, box, "cpu")


@LAB.question("memory", 6, "faults of anonymous memory and of a private copy")
def memory(marks, box, _seed):
    grade_stage(marks, box, "memory")


@LAB.question("network", 6, "round trip and connect over loopback")
def network(marks, box, _seed):
    grade_stage(marks, box, "network")


@LAB.question("files", 6, "a block from the page cache and from the disk")
def files(marks, box, _seed):
    grade_stage(marks, box, "files")


@LAB.question("report", 3, "the report is complete")
def report(marks, box, _seed):
    """A person reads the text; this looks for what is missing."""
    grade_report(marks, box, 3, [operation for rows in STAGES.values() for operation in rows])

# SPDX-License-Identifier: GPL-2.0-only
"""Asks the questions in VMs. A VM that ends during a question costs only that question."""
import contextlib
import dataclasses
import json
import pathlib
import queue
import re
import subprocess
import tempfile
import threading

TREE = pathlib.Path(__file__).resolve().parents[2]
# Wall-clock limits: they only end a machine that no longer answers. Those that count are in the
# guest's clock (sandbox.py).
START_SECONDS = 3600        # also builds the root and the tree
QUESTION_SECONDS = 1800
OPTIONS = {"deterministic": ["--deterministic"], "cpus": ["--cpus", "2"],
           "debug": ["--kernel", "debug", "--cpus", "2"]}
PANIC = re.compile(r"Kernel panic.*|BUG: .*|Oops: .*|watchdog: BUG.*")


class Failed(Exception):
    """The grader itself failed: no points were decided."""


@dataclasses.dataclass
class Answer:
    question: object
    points: int
    reasons: list


class Machine:
    """One VM; lines() yields what its grader reports."""

    def __init__(self, kind, lab, names, folder, seed):
        self.out = tempfile.TemporaryDirectory(prefix="pfstat-grade-out.")
        command = [TREE / "tools/lab", "run", "--quiet", *OPTIONS[kind], "--in", folder,
                   "--out", self.out.name, "--", "course/grader/in_guest.py",
                   "--seed", str(seed), lab.letter, *names]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.received = queue.Queue()
        self.errors = []
        self.threads = [threading.Thread(target=self._read_lines),
                        threading.Thread(target=self._read_errors)]
        for thread in self.threads:
            thread.start()

    def _read_lines(self):
        for line in self.process.stdout:
            self.received.put(line)
        self.received.put(None)

    def _read_errors(self):
        self.errors.extend(self.process.stderr)

    def all_errors(self):
        """What the lab printed on stderr until its end."""
        self.process.wait()
        self.threads[1].join()
        return "".join(self.errors).strip()

    def next(self, seconds):
        """The next report of the guest. None: the VM has ended. queue.Empty: it is late."""
        line = self.received.get(timeout=seconds)
        return json.loads(line) if line else None

    def close(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=60)
        self.process.kill()
        for thread in self.threads:
            thread.join()
        self.out.cleanup()

    def console(self):
        path = pathlib.Path(self.out.name, "console.log")
        return path.read_text(errors="replace") if path.exists() else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def why_it_ended(vm):
    """A sentence for a question during which the VM ended."""
    vm.process.wait()
    panic = PANIC.search(vm.console())
    if panic:
        return f"the kernel of the VM failed: {panic.group(0).strip()}"
    return "the VM ended during this question"


def grade_in_one(kind, lab, questions, folder, seed):
    """The answers of one VM, which may be fewer than the questions, but at least one."""
    answers = []
    by_name = {q.name: q for q in questions}
    with Machine(kind, lab, list(by_name), folder, seed) as vm:
        current, limit = None, START_SECONDS
        while True:
            try:
                report = vm.next(limit)
            except queue.Empty:
                if current is None:
                    raise Failed(f"the VM did not start within {START_SECONDS} s") from None
                reason = f"the VM did not answer within {limit} s"
                return answers + [Answer(by_name[current], 0, [reason])]
            if report is None:
                break
            if "failure" in report:
                raise Failed(f"question {current}: {report['failure']}")
            if "begin" in report:
                current, limit = report["begin"], QUESTION_SECONDS
            else:
                answers.append(Answer(by_name[current], report["points"], report["reasons"]))
                current = None
        if current is not None:
            answers.append(Answer(by_name[current], 0, [why_it_ended(vm)]))
        elif not answers:
            raise Failed("the VM did not run: " + vm.all_errors())
    return answers


def grade(lab, questions, folder, seed):
    """The answers to QUESTIONS about the submission in FOLDER, in the order of the questions."""
    answers = {}
    for kind in OPTIONS:
        left = [q for q in questions if q.machine == kind]
        while left:
            for answer in grade_in_one(kind, lab, left, folder, seed):
                answers[answer.question.name] = answer
            left = [q for q in left if q.name not in answers]
    return [answers[q.name] for q in questions]

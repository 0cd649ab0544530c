# SPDX-License-Identifier: GPL-2.0-only
"""Records a case's program in the case's place, and judges the report's first lines."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import time

import pfstat
import places

PROGRAMS = pathlib.Path(__file__).parent
FIRST_LINES = 8
# The run share from which on faults may slow the run.
LEAST_OF_RUN = 0.05
# The remedy leaves at most this share of the cause's count.
REMEDY = 2 / 3
ROOT_PLACES = {"slow_disk", "cgroup", "program_on_disk", "huge_pages", "merging", "squashed",
               "remote", "persistent", "shm"}


@dataclasses.dataclass(frozen=True)
class Variant:
    """A command and the place for it: (name, {option: value})."""
    command: str
    place: tuple = ("nothing", {})
    attach: bool = False        # the program waits for a line after the preparation
    idle: float = 0             # and has nothing to do for so many seconds

    def needs_root(self):
        return self.place[0] in ROOT_PLACES


@dataclasses.dataclass(frozen=True)
class Case:
    """A program whose mechanism is known, and the required first lines.

    complaint: what users say, or what the program looks like. reports: where they say it. truth:
    the mechanism, as the program's source shows it. counts: what the kernel counts for the program
    at least. With less, the case did not happen.

    rules: the rules of right causes. words: regular expressions found in the text of such a cause.
    remedy: found in its remedy. never: found in none of the first lines. certain: if False, a right
    cause need not be certain. perf, perf_words, perf_remedy: the same for a recording with perf's
    events. perf_says: the outcomes that a test accepts. may_be: what an uncertain cause of another
    rule names, if it has the right mechanism as one of several.

    after: the remedy applied. fewer: what is then lower (REMEDY): faults, majors, copies, maxrss,
    or cause, the number of certain causes with these rules.
    """
    name: str
    complaint: str
    reports: tuple
    truth: str
    counts: dict
    variant: Variant
    rules: tuple
    words: tuple = ()
    never: tuple = ()
    certain: bool = True
    perf: tuple = None          # None: no recording with perf
    perf_words: tuple = ()
    perf_remedy: tuple = ()
    perf_says: tuple = ("named", "uncertain")
    may_be: str = None
    after: Variant = None
    fewer: str = "faults"
    remedy: tuple = ()
    needs: tuple = ()           # ("persistent memory",)
    perf_sees_remedy: bool = True
    hidden: bool = False        # perf sees few of the faults, so their share proves nothing
    near: bool = False          # a near miss: it looks like another rule's case

    def perf_tests_remedy(self):
        """tests/native applies the remedy, so tests/vm does not."""
        return self.perf is not None and self.after is not None and self.perf_sees_remedy and \
            not self.after.needs_root()

    def happened(self, usage):
        """True if the kernel counted as much for the program."""
        return all((usage[name] or 0) >= least for name, least in self.counts.items())


def program(name, folder=None):
    """A compiled program, or a script with an interpreter. folder: the program's location."""
    if name.endswith(".py"):
        return ["/usr/bin/python3", (folder or PROGRAMS) / name]
    return [(folder or pfstat.BUILD / "complaints") / name]


def command_of(variant, place, programs=None):
    """The command's words, with the place's words."""
    first, *rest = variant.command.split()
    start = [place.words["program"]] if "program" in place.words else program(first, programs)
    return [*map(str, place.prefix), *map(str, start),
            *(word.format(**place.words) for word in rest)]


def place_of(variant, folder):
    name, options = variant.place
    if name in ("program_on_disk", "squashed"):
        options = options | {"program": program(variant.command.split()[0])[0]}
    return getattr(places, name)(folder, **options)


def attached(words, command, options, idle):
    """Starts the program, records it from the preparation on, and lets it go. Returns the
    kernel's counts for it."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          **options) as target:
        assert target.stdout.readline() == "ready\n"
        with subprocess.Popen([*words, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True,
                              **options) as recorder:
            pfstat.wait_until(lambda: recorder.poll() is not None or pfstat.watches(recorder))
            time.sleep(idle)
            target.stdin.write("\n")
            target.stdin.close()
            pfstat.wait_until(lambda: os.waitid(os.P_PID, target.pid,
                                                os.WEXITED | os.WNOHANG | os.WNOWAIT))
            _, status, usage = os.wait4(target.pid, 0)
            target.returncode = os.waitstatus_to_exitcode(status)
            _, messages = recorder.communicate(timeout=pfstat.PATIENCE)
            assert recorder.returncode == 0, messages
    return {"minflt": usage.ru_minflt, "majflt": usage.ru_majflt}


def record(variant, folder, recording, source, programs=None, options=None):
    """Writes the variant's recording in the variant's place, and returns its Result.

    programs: the folder with these programs and pfdrive. options: for subprocess.Popen(), as the
    user.
    """
    options = options or {}
    pfdrive = programs / "pfdrive" if programs else pfstat.PFDRIVE
    words = [str(pfdrive), "record", "--output", str(recording), "--source", source]
    usage = None
    with place_of(variant, folder) as place:
        command = command_of(variant, place, programs)
        if command[0].endswith("python3"):
            pfstat.run(*command, **options)     # the interpreter is in the page cache from now on
        elif pathlib.Path(command[0]).is_relative_to(pfstat.BUILD):
            # While the instruction clock waits for the disk of the tests, it may go on by seconds.
            pathlib.Path(command[0]).read_bytes()
        if variant.attach:
            usage = attached(words, command, options, variant.idle)
        else:
            pfstat.run(*words, "--", *command, **options)
    return Result(recording, usage)


class Result:
    """A report: the JSON and the first lines. usage: the kernel's counts for the program."""

    def __init__(self, recording, usage=None, pfdrive=pfstat.PFDRIVE):
        self.recording = recording
        text = pfstat.run(pfdrive, "report", recording).stdout
        lines = text.split("\n\n")[0].splitlines()
        # Notes on the source may come before.
        first = next(n for n, line in enumerate(lines) if "faults" in line.split(":")[0])
        self.lines = lines[first:first + FIRST_LINES]
        self.json = json.loads(pfstat.run(pfdrive, "report", "--format", "json", recording).stdout)
        self.causes = self.json["verdict"]["causes"]
        self.usage = usage or self.json["rusage"]

    def sentence(self):
        """The first lines as one line."""
        return " ".join(" ".join(self.lines).split())

    def count(self, case):
        """What the case's remedy makes fewer."""
        parts = self.json["parts"]
        if case.fewer == "cause":
            return sum(cause["certain"] and cause["rule"] in case.rules for cause in self.causes)
        if case.fewer == "maxrss":
            return self.json["rusage"]["maxrss_kb"]
        if case.fewer == "copies":
            # perf sees a fault on a known page, but not its work.
            is_perf = self.json["environment"]["source"] == "perf"
            return parts["classes"]["again" if is_perf else "cow"]["count"]
        return parts["all"][{"faults": "count", "majors": "major"}[case.fewer]]


# A wait for a CPU is due to the machine, and not to the program.
OF_MACHINE = "cpu-wait"
ACQUITTAL = "nothing-wrong"


def outcome(result, case):
    """How right the first lines are.

    named: the first cause is certain and right. uncertain: it is not certain, and the right one is
    among what it leaves open. missed: neither. wrong: a certain cause is false, or a forbidden
    phrase is there.
    """
    is_perf = result.json["environment"]["source"] == "perf"
    expected = (case.perf, case.perf_words, case.perf_remedy) if is_perf else \
        (case.rules, case.words, case.remedy)
    causes = [cause for cause in result.causes if cause["rule"] != OF_MACHINE]
    if any(found(phrase, result.sentence()) for phrase in case.never):
        return "wrong"
    if not causes:
        return "missed"
    if causes[0]["certain"]:
        if causes[0]["rule"] not in expected[0]:
            return "wrong"
        return "named" if is_right(causes[0], *expected) else "missed"
    if is_right(causes[0], *expected) or names_candidate(causes, case):
        return "uncertain"
    return "missed"


def is_right(cause, rules, words, remedy):
    return cause["rule"] in rules and all(found(word, cause["text"]) for word in words) and \
        all(found(word, cause["remedy"]) for word in remedy)


def names_candidate(causes, case):
    return case.may_be and any(found(case.may_be, cause["text"])
                               for cause in causes if not cause["certain"])


def is_acquitted(result, case):
    """A machine busy with other programs makes the run's share small, and so may acquit."""
    return result.causes[0]["rule"] == ACQUITTAL and not case.hidden and \
        result.json["verdict"]["share"] < LEAST_OF_RUN


def found(pattern, text):
    return re.search(pattern, text, re.IGNORECASE)

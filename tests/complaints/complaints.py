# SPDX-License-Identifier: GPL-2.0-only
"""Records a complaint's program in the complaint's place, and looks at the report's first lines."""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
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
    """A complaint, the program that repeats it, and what the first lines must say.

    rules: the first cause is certain (if certain is not False) and one of these. words: regular
    expressions found in the cause's text. never: what none of the first lines has. perf: the same
    rules for a recording with perf's events, where an uncertain cause must have one of these names
    or `may_be` in its text. after: the remedy applied. fewer: what is then lower (REMEDY): faults,
    majors, copies, maxrss, or cause, the number of certain causes with these rules.
    """
    name: str
    complaint: str
    reports: tuple
    variant: Variant
    rules: tuple
    words: tuple = ()
    never: tuple = ()
    certain: bool = True
    perf: tuple = None          # None: no test with perf
    may_be: str = None
    after: Variant = None
    fewer: str = "faults"
    remedy: tuple = ()          # words in the first cause's remedy
    needs: tuple = ()           # ("persistent memory",)
    perf_sees_remedy: bool = True
    hidden: bool = False        # perf sees few of the faults, so their share proves nothing

    def perf_tests_remedy(self):
        """tests/native applies the remedy, so tests/vm does not."""
        return self.perf is not None and self.after is not None and self.perf_sees_remedy and \
            not self.after.needs_root()


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
    """Starts the program, records it from the preparation on, and lets it go."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          **options) as target:
        assert target.stdout.readline() == "ready\n"
        with subprocess.Popen([*words, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True,
                              **options) as recorder:
            pfstat.wait_until(lambda: recorder.poll() is not None or pfstat.watches(recorder))
            time.sleep(idle)
            target.stdin.write("\n")
            target.stdin.close()
            target.wait(pfstat.PATIENCE)
            _, messages = recorder.communicate(timeout=pfstat.PATIENCE)
            assert recorder.returncode == 0, messages


def record(variant, folder, recording, source, programs=None, options=None):
    """Writes the variant's recording in the variant's place.

    programs: the folder with these programs and pfdrive. options: for subprocess.Popen(), as the
    user.
    """
    options = options or {}
    pfdrive = programs / "pfdrive" if programs else pfstat.PFDRIVE
    words = [str(pfdrive), "record", "--output", str(recording), "--source", source]
    with place_of(variant, folder) as place:
        command = command_of(variant, place, programs)
        if command[0].endswith("python3"):
            pfstat.run(*command, **options)     # the interpreter is in the page cache from now on
        elif pathlib.Path(command[0]).is_relative_to(pfstat.BUILD):
            # While the instruction clock waits for the disk of the tests, it may go on by seconds.
            pathlib.Path(command[0]).read_bytes()
        if variant.attach:
            attached(words, command, options, variant.idle)
        else:
            pfstat.run(*words, "--", *command, **options)


class Result:
    """A report: the JSON and the first lines."""

    def __init__(self, recording, pfdrive=pfstat.PFDRIVE):
        self.recording = recording
        text = pfstat.run(pfdrive, "report", recording).stdout
        lines = text.split("\n\n")[0].splitlines()
        # Notes on the source may come before.
        first = next(n for n, line in enumerate(lines) if "faults" in line.split(":")[0])
        self.lines = lines[first:first + FIRST_LINES]
        self.json = json.loads(pfstat.run(pfdrive, "report", "--format", "json", recording).stdout)
        self.causes = self.json["verdict"]["causes"]

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
            # perf does not see what a fault on a known page does.
            is_perf = self.json["environment"]["source"] == "perf"
            return parts["classes"]["again" if is_perf else "cow"]["count"]
        return parts["all"][{"faults": "count", "majors": "major"}[case.fewer]]


def misses(result, case):
    """What the first lines lack, or have against the table, or none for a right answer."""
    first = result.causes[0]
    text = first["text"]
    if first["rule"] not in case.rules:
        yield f"the first cause is {first['rule']}, not {' or '.join(case.rules)}"
    elif case.certain and not first["certain"]:
        yield f"{first['rule']} is not certain"
    else:
        yield from (f"no {word!r} in the cause" for word in case.words if not found(word, text))
        yield from (f"no {word!r} in the remedy" for word in case.remedy
                    if not found(word, first["remedy"]))
    yield from forbidden(result, case)


def perf_misses(result, case):
    """The same for perf's events, which may leave it open, but name the candidate then.

    A machine busy with other programs makes the run's share small, and so may acquit.
    """
    first, rules = result.causes[0], case.perf
    if first["rule"] == "nothing-wrong" and result.json["verdict"]["share"] < LEAST_OF_RUN and \
            not case.hidden:
        return
    if first["certain"] and first["rule"] not in rules:
        yield f"the certain cause is {first['rule']}, not {' or '.join(rules) or 'open'}"
    if not first["certain"] and first["rule"] not in rules and \
            not (case.may_be and any(found(case.may_be, cause["text"] + cause["remedy"])
                                     for cause in result.causes)):
        yield f"{first['rule']} does not name the candidate {case.may_be!r}"
    yield from forbidden(result, case)


def forbidden(result, case):
    yield from (f"{word!r} in the first lines" for word in case.never
                if found(word, result.sentence()))


def found(pattern, text):
    return re.search(pattern, text, re.IGNORECASE)


def main():
    """Usage: complaints.py SOURCE [NAME…]: prints the first lines of each case, as Markdown."""
    from cases import CASES     # pylint: disable=import-outside-toplevel,cyclic-import
    source, *names = sys.argv[1:]
    folder = pfstat.DISK if pathlib.Path(pfstat.DISK).is_dir() else pathlib.Path("/var/tmp")
    for case in CASES:
        if (names and case.name not in names) or (source == "perf" and case.perf is None):
            continue
        show(case, folder, source)


def show(case, folder, source):
    print(f"\n## {case.name}, {source}\n\n{case.complaint}\n")
    counts = []
    for name, variant in (("before", case.variant), ("after", case.after)):
        if not variant:
            continue
        recording = folder / f"{case.name}-{name}.pfs"
        started = time.monotonic()
        try:
            record(variant, folder, recording, source)
            result = Result(recording)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}")
            continue
        finally:
            took = time.monotonic() - started
        counts.append(result.count(case))
        print(f"{name}, {took:.1f} s:\n\n    " + "\n    ".join(result.lines))
        if name == "before":
            rules = (f"{c['rule']}{'' if c['certain'] else '?'}" for c in result.causes)
            check = perf_misses if source == "perf" else misses
            print(f"\nrules: {', '.join(rules)}; " +
                  ("; ".join(check(result, case)) or "as expected") + "\n")
        recording.unlink()
    print(f"\n{case.fewer}: {counts}", flush=True)


if __name__ == "__main__":
    main()

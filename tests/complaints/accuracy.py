# SPDX-License-Identifier: GPL-2.0-only
"""The page "How often is it right": its tables are the only place that keeps the outcomes.

A cell has the outcome of a case in a condition, and the rule of the first cause, with a question
mark if it is not certain. What does not depend on a recording comes from cases.py.
"""
import collections
import dataclasses
import pathlib
import re
import textwrap

from cases import CASES

TOP = pathlib.Path(__file__).parents[2]
PAGE = TOP / "Documentation/user/accuracy.rst"
RULES = TOP / "user/verdict"
START = ".. The tables from here on are written by make complaints.\n"

OUTCOMES = ("named", "uncertain", "missed", "wrong")
NOT_JUDGED = "not judged"
NEEDS_LAB = "–"
CELL = re.compile(rf"({'|'.join(OUTCOMES)}): ([\w-]+)\??")


@dataclasses.dataclass(frozen=True)
class Condition:
    """A column: the source, the caller, and whether other programs use the CPUs."""
    title: str
    source: str
    caller: str = None          # None: in the lab
    busy: bool = False

    def has(self, case):
        return not self.caller or case.perf is not None


CONDITIONS = (
    Condition("perf, root", "perf", "root"),
    Condition("perf, user", "perf", "user"),
    Condition("perf, root, busy", "perf", "root", True),
    Condition("perf, user, busy", "perf", "user", True),
    Condition("module", "module"),
    Condition("eBPF", "ebpf"),
)
MACHINES = ("perf", "module, eBPF")


class Matrix:
    """The cells, as {(case's name, condition's title): text}, and {a word of MACHINES: text}."""

    def __init__(self, text=""):
        """Reads the text of a page."""
        self.cells = {}
        self.machines = dict(re.findall(rf"^:({'|'.join(MACHINES)}): (.*)$", text, re.MULTILINE))
        for name, row in re.findall(r"^   \* - ``(\w+)``: (.*?)(?=^   \* - |\Z)", text,
                                    re.MULTILINE | re.DOTALL):
            texts = re.findall(r"^     - (.*)$", row, re.MULTILINE)
            self.cells |= {(name, condition.title): text
                           for condition, text in zip(CONDITIONS, texts)}

    def cell(self, case, condition):
        if not condition.has(case):
            return NEEDS_LAB
        return self.cells.get((case.name, condition.title), NOT_JUDGED)

    def numbers(self, condition):
        """How many cases have each outcome."""
        cells = [self.cell(case, condition) for case in CASES]
        return collections.Counter(cell.split(":")[0] for cell in cells)

    def tables(self):
        """The page from START on."""
        lines = [START, *(f":{name}: {self.machines.get(name, 'not recorded')}"
                          for name in MACHINES), "",
                 *table((28, 12, 12, 12, 12, 12),
                        ("Source", *OUTCOMES, NOT_JUDGED), self.sums()), "",
                 *table((34, 11, 11, 11, 11, 11, 11),
                        ("Case", *(condition.title for condition in CONDITIONS)), self.rows())]
        return "\n".join(lines) + "\n"

    def sums(self):
        for condition in CONDITIONS:
            numbers = self.numbers(condition)
            yield condition.title, *(str(numbers[word]) for word in (*OUTCOMES, NOT_JUDGED))

    def rows(self):
        for case in CASES:
            yield f"``{case.name}``: {case.truth}", \
                *(self.cell(case, condition) for condition in CONDITIONS)


def table(widths, head, rows):
    """The lines of a list-table."""
    yield from (".. list-table::", "   :header-rows: 1",
                f"   :widths: {' '.join(map(str, widths))}", "")
    for first, *others in (head, *rows):
        yield from textwrap.wrap(first, 80, initial_indent="   * - ", subsequent_indent=" " * 7,
                                 break_on_hyphens=False)
        yield from (f"     - {text}" for text in others)


def write(matrix):
    PAGE.write_text(PAGE.read_text().split(START)[0] + matrix.tables())


def rules():
    """The names of all rules."""
    code = "".join(path.read_text() for path in sorted(RULES.glob("*.c")))
    return set(re.findall(r'(?:\.name|[.>]rule) = "([a-z-]+)"', code))

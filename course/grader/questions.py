# SPDX-License-Identifier: GPL-2.0-only
"""A question of a lab: its points, its machine, and the function that grades it in the guest."""
import dataclasses
import typing


class Wrong(Exception):
    """The submission cannot be graded further in this question. The text is the reason."""


@dataclasses.dataclass(frozen=True)
class Question:
    """machine: deterministic, cpus (two CPUs, real time) or debug (the debug kernel)."""
    name: str
    points: int
    title: str
    machine: str
    function: typing.Callable


class Marks:
    """Collects the points of one question, and the reason for each loss."""

    def __init__(self, of):
        self.of = of
        self.points = 0
        self.reasons = []

    def check(self, points, holds, reason):
        """Gives POINTS if HOLDS; otherwise REASON, a sentence, explains the loss."""
        if holds:
            self.points += points
        else:
            self.reasons.append(reason)
        assert self.points <= self.of, "a question gives more points than it has"
        return bool(holds)


@dataclasses.dataclass
class Lab:
    """files: what a submission must contain."""
    letter: str
    name: str
    title: str
    files: tuple
    questions: list = dataclasses.field(default_factory=list)

    def question(self, name, points, title, machine="deterministic"):
        """Decorates a function (marks, sandbox, seed) that grades a question."""
        def add(function):
            self.questions.append(Question(name, points, title, machine, function))
            return function
        return add

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Grades the submission in $IN: prints a JSON object at the begin and the end of each question."""
import argparse
import json
import os
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from grader import labs, sandbox  # noqa: E402
from grader.questions import Marks, Wrong  # noqa: E402


def report(**what):
    print(json.dumps(what), flush=True)


def marks_of(question, files, seed):
    marks = Marks(question.points)
    try:
        with sandbox.Sandbox(files) as box:
            question.function(marks, box, seed)
    except Wrong as wrong:
        marks.reasons.append(str(wrong))
    return marks


def ask(question, files, seed):
    report(begin=question.name)
    marks = marks_of(question, files, seed)
    report(end=question.name, points=marks.points, reasons=marks.reasons)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("lab")
    parser.add_argument("questions", nargs="+")
    options = parser.parse_args()
    # Only root reads the files of the grader.
    for path in ("/out", "/run/lab"):
        os.chmod(path, 0o700)
    for question in labs.load(options.lab).questions:
        if question.name in options.questions:
            try:
                ask(question, os.environ["IN"], options.seed)
            except Exception:       # pylint: disable=broad-except  # the host reports it
                report(failure=traceback.format_exc())
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

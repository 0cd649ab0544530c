# SPDX-License-Identifier: GPL-2.0-only
"""Prints the points."""
import json
import textwrap

WIDTH = 100


def total(answers):
    return sum(a.points for a in answers), sum(a.question.points for a in answers)


def as_json(lab, answers):
    """{"lab", "points", "of", "questions": [{"name", "points", "of", "reasons"}]}"""
    points, of = total(answers)
    questions = [{"name": a.question.name, "points": a.points, "of": a.question.points,
                  "reasons": a.reasons} for a in answers]
    return json.dumps({"lab": lab.name, "points": points, "of": of, "questions": questions},
                      indent=2)


def as_table(lab, answers):
    points, of = total(answers)
    name_width = max(len(a.question.name) for a in answers)
    lines = [f"Lab {lab.letter}: {lab.title}", ""]
    for answer in answers:
        question = answer.question
        lines.append(f"{question.name:{name_width}}  {answer.points:2} of {question.points:2}"
                     f"  {question.title}")
        for reason in answer.reasons:
            indent = " " * (name_width + 12)
            lines += textwrap.wrap(reason, WIDTH, initial_indent=indent + "- ",
                                   subsequent_indent=indent + "  ")
    lines += ["", f"{'total':{name_width}}  {points:2} of {of:2}"]
    return "\n".join(lines)

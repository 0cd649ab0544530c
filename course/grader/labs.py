# SPDX-License-Identifier: GPL-2.0-only
"""The labs by letter. Each is a folder of course/labs with questions.py, which defines LAB."""
import importlib.util
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "labs"
LETTERS = {"a": "page_faults", "b": "os_costs", "c": "fault_module", "d": "make_it_fast"}


def module(letter):
    name = LETTERS[letter]
    spec = importlib.util.spec_from_file_location(f"lab_{name}", FOLDER / name / "questions.py")
    questions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(questions)
    return questions


def load(letter):
    return module(letter).LAB


def listing():
    """The labs and their questions, for --help."""
    lines = ["", "labs:"]
    for letter in sorted(LETTERS):
        lab = load(letter)
        total = sum(q.points for q in lab.questions if q.machine != "debug")
        lines.append(f"  {letter}  {lab.title} ({total} points): "
                     + ", ".join(q.name for q in lab.questions))
    return "\n".join(lines)

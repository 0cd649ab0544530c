# SPDX-License-Identifier: GPL-2.0-only
"""The coursework: each solution gets all points, each skeleton none, and each wrong solution what
rubric.json says about it. A wrong solution is the solution with other files, or with text changes.
The questions are asked in this VM, without the grader's host half."""
import contextlib
import json
import pathlib
import shutil
import sys

import kmsg
import pytest

COURSE = pathlib.Path(__file__).resolve().parents[2] / "course"
sys.path.append(str(COURSE))
from grader import in_guest, labs, sandbox  # noqa: E402

pytestmark = pytest.mark.deterministic
SEED = 1


def submission_of(tmp_path, *layers):
    """Each layer's files over those of the layer before."""
    for layer in layers:
        shutil.copytree(layer, tmp_path / "submission", dirs_exist_ok=True)
    return tmp_path / "submission"


def change(files, changes):
    for name, replacements in changes.items():
        text = (files / name).read_text()
        for old, new in replacements:
            assert text.count(old) == 1, f"{name} has not once {old!r}"
            text = text.replace(old, new)
        (files / name).write_text(text)


def points_of(capsys, letter, names, files):
    """{question: (points, of, reasons)}"""
    lab = labs.load(letter)
    for question in lab.questions:
        if question.name in names:
            in_guest.ask(question, files, SEED)
    ends = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"end"' in line]
    of = {question.name: question.points for question in lab.questions}
    return {end["end"]: (end["points"], of[end["end"]], end["reasons"]) for end in ends}


QUESTIONS = [(letter, question.name) for letter in labs.LETTERS
             for question in labs.load(letter).questions if question.machine == "deterministic"]
# Lab c's come last: some of them damage the kernel.
WRONG = sorted([(letter, folder) for letter, name in labs.LETTERS.items()
                for folder in sorted((COURSE / "instructor" / name / "wrong").glob("*"))],
               key=lambda wrong: wrong[0] == "c")


@pytest.fixture(autouse=True)
def kernel_log(request):
    """Instead of conftest's: a wrong module may make the kernel report a problem."""
    may_complain = "folder" in request.fixturenames and request.getfixturevalue("letter") == "c"
    with contextlib.closing(kmsg.Log()) as log:
        yield log.lines
        if not may_complain:
            kmsg.assert_no_trouble(log.lines())


@pytest.mark.parametrize("letter, name", QUESTIONS)
def test_solution_gets_all_points(capsys, tmp_path, letter, name):
    lab = labs.LETTERS[letter]
    files = submission_of(tmp_path, COURSE / "labs" / lab / "skeleton",
                          COURSE / "instructor" / lab / "solution")
    points, of, reasons = points_of(capsys, letter, [name], files)[name]
    assert points == of and not reasons, reasons


def test_reference_is_the_time_of_the_solution(tmp_path):
    questions = labs.module("d")
    files = submission_of(tmp_path, COURSE / "labs/make_it_fast/skeleton",
                          COURSE / "instructor/make_it_fast/solution")
    with sandbox.Sandbox(files) as box:
        _, (_, seconds, _) = questions.both_runs(box, SEED)
    assert seconds * 1e3 == pytest.approx(questions.REFERENCE["milliseconds"], rel=0.05)


@pytest.mark.parametrize("letter", labs.LETTERS)
def test_skeleton_gets_no_points(capsys, tmp_path, letter):
    files = submission_of(tmp_path, COURSE / "labs" / labs.LETTERS[letter] / "skeleton")
    names = [name for of, name in QUESTIONS if of == letter]
    points = points_of(capsys, letter, names, files)
    assert {name: value[0] for name, value in points.items()} == dict.fromkeys(names, 0)
    assert all(value[2] for value in points.values())


@pytest.mark.parametrize("letter, folder", WRONG, ids=lambda value: getattr(value, "name", value))
def test_wrong_solution_gets_what_its_rubric_says(capsys, tmp_path, letter, folder):
    lab = labs.LETTERS[letter]
    rubric = json.loads((folder / "rubric.json").read_text())
    files = submission_of(tmp_path, COURSE / "labs" / lab / "skeleton",
                          COURSE / "instructor" / lab / "solution", folder)
    change(files, rubric.get("changes", {}))
    points = points_of(capsys, letter, rubric["points"], files)
    assert {name: value[0] for name, value in points.items()} == rubric["points"], points

# SPDX-License-Identifier: GPL-2.0-only
"""The grader's host half, with a lab printing what a guest would."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
from grader import labs, machine, results, submission

TREE = pathlib.Path(__file__).resolve().parents[2]
GRADE = TREE / "course/grade"


@pytest.fixture(name="lab")
def fixture_lab(tmp_path, monkeypatch):
    """Sets the shell commands to run at each lab boot, in turn."""
    def scripts(*boots):
        for number, text in enumerate(boots):
            (tmp_path / f"boot{number}").write_text(textwrap.dedent(text))
        fake = tmp_path / "tools/lab"
        fake.parent.mkdir()
        fake.write_text(f"""#!/bin/bash
cd {tmp_path}
echo "$*" >>asked
while [ "$1" != --out ]; do shift; done
export CONSOLE=$2/console.log
exec bash boot$(($(wc -l <asked) - 1))
""")
        fake.chmod(0o755)
        monkeypatch.setattr(machine, "TREE", tmp_path)
        return labs.load("c")
    return scripts


def graded(lab, names, tmp_path):
    questions = [q for q in lab.questions if q.name in names]
    return {a.question.name: (a.points, a.reasons)
            for a in machine.grade(lab, questions, tmp_path, 1)}


def test_points_and_reasons_come_from_the_guest(lab, tmp_path):
    lab_c = lab("""
        echo '{"begin": "load"}'; echo '{"end": "load", "points": 3, "reasons": ["a file stays"]}'
        echo '{"begin": "count"}'; echo '{"end": "count", "points": 5, "reasons": []}'
        """)
    assert graded(lab_c, ("load", "count"), tmp_path) == {"load": (3, ["a file stays"]),
                                                         "count": (5, [])}
    asked = (tmp_path / "asked").read_text()
    assert "--deterministic" in asked and asked.endswith("--seed 1 c load count\n")


def test_a_panic_costs_only_its_question(lab, tmp_path):
    lab_c = lab("""
        echo '{"begin": "load"}'; echo '{"end": "load", "points": 4, "reasons": []}'
        echo '{"begin": "count"}'
        echo '[ 1.0] Kernel panic - not syncing: Fatal exception' >$CONSOLE; exit 125
        """, """
        echo '{"begin": "time"}'; echo '{"end": "time", "points": 4, "reasons": []}'
        """)
    points = graded(lab_c, ("load", "count", "time"), tmp_path)
    assert points["load"][0] == points["time"][0] == 4
    assert points["count"] == (
        0, ["the kernel of the VM failed: Kernel panic - not syncing: Fatal exception"])
    assert (tmp_path / "asked").read_text().splitlines()[1].endswith("c time")


def test_a_machine_that_hangs_is_ended(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "QUESTION_SECONDS", 1)
    lab_c = lab("""echo '{"begin": "unload"}'; exec sleep 1000""")
    assert graded(lab_c, ("unload",), tmp_path) == {
        "unload": (0, ["the VM did not answer within 1 s"])}


@pytest.mark.parametrize("boot, words", [
    ("echo 'lab: no disk' >&2; exit 125", "the VM did not run: lab: no disk"),
    ("""echo '{"begin": "load"}'; echo '{"failure": "KeyError"}'""", "question load: KeyError"),
])
def test_a_failure_of_the_grader_decides_no_points(lab, tmp_path, boot, words):
    lab_c = lab(boot)
    with pytest.raises(machine.Failed, match=words):
        graded(lab_c, ("load",), tmp_path)


def answers():
    lab = labs.load("d")
    return lab, [machine.Answer(lab.questions[0], 9, ["it takes 20.0 ms"]),
                 machine.Answer(lab.questions[1], 4, [])]


def test_json_has_points_of_questions():
    result = json.loads(results.as_json(*answers()))
    assert (result["lab"], result["points"], result["of"]) == ("make_it_fast", 13, 16)
    assert result["questions"][0] == {"name": "speed", "points": 9, "of": 12,
                                      "reasons": ["it takes 20.0 ms"]}


def test_table_has_a_line_for_each_loss():
    lines = results.as_table(*answers()).splitlines()
    assert lines[0] == "Lab d: Make it fast" and lines[-1].split() == ["total", "13", "of", "16"]
    assert [line.strip() for line in lines if "- " in line] == ["- it takes 20.0 ms"]


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    (tmp_path / "plan.c").write_text("")
    return tmp_path


@pytest.mark.parametrize("spoil, words", [
    (lambda folder: (folder / "plan.c").unlink(), "lacks plan.c"),
    (lambda folder: (folder / "x").symlink_to("/etc/passwd"), "x is not a regular file"),
    (lambda folder: os.mkfifo(folder / "x"), "x is not a regular file"),
    (lambda folder: (folder / "x").write_bytes(bytes(2 << 20)), "more than 200 files or 1 MiB"),
    (lambda folder: [(folder / f"x{i}").touch() for i in range(200)], "more than 200 files"),
])
def test_a_folder_that_cannot_be_graded_is_refused(folder, spoil, words):
    spoil(folder)
    with pytest.raises(submission.Refused, match=words):
        submission.check(folder, labs.load("d"))


@pytest.mark.parametrize("arguments, words", [
    (["d", "/nonexistent"], "grade: /nonexistent is not a folder"),
    (["--question", "speedy", "d", "."], "lab d has no question speedy; it has speed, memory"),
    (["e", "."], "invalid choice: 'e'"),
    (["--here", "d", TREE / "course/labs/make_it_fast/skeleton"],
     "--here works only in a lab whose clock counts instructions"),
])
def test_bad_input_has_status_2(arguments, words):
    process = subprocess.run([sys.executable, GRADE, *arguments], text=True, capture_output=True,
                             check=False)
    assert process.returncode == 2 and words in process.stderr and not process.stdout


def test_help_lists_each_question():
    text = subprocess.run([sys.executable, GRADE, "--help"], text=True, capture_output=True,
                          check=True).stdout
    for letter in labs.LETTERS:
        assert all(question.name in text for question in labs.load(letter).questions)


def test_the_handout_has_no_solution(tmp_path):
    subprocess.run(["make", "-s", "-C", TREE, "course-handout", f"BUILD={tmp_path}"], check=True,
                   capture_output=True)
    archive = next(tmp_path.glob("pfstat-course-*.tar.xz"))
    names = subprocess.run(["tar", "-tf", archive], text=True, capture_output=True,
                           check=True).stdout
    assert "course/labs/fault_module/skeleton/faultlog.c" in names
    assert "instructor" not in names and "course_solutions" not in names
    for lab in labs.LETTERS.values():
        assert f"handout/{lab}.pdf" in names

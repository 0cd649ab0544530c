# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive starts pfbench, which stands beside it."""
import shutil

import pytest


@pytest.mark.parametrize("words", [("bench",), ("study", "io"), ("study", "rss"),
                                   ("study", "pressure")], ids=" ".join)
def test_a_command_of_pfbench_prints_its_options(caller, words):
    text = caller.run(*words, "--help").stdout
    assert text.startswith(f"Usage: pfdrive {' '.join(words)} ")
    assert caller.run_program("pfbench", words[-1], "--help").stdout == text


def test_both_programs_refuse_a_wrong_argument_with_one_sentence(caller):
    for program, words in (("pfdrive", ("study", "io")), ("pfbench", ("io",))):
        done = caller.run_program(program, *words, "--cache", "hot", "file", check=False)
        assert done.returncode == 2
        assert done.stderr == "pfdrive study io: --cache: 'hot' is not one of cold, warm, fit\n"


def test_pfbench_lists_its_commands(caller):
    text = caller.run_program("pfbench", "--help").stdout
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  ")] == [
        "bench", "io", "rss", "pressure", "faults"]
    done = caller.run_program("pfbench", "nothing", check=False)
    assert (done.returncode, done.stderr, done.stdout) == (2, text, "")


def test_pfdrive_without_pfbench_does_not_list_the_studies(caller):
    """The wheel for Python has only pfdrive."""
    assert "\nStudies:\n" in caller.run("--help").stdout
    alone = caller.folder / "pfdrive"
    shutil.copy(caller.program("pfdrive"), alone)
    done = caller.run_program(alone, "bench", check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"pfdrive: cannot start {caller.folder}/pfbench, which makes this measurement: "
        "No such file or directory; the wheel for Python does not have it, install pfstat from "
        "its source or another package\n")
    listed = caller.run_program(alone, "--help").stdout
    assert "Studies:" not in listed and "bench" not in listed and "\nLook:\n" in listed

# SPDX-License-Identifier: GPL-2.0-only
"""The documents as a whole: Sphinx reads them without a warning, and their host commands exist."""
import pathlib
import subprocess

import pytest

import documents

TOP = pathlib.Path(__file__).parents[2]


def test_sphinx_builds_the_pages_without_a_warning():
    done = subprocess.run(["make", "--no-print-directory", "docs"], cwd=TOP, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", documents.pages(), ids=lambda page: page.name)
def test_commands_for_the_host_exist(page):
    wrong = [documents.wrong_on_host(step) for step in page.steps if step.prompt == "$"]
    assert not any(wrong), "\n".join(filter(None, wrong))

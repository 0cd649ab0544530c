# SPDX-License-Identifier: GPL-2.0-only
"""The command block parser, and the comparison between documented and actual output."""
import pytest

import documents

PAGE = """\
.. SPDX-License-Identifier: GPL-2.0-only
.. lab: --deterministic
.. packages: sqlite3 redis

Title
=====

.. code-block:: console

   $ make demo
   $ tools/lab run -- 'echo a b; true'
   a b

In the lab:

.. exact
.. status: 3

.. code-block:: console

   # value=7
   # echo one \\
        two
   one two
     ...

   # (echo $value; exit 3)
   7

.. code-block:: python

   # no command
"""


def step(*output, command="true", exact=False, status=0):
    return documents.Step(1, "#", command, output, exact, status)


def test_a_page_gives_its_lab_and_packages():
    page = documents.parse("page.rst", PAGE)
    assert (page.lab, page.packages) == (("--deterministic",), ("sqlite3", "redis"))


def test_a_block_gives_commands_and_their_output():
    steps = documents.parse("page.rst", PAGE).steps
    assert [(step.line, step.prompt, step.command, step.output) for step in steps] == [
        (10, "$", "make demo", ()),
        (11, "$", "tools/lab run -- 'echo a b; true'", ("a b",)),
        (21, "#", "value=7", ()),
        (22, "#", "echo one \\\ntwo", ("one two", "...")),
        (27, "#", "(echo $value; exit 3)", ("7",))]


def test_a_comment_counts_for_the_block_below_it():
    steps = documents.parse("page.rst", PAGE).steps
    assert [step.exact for step in steps] == [False, False, True, True, True]
    assert [step.status for step in steps] == [0, 0, 0, 0, 3]


def test_markdown_has_fences_and_its_own_comments():
    page = documents.parse("README.md", "<!-- lab: --cpus 2 -->\n<!-- exact -->\n```console\n"
                           "# echo 1\n1\n```\n```sh\n# no command\n```\n")
    assert page.lab == ("--cpus", "2")
    assert page.steps == (documents.Step(4, "#", "echo 1", ("1",), True),)


def test_output_before_the_first_command_is_refused():
    with pytest.raises(ValueError, match="line 4"):
        documents.parse("page.rst", ".. code-block:: console\n\n\n   output\n")


def test_commands_of_a_page_share_a_shell_and_those_of_lab_run_have_their_own():
    shells = documents.in_guest(documents.parse("page.rst", PAGE))
    assert [len(steps) for steps in shells] == [3, 1]
    assert shells[1][0].command == "echo a b; true"
    for steps in shells:
        for done in documents.run(steps, 60):
            assert documents.difference(*done) is None


def test_lab_run_may_name_a_kernel():
    page = documents.parse("page.rst", ".. code-block:: console\n\n"
                           "   $ tools/lab run --kernel 6.1 -- \\\n       'uname -r; id'\n   6.1\n")
    (step,), = documents.in_guest(page)
    assert (step.kernel, step.command) == ("6.1", "uname -r; id")


def test_a_command_that_ends_the_shell_is_reported():
    done = list(documents.run([step(command="exit 0"), step(command="echo")], 60))
    assert [status for _, _, status in done] == [-1, -1]


@pytest.mark.parametrize("shown, printed", [
    (["a b"], "a   b\n"),
    (["disk 433 92.6%"], "disk 1 <0.1%\n"),
    (["at 0x7f12 +1,234 ns"], "at 0xbeef -7 ns\n"),
    (["a", "...", "z"], "a\nb\nc\nz\n"),
    (["a", "...", "z"], "a\nz\n"),
    (["...", "b"], "b\na\nb\n"),
    (["a … z"], "a b c z\n"),
    ([], "\n\n"),
])
def test_matching_output_is_accepted(shown, printed):
    assert documents.difference(step(*shown), printed, 0) is None


@pytest.mark.parametrize("shown, printed, word", [
    (["disk 433"], "wait 433\n", "disk 433"),
    (["a b"], "a\n", "a b"),
    (["a"], "a\nb\n", "prints more"),
    ([], "a\n", "prints more"),
    (["a", "b"], "b\na\n", "a"),
    (["a", "...", "z"], "a\nb\n", "z"),
    (["n/a"], "12\n", "n/a"),
])
def test_different_output_is_reported(shown, printed, word):
    assert word in documents.difference(step(*shown), printed, 0)


def test_numbers_must_match_on_request():
    assert documents.difference(step("433 faults"), "434 faults\n", 0) is None
    assert documents.difference(step("433 faults", exact=True), "434 faults\n", 0)


def test_a_unit_of_time_matches_another_one():
    assert documents.difference(step("run: 1.05 s, 3 faults"), "run: 589.5 ms, 3 faults\n", 0) is None
    assert documents.difference(step("run: 1.05 s", exact=True), "run: 1.05 ms\n", 0)
    assert documents.difference(step("3 ms/s"), "3 s/s\n", 0)


def test_the_exit_status_must_match():
    assert "exits with 1" in documents.difference(step(), "", 1)
    assert documents.difference(step(status=3), "", 3) is None


@pytest.mark.parametrize("command, wrong", [
    ("make V=1 check KERNELS=6.12", None),
    ("sudo make install", None),
    ("make nonsense", "nonsense"),
    ("tools/lab run --deterministic -- pfdrive --nonsense", None),
    ("tools/lab run --determinist=1 -- true", "--determinist"),
    ("tools/labb shell", "tools/labb"),
    ("xdg-open page.html", None),
])
def test_commands_of_the_host_name_existing_tools(command, wrong):
    found = documents.wrong_on_host(documents.Step(1, "$", command))
    assert found is None if wrong is None else wrong in found

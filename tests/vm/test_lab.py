# SPDX-License-Identifier: GPL-2.0-only
"""What the lab gives its guest, and the command lines that its tools accept or refuse."""
import pathlib
import subprocess

import pytest

import pfstat

TOP = pathlib.Path(__file__).parents[2]

# What tools/lab.d/vm.sh needs of a lab to pack COMMAND.
PACK = """
. tools/lab.d/common.sh; . tools/lab.d/vm.sh
work=$1 kernel=6.12 disk_latency=1 swap=1M
shift
pack_run command "$@"
tar -xOf "$work/transfer" command
"""


def packed(folder, *words):
    """COMMAND as the guest gets it."""
    result = subprocess.run(["bash", "-c", PACK, "bash", folder, *words], cwd=TOP, check=True,
                            capture_output=True, timeout=pfstat.PATIENCE)
    return result.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("line", ["uname -a; free", "uname|cat", "cd /tmp&&ls", "true;", "ls >x"])
def test_a_quoted_line_is_run_by_the_shell(tmp_path, line):
    assert packed(tmp_path, line) == ["sh", "-c", line]


@pytest.mark.parametrize("words", [
    ["uname"], ["./a-program_1.2"], ["echo", "a b; c"], ["sh", "-c", "uname -a; free"]])
def test_words_reach_the_command_as_they_are(tmp_path, words):
    assert packed(tmp_path, *words) == words


@pytest.mark.parametrize("command", [
    ["tools/check", "--kernels", "6.12", "--tests", "test_lab.py test_nope.py", "vm"],
    ["tools/check", "--tests", "test_nope.py::test_one", "debug", "stress"],
    ["tools/check-kernels", "--tests", "test_nope.py", "6.12", "7.2"]])
def test_unknown_test_files_are_refused_before_a_build(command):
    result = pfstat.run(*command, cwd=TOP, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no file tests/vm/test_nope.py; name files of tests/vm" in result.stderr
    assert result.stderr.count("\n") == 1


def test_known_test_files_are_accepted():
    """No suite is named, so none is run."""
    result = pfstat.run("tools/check", "--tests", "test_lab.py::test_x test_record.py -k one",
                        cwd=TOP)
    assert (result.stdout, result.stderr) == ("0 passed, 0 failed\n", "")

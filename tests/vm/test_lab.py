# SPDX-License-Identifier: GPL-2.0-only
"""What the lab gives its guest, and the command lines that its tools accept or refuse."""
import pathlib
import re
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


def test_the_lab_swaps_to_compressed_memory():
    device, = pfstat.swaps()
    assert device == "/dev/zram0"
    size = int(pathlib.Path("/sys/block/zram0/disksize").read_text())
    assert size == 256 << 20


@pytest.mark.long
def test_a_competition_works_in_the_lab():
    """The README's, which ends within seconds."""
    text, = re.findall(r"^    pfdrive (--compete .*)", (TOP / "README.md").read_text(), re.M)
    competition = pfstat.drive(*text.split())["competition"]
    assert competition["alone"]["figures"]["pswpin"] == 0
    assert competition["with"]["figures"]["pswpin"] > 0
    assert competition["competitors"][0]["majflt"] > 0


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

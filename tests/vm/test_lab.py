# SPDX-License-Identifier: GPL-2.0-only
"""The lab's guest, and the command lines accepted or refused by the lab's tools."""
import collections
import pathlib
import re
import subprocess

import pytest

import pfstat

TOP = pathlib.Path(__file__).parents[2]

# The lab part that tools/lab.d/vm.sh needs to pack COMMAND.
PACK = """
. tools/lab.d/common.sh; . tools/lab.d/vm.sh
work=$1 kernel=6.12 disk_latency=1 swap=1M
shift
pack_run command "$@"
tar -xOf "$work/transfer" command
"""


def packed(folder, *words):
    """COMMAND as the guest receives it."""
    result = subprocess.run(["bash", "-c", PACK, "bash", folder, *words], cwd=TOP, check=True,
                            capture_output=True, timeout=pfstat.PATIENCE)
    return result.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("line", ["uname -a; free", "uname|cat", "cd /tmp&&ls", "true;", "ls >x"])
def test_a_quoted_line_is_run_by_the_shell(tmp_path, line):
    assert packed(tmp_path, line) == ["sh", "-c", line]


@pytest.mark.parametrize("words", [
    ["uname"], ["./a-program_1.2"], ["echo", "a b; c"], ["sh", "-c", "uname -a; free"]])
def test_words_reach_the_command_unchanged(tmp_path, words):
    assert packed(tmp_path, *words) == words


def test_the_lab_swaps_to_compressed_memory():
    device, = pfstat.swaps()
    assert device == "/dev/zram0"
    size = int(pathlib.Path("/sys/block/zram0/disksize").read_text())
    assert size == 256 << 20


@pytest.mark.long
def test_a_competition_works_in_the_lab():
    """The README's example, which ends within seconds."""
    text, = re.findall(r"^    pfdrive (study pressure .*)", (TOP / "README.md").read_text(), re.M)
    words = text.split()
    competition = pfstat.drive(*words[2:], command=words[:2])["competition"]
    assert competition["alone"]["figures"]["pswpin"] == 0
    assert competition["with"]["figures"]["pswpin"] > 0
    assert competition["competitors"][0]["majflt"] > 0


@pytest.fixture(name="drawn", scope="module")
def fixture_drawn(tmp_path_factory):
    """A recording with something to draw."""
    recording = tmp_path_factory.mktemp("drawn") / "run.pfs"
    path = pfstat.make_file(pfstat.DISK / "drawn", 256 * pfstat.PAGE)
    pfstat.load()
    pfstat.drive("--record", recording, "--pattern", "random", "--accesses", "2K", path)
    path.unlink()
    return recording


def endings_of(folder):
    """{NAME: {ending}} for the figures in a folder."""
    figures = collections.defaultdict(set)
    for path in folder.iterdir():
        figures[path.stem].add(path.suffix)
    return figures


def without_gnuplot(tmp_path, *words):
    """pfdrive's message if gnuplot is not in PATH."""
    result = pfstat.run(pfstat.PFDRIVE, *words, env={"PATH": str(tmp_path)}, check=False)
    assert result.returncode == 1
    assert "apt-get install gnuplot-nox" in result.stderr and result.stderr.count("\n") == 1
    return result.stderr


def test_the_lab_draws_an_html_page(drawn, tmp_path):
    pfstat.run(pfstat.PFDRIVE, "report", drawn, "--html", tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert page.count("<svg") >= 3 and page.rstrip().endswith("</html>")


@pytest.mark.long
def test_the_lab_draws_figures(drawn, tmp_path):
    pfstat.run(pfstat.PFDRIVE, "report", drawn, "--plot", tmp_path / "figures")
    figures = endings_of(tmp_path / "figures")
    assert len(figures) >= 3
    assert all(made == {".csv", ".gnuplot", ".svg", ".png"} for made in figures.values()), figures
    assert all(path.read_bytes().startswith(b"\x89PNG")
               for path in (tmp_path / "figures").glob("*.png"))


def test_html_page_needs_gnuplot(drawn, tmp_path):
    page = tmp_path / "run.html"
    assert f"cannot write {page}: gnuplot" in without_gnuplot(tmp_path, "report", drawn,
                                                              "--html", page)
    assert not list(tmp_path.iterdir())


def test_data_and_scripts_are_written_without_gnuplot(drawn, tmp_path):
    folder = tmp_path / "figures"
    assert "nothing was drawn" in without_gnuplot(tmp_path, "report", drawn, "--plot", folder)
    figures = endings_of(folder)
    assert len(figures) >= 3
    assert all(made == {".csv", ".gnuplot"} for made in figures.values()), figures

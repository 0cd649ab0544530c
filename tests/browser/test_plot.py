# SPDX-License-Identifier: GPL-2.0-only
"""Figures as files, and as text on a terminal."""
import os
import shutil
import subprocess

import pytest

from conftest import pfdrive
from test_page import FIGURES, SMALL

ENDINGS = ("csv", "gnuplot", "png", "svg")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def no_gnuplot(tmp_path):
    """An environment without gnuplot."""
    return {**os.environ, "PATH": str(tmp_path), "TMPDIR": str(tmp_path)}


def test_folder_has_exactly_the_expected_files(small):
    assert files(small.plots) == sorted(f"{name}.{end}" for name in SMALL for end in ENDINGS)
    for name in SMALL:
        assert (small.plots / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_scripts_run_by_themselves(small, tmp_path):
    """They produce the same drawings."""
    for name in SMALL:
        for end in ("csv", "gnuplot"):
            shutil.copy(small.plots / f"{name}.{end}", tmp_path)
        done = subprocess.run(["gnuplot", "-d", f"{name}.gnuplot"], cwd=tmp_path,
                              capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert done.stderr == ""
        assert (tmp_path / f"{name}.svg").read_bytes() == \
            (small.plots / f"{name}.svg").read_bytes()
        assert (tmp_path / f"{name}.png").stat().st_size > 2000


def test_figures_of_another_recording_are_removed(small, bare, tmp_path):
    plots = tmp_path / "plots"
    pfdrive("report", small.recording, "--plot", plots)
    (plots / "mine.txt").write_text("mine")
    pfdrive("report", bare.recording, "--plot", plots)
    there = {path.split(".")[0] for path in files(plots)}
    assert there == set(FIGURES) - {"parts", "readahead", "evictions", "more_memory"} | {"mine"}


@pytest.fixture
def full_disk(tmp_path):
    """An environment with a gnuplot that finds no space and, like the real one, reports no error.
    """
    program = tmp_path / "bin" / "gnuplot"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nfor script; do :; done\n"
                       "printf '<svg><path' >${script%.gnuplot}.svg\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}",
            "TMPDIR": str(tmp_path)}


def test_incomplete_drawing_is_discarded(small, tmp_path, full_disk):
    """Existing figures and an existing page are kept."""
    plots, page = tmp_path / "plots", tmp_path / "page.html"
    pfdrive("report", small.recording, "--plot", plots)
    before = {path: path.read_bytes() for path in plots.iterdir()}
    page.write_text("before")
    for option, where in (("--plot", plots), ("--html", page)):
        _, said = pfdrive("report", small.recording, option, where, env=full_disk, status=1)
        assert said.count("\n") == 1 and "no whole order.svg" in said and "no space" in said
    assert {path: path.read_bytes() for path in plots.iterdir()} == before
    assert page.read_text() == "before"


def test_without_gnuplot_data_and_scripts_are_written(small, tmp_path, no_gnuplot):
    plots = tmp_path / "plots"
    _, said = pfdrive("report", small.recording, "--plot", plots, env=no_gnuplot, status=1)
    assert said.count("\n") == 1 and "gnuplot is not installed" in said
    assert files(plots) == sorted(f"{name}.{end}" for name in SMALL
                                  for end in ("csv", "gnuplot"))


def test_without_gnuplot_no_page_is_written(small, tmp_path, no_gnuplot):
    page = tmp_path / "page.html"
    _, said = pfdrive("report", small.recording, "--html", page, env=no_gnuplot, status=1)
    assert said.count("\n") == 1 and "gnuplot" in said
    assert files(tmp_path) == []


def test_nothing_is_left_behind(small, tmp_path):
    page = tmp_path / "page.html"
    pfdrive("report", small.recording, "--html", page,
            env={**os.environ, "TMPDIR": str(tmp_path)})
    assert files(tmp_path) == ["page.html"]


def test_command_line_on_the_page_is_quoted_for_a_shell(small, tmp_path):
    shutil.copy(small.recording, tmp_path / "a b;x.pfs")
    page = tmp_path / "page.html"
    pfdrive("report", "a b;x.pfs", "--html", page, cwd=tmp_path)
    assert "pfdrive report &#39;a b;x.pfs&#39; --html" in page.read_text(encoding="utf-8")


def test_a_recording_is_never_overwritten(small):
    before = small.recording.read_bytes()
    pfdrive("report", small.recording, "--html", small.recording, status=2)
    assert small.recording.read_bytes() == before


def test_folder_that_cannot_be_created_is_reported(small, tmp_path):
    _, said = pfdrive("report", small.recording, "--plot", tmp_path / "no" / "where", status=1)
    assert said.count("\n") == 1 and "cannot make the folder" in said
    (tmp_path / "file").write_text("")
    pfdrive("report", small.recording, "--plot", tmp_path / "file", status=1)


@pytest.mark.parametrize("locale, disk", [("C", "#"), ("C.UTF-8", "█")])
def test_text_needs_no_gnuplot(small, no_gnuplot, locale, disk):
    text, _ = pfdrive("report", small.recording, "--plot", "-", env={**no_gnuplot,
                                                                    "LC_ALL": locale})
    assert disk in text and (locale != "C" or text.isascii())
    assert max(len(line) for line in text.splitlines() if "|" in line or "│" in line) <= 80
    for title in ("The order of the faults", "Cost of each fault"):
        assert title in text
    # The file is read from the first page to the last, so every row in the order has disk faults.
    order = text[:text.index("Cost of each fault")].splitlines()
    drawn = [line for line in order if "|" in line or "│" in line]
    assert len(drawn) == 20
    assert all(disk in line or "+" in line or "▓" in line for line in drawn)


def test_text_replaces_only_the_table(small):
    pfdrive("report", small.recording, "--plot", "-", "--format", "json", status=2)

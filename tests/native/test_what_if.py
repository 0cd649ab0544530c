# SPDX-License-Identifier: GPL-2.0-only
"""what-if: predictions from one recording, against cold runs on an ext4 file system with its own
read_ahead_kb, on a loop device."""
import os
import pathlib
import sys

import pytest

import cold_runs
import native
import pfstat

RECIPES = pathlib.Path(__file__).parents[2] / "Documentation/recipes"
READ_AHEAD = (0, 32, 128, 512, 2048)

pytestmark = [pytest.mark.parametrize("caller", ["root"], indirect=True),
              pytest.mark.needs(cold_runs.can_mount(), "root, and a loop device with ext4")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with cold_runs.new_folder() as folder, cold_runs.loop_disk(folder, 160) as disk:
        disk.fill()
        yield disk


@pytest.fixture(name="root")
def fixture_root(caller):
    return caller


def what_if(caller, recording, *options):
    """The settings by read_ahead_kb and advice, and the whole."""
    path = caller.folder / "what_if.json"
    caller.run("what-if", "--json", path, *options, recording.path)
    result = pfstat.report_of(path.read_text(encoding="utf-8"), "pfdrive-what-if")
    return {(row["read_ahead_kb"], row["advice"]): row for row in result["settings"][1:]}, result


def assert_close(predicted, measured, share, few):
    assert abs(predicted - measured) <= max(share * measured, few), (predicted, measured)


@pytest.mark.parametrize("pattern", ["sequence", "streams", "stride", "random", "runs"])
def test_prediction_equals_cold_runs(root, disk, pattern):
    disk.read_ahead(128)
    disk.cold()
    exact = root.record(*disk.touch(pattern), options=("--exact",))
    rows, result = what_if(root, exact, "--file", disk.data)
    assert result["exact"]
    for kib in READ_AHEAD:
        disk.read_ahead(kib)
        major, read = disk.measured(*disk.touch(pattern))
        assert_close(rows[kib, None]["major_faults"], major, 0.02, 2)
        assert_close(rows[kib, None]["bytes_read"], read, 0.02, 0)
    disk.read_ahead(128)
    for advice in ("random", "sequential"):
        major, read = disk.measured(*disk.touch(pattern, f"MADV_{advice.upper()}"))
        assert_close(rows[128, advice]["major_faults"], major, 0.02, 2)
        assert_close(rows[128, advice]["bytes_read"], read, 0.02, 0)


def test_prediction_for_the_recipe_equals_cold_runs(root, disk):
    database = disk.folder / "data.sqlite"
    program = RECIPES / "read_ahead.py"
    pfstat.run(sys.executable, program, database, "make")
    os.sync()
    look = (sys.executable, program, database, "look")
    rows, _ = what_if(root, root.record(*look, options=("--exact",)), "--file", database)
    for kib in READ_AHEAD:
        disk.read_ahead(kib)
        disk.cold()
        words = pfstat.run(*look).stdout.split()
        assert_close(rows[kib, None]["major_faults"], int(words[0]), 0.02, 2)
        assert_close(rows[kib, None]["bytes_read"] / (1 << 20), float(words[3]), 0.02, 0)


def test_advice_of_the_program_is_that_of_the_recorded_setting(root, disk):
    """perf does not record madvise(2). pfdrive sees the advice after some reads."""
    disk.read_ahead(128)
    disk.cold()
    exact = root.record(*disk.touch("runs", "MADV_RANDOM", "3"), options=("--exact",))
    rows, result = what_if(root, exact, "--file", disk.data, "--advice", "normal")
    major, read = disk.measured(*disk.touch("runs", "MADV_RANDOM"))
    assert_close(result["settings"][0]["major_faults"], major, 0.02, 2)
    assert_close(result["settings"][0]["bytes_read"], read, 0.02, 0)
    major, _ = disk.measured(*disk.touch("runs"))
    assert_close(next(iter(rows.values()))["major_faults"], major, 0.02, 2)
    text = root.run("what-if", "--file", disk.data, exact.path).stdout
    assert "the advice is that which pfdrive saw in mappings that were read much" in text


def test_prediction_equals_cold_starts_of_a_program(root, disk):
    python = disk.copy(native.PYTHON)
    start = (python, "-S", "-c", "pass")
    disk.read_ahead(128)
    disk.cold()
    rows, result = what_if(root, root.record(*start, options=("--exact",)), "--file",
                           f"{disk.folder}/")
    assert result["exact"]
    for kib in READ_AHEAD:
        disk.read_ahead(kib)
        disk.cold()
        _, ordinary = what_if(root, root.record(*start), "--file", python)
        assert_close(rows[kib, None]["major_faults"], ordinary["major_faults"], 0.03, 2)


def test_one_read_does_not_give_the_time_of_others(root, disk):
    disk.read_ahead(128)
    disk.cold()
    exact = root.record(*disk.touch("sequence"), options=("--exact",))
    rows, _ = what_if(root, exact, "--file", disk.data)
    assert rows[0, None]["major_faults"] == cold_runs.PAGES
    assert rows[0, None]["total_ns"] is None and rows[0, None]["no_time"]
    assert "Cannot predict the time of" in root.run("what-if", "--file", disk.data,
                                                    exact.path).stdout


def test_ordinary_recording_cannot_tell_less_read_ahead(root, disk):
    disk.read_ahead(128)
    disk.cold()
    ordinary = root.record(*disk.touch("runs"))
    rows, result = what_if(root, ordinary, "--file", disk.data)
    assert not result["exact"]
    for key in ((0, None), (32, None), (128, "random"), (128, "sequential")):
        assert rows[key]["major_faults"] is None
        assert "fault-around hides accesses" in rows[key]["cannot"]
    text = root.run("what-if", "--file", disk.data, ordinary.path).stdout
    assert "Cannot predict 2 settings: fault-around hides accesses, and less read-ahead" in text
    disk.read_ahead(512)
    assert_close(rows[512, None]["major_faults"], disk.measured(*disk.touch("runs"))[0], 0.1, 2)


def test_warm_ordinary_recording_predicts_nothing(root, disk):
    disk.read_ahead(128)
    for _ in range(3):          # the kernel may evict some pages in between
        disk.measured(*disk.touch("sequence"))
        warm = root.record(*disk.touch("runs"))
        done = root.run("what-if", "--file", disk.data, warm.path, check=False)
        if done.returncode:
            break
    assert done.returncode == 1
    assert "its pages were cached before" in done.stderr

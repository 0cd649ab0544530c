# SPDX-License-Identifier: GPL-2.0-only
"""valgrind's simulation of the access loop, and the loop by itself."""
import os
import pathlib

import pytest

import pfstat

# Not on the debug kernel: this test concerns user space, and each access is slow there.
pytestmark = pytest.mark.needs(not pfstat.KMEMLEAK.exists(),
                               "a kernel that does not check each access")


def simulated(pattern, pages, accesses):
    """The counts for the access loop's function. Checks the totals."""
    path = pfstat.make_file(pfstat.DISK / f"simulated-{pages}", pages * pfstat.PAGE)
    result = pfstat.drive("--with", "cachegrind", "--pattern", pattern, "--accesses", accesses,
                          path)
    caches = result["simulated_caches"]
    loop = caches["functions"][0]
    assert loop["name"] == pattern.split(":", maxsplit=1)[0] + "_run"
    # Outside the loop, the two starts differ by next to nothing.
    assert abs(caches["read"]["references"] - loop["read"]["references"]) < 200
    assert "valgrind" in caches["simulator"]
    return loop["read"]


def test_lines_that_fit_miss_once():
    """16 KiB in a 32 KiB D1: 256 lines, each touched 20 times."""
    read = simulated("stride:64", 4, 20 * 256)
    assert 20 * 256 <= read["references"] < 20 * 256 + 300
    assert 256 <= read["d1_misses"] < 256 + 20
    assert 256 <= read["ll_misses"] < 256 + 20


def test_lines_that_do_not_fit_miss_d1_but_hit_the_last_level():
    """1 MiB, line by line, through an 8-way 32 KiB D1: LRU evicts each line before the line is
    reused."""
    read = simulated("stride:64", 256, 3 * 16384)
    assert 3 * 16384 <= read["d1_misses"] < 3 * 16384 + 300
    assert 16384 <= read["ll_misses"] < 16384 + 20


def test_bytes_of_a_line_miss_once():
    read = simulated("sequential", 64, 64 * pfstat.PAGE)
    assert 4096 <= read["d1_misses"] < 4096 + 50


def test_simulation_is_labelled_and_leaves_nothing_behind(small_file, tmp_path):
    text = pfstat.run(pfstat.PFDRIVE, "--with", "cachegrind", "--accesses", "1000", small_file,
                      env={**os.environ, "TMPDIR": str(tmp_path)}).stdout
    assert "SIMULATED by valgrind" in text
    assert "These are not the caches of this machine: I1 32 KiB 8-way, D1 32 KiB 8-way, LL 15360 KiB" in text
    assert not list(tmp_path.iterdir())


def test_missing_valgrind_is_reported(small_file):
    folder = pathlib.Path("/tmp/no-valgrind")
    folder.mkdir(exist_ok=True)
    assert "requires valgrind" in pfstat.refused(1, "--with", "cachegrind", small_file,
                                              env={**os.environ, "PATH": str(folder)})


def test_missing_temporary_folder_is_reported(small_file):
    assert "temporary folder" in pfstat.refused(1, "--with", "cachegrind", small_file,
                                                env={**os.environ, "TMPDIR": "/nowhere"})


def test_simulation_needs_neither_root_nor_the_module(small_file):
    pfstat.unload()
    os.chmod(small_file, 0o644)
    for name in ("loop", "bare-loop"):
        result = pfstat.run(pfstat.PFDRIVE, "helper", name, "--accesses", "1000", small_file,
                            user=65534, group=65534, extra_groups=[])
        assert result.stdout == result.stderr == ""
    assert "no file" in pfstat.refused(1, "helper", "loop", pfstat.DISK / "missing")

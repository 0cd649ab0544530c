# SPDX-License-Identifier: GPL-2.0-only
"""The recipes for Python's loaders as a user runs them here: what their pages claim about
faults."""
import importlib.metadata
import importlib.util
import itertools
import os
import pathlib
import shutil
import subprocess

import pytest

import native
import pfstat

RECIPES = pathlib.Path(__file__).parents[2] / "Documentation" / "recipes"


def needs(module, package):
    return pytest.mark.needs(importlib.util.find_spec(module), package)


class Recipe:
    """A recipe already run in a separate folder, and the recordings' faults."""

    def __init__(self, caller, name):
        self.caller, self.folder = caller, caller.folder / name
        self.folder.mkdir()
        shutil.chown(self.folder, caller.folder.stat().st_uid)
        # An ordinary user may not be allowed to enter the tree.
        for path in RECIPES.glob(f"{name}.*"):
            shutil.copy(path, caller.programs)
        environment = caller.options["env"] | {"PATH": f"{caller.programs}:/usr/bin:/bin"}
        environment.pop("PFSTAT_KO", None)
        done = pfstat.run("sh", caller.programs / f"{name}.sh", self.folder,
                          **caller.options | {"env": environment})
        assert done.stdout.splitlines()[-1] == str(self.folder / "before.pfs")

    def recording(self, name):
        recording = native.Recording(self.caller, self.folder / name)
        result = recording.report()
        assert result["damage"] is None and result["lost"] == 0
        return recording

    def faults(self, name, file=None):
        """A recording's rows for one file, or all."""
        return [row for row in self.recording(name).rows
                if file is None or row["file"] == str(self.folder / file)]

    def evicted(self, file):
        """The script dropped the file's pages. Otherwise the test ends here."""
        native.evict(self.folder / file)


@pytest.fixture(name="recipe")
def fixture_recipe(caller):
    started = []

    def start(name):
        started.append(Recipe(caller, name))
        return started[0]
    yield start
    for recipe in started:
        shutil.rmtree(recipe.folder)


def pages(rows):
    return [int(row["page"]) for row in rows]


def is_major(row):
    return row["major"] == "1"


@needs("numpy", "python3-numpy")
def test_numpy_memmap_at_random_reads_single_pages_with_advice(recipe):
    ran = recipe("numpy_memmap")
    ran.evicted("array")
    in_order = pages(ran.faults("order.pfs", "array"))
    assert in_order == sorted(in_order) and len(in_order) > 1
    before, after = ran.faults("before.pfs", "array"), ran.faults("after.pfs", "array")
    assert pages(before) != sorted(pages(before))
    assert all(map(is_major, after))
    assert len(set(pages(after))) == len(after) > len(before)


def test_tensors_are_in_memory_after_the_prefetch(recipe):
    ran = recipe("tensors_load")
    ran.evicted("model")
    before, after = ran.faults("before.pfs", "model"), ran.faults("after.pfs", "model")
    assert any(map(is_major, before))
    assert pages(before) != sorted(pages(before))
    waited = pages(filter(is_major, after))
    assert set(waited).isdisjoint(pages(before))


def of_workers(rows):
    """The forked processes' faults in memory without a file."""
    return [row for row in rows if row["pid"] != rows[0]["pid"] and not row["file"].startswith("/")]


def test_forked_workers_copy_a_list_and_not_an_array(recipe):
    ran = recipe("forked_workers")
    counts = []
    for name in ("before.pfs", "after.pfs"):
        rows = of_workers(ran.faults(name))
        counts.append(sorted(len(list(group)) for _, group in itertools.groupby(
            sorted(rows, key=lambda row: row["pid"]), lambda row: row["pid"])))
    copied, shared = counts
    # 100000 objects with 97 bytes each are 2300 pages. Each of four workers writes to nearly all
    # these pages.
    assert len(copied) == len(shared) == 4
    assert copied[0] > 2000 and shared[-1] < copied[0] / 2


def pandas_is_older_than(major):
    return importlib.util.find_spec("pandas") and \
        int(importlib.metadata.version("pandas").split(".", maxsplit=1)[0]) < major


# pandas 3 maps a large file in any case, and reads it with several threads.
@pytest.mark.needs(pandas_is_older_than(3), "python3-pandas, of a release before 3")
def test_pandas_maps_with_memory_map_and_touches_less_for_one_column(recipe):
    ran = recipe("pandas_memory_map")
    assert ran.faults("before.pfs", "table.csv")
    assert not ran.faults("read.pfs", "table.csv") + ran.faults("after.pfs", "table.csv")
    assert len(ran.faults("after.pfs")) < len(ran.faults("read.pfs"))


@pytest.mark.needs(not pathlib.Path("/sys/module/pfstat").exists(), "a machine without the module")
@pytest.mark.parametrize("script", sorted(
    path.name for path in RECIPES.glob("*.sh")
    if "insmod" in path.read_text() and '-z "${PFSTAT_KO-}"' not in path.read_text()))
def test_a_recipe_for_the_lab_says_so_elsewhere(script, tmp_path):
    environment = {name: text for name, text in os.environ.items() if name != "PFSTAT_KO"}
    ended = subprocess.run(["sh", RECIPES / script, tmp_path], env=environment, text=True,
                           capture_output=True, check=False)
    assert ended.returncode == 2 and "run this script in tools/lab shell" in ended.stderr
    assert not list(tmp_path.iterdir())

# SPDX-License-Identifier: GPL-2.0-only
"""The notebook runs in IPython, cell by cell: on a recording, and with a cell that records."""
import json
import os
import pathlib
import shutil

import pytest
from IPython.core.interactiveshell import InteractiveShell

from test_module import csv_of

TREE = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = TREE / "course/notebook/faults.ipynb"


def sources(records):
    """The cell code in order: either the recording cells, or the others."""
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and ("records" in cell["metadata"].get("tags", ())) == records:
            yield "".join(cell["source"])


@pytest.fixture(name="notebook")
def fixture_notebook(made, tmp_path, monkeypatch):
    """A student's folder with a recording, and a function to run cells there. It returns the
    notebook's variables."""
    shutil.copy(made, tmp_path / "run.pfs")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()

    def run(cells):
        for source in cells:
            shell.run_cell(source).raise_error()
        return shell.user_ns
    yield run
    InteractiveShell.clear_instance()


def test_the_cells_run_and_the_parts_add_up(notebook, capsys):
    scope, printed = notebook(sources(records=False)), capsys.readouterr().out
    faults = len(csv_of("run.pfs"))
    assert faults > 0 and f"{faults} faults of" in printed
    assert printed.startswith("Page faults were in progress")
    assert scope["difference"] == 0
    assert scope["by_class"]["count"].sum() == faults
    assert scope["by_class"]["share"].sum() == pytest.approx(1)
    assert len(scope["plt"].get_fignums()) == 3
    assert len(scope["waited"]) > 2 and scope["slope"] > 0


def test_a_cell_of_the_notebook_is_recorded(notebook, capsys, recorded):
    """And the other cells run on a perf recording, which lacks most parts."""
    del recorded    # only where this machine records
    scope = notebook([next(sources(records=False)), *sources(records=True)])
    printed = capsys.readouterr().out
    assert "faults recorded, 0 samples lost, in" in printed
    assert 0 < len(scope["of_file"]) <= len(scope["touched"])
    assert f"{len(scope['of_file'])} faults for {len(scope['touched'])} pages" in printed
    os.replace("cell.pfs", "run.pfs")
    scope = notebook(sources(records=False))
    assert scope["difference"] == 0 and "device_ns" not in scope["parts"]
    assert len(scope["faults"]) == len(scope["cell"]) and not len(scope["waited"])

# SPDX-License-Identifier: GPL-2.0-only
"""The cells of the notebook run, in their order, on the rows of a recording."""
import contextlib
import io
import json
import os
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])
NOTEBOOK = TREE / "course/notebook/faults.ipynb"


@pytest.fixture(name="rows")
def fixture_rows(tmp_path, monkeypatch):
    """A file of rows, named to the notebook as a student would."""
    recording, rows = tmp_path / "run.pfs", tmp_path / "faults.csv"
    subprocess.run([BUILD / "make_run", recording], check=True)
    subprocess.run([BUILD / "pfdrive", "report", "--format", "faults-csv", "-o", rows, recording],
                   check=True)
    monkeypatch.setenv("FAULTS_CSV", str(rows))
    return rows


def test_the_cells_run_and_the_parts_add_up(rows):
    scope, text = {}, io.StringIO()
    with contextlib.redirect_stdout(text):
        for number, cell in enumerate(json.loads(NOTEBOOK.read_text())["cells"]):
            if cell["cell_type"] == "code":
                code = compile("".join(cell["source"]), f"cell {number}", "exec")
                exec(code, scope)       # pylint: disable=exec-used  # it is the subject of the test
    faults = len(rows.read_text().splitlines()) - 1
    assert faults > 0 and f"{faults} faults of" in text.getvalue()
    assert scope["difference"] == 0
    assert scope["by_class"]["count"].sum() == faults
    assert scope["by_class"]["share"].sum() == pytest.approx(1)
    assert len(scope["plt"].get_fignums()) == 3
    assert len(scope["waited"]) > 2 and scope["slope"] > 0

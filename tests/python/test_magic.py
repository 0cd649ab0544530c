# SPDX-License-Identifier: GPL-2.0-only
"""The cell magic, in a notebook running in a kernel of its own."""
import nbclient
import nbformat
import pytest

from pfstat.magic import options_of

TOUCH = """import mmap
memory = mmap.mmap(-1, 100 * mmap.PAGESIZE, mmap.MAP_PRIVATE)
for page in range(100):
    memory[page * mmap.PAGESIZE] = 1
touched = "yes"
"""


def outputs_of(cell):
    """The text in a cell's streams, as {"stdout": …, "stderr": …}."""
    texts = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            texts[output.name] = texts.get(output.name, "") + output.text
    return texts


def run_notebook(folder, *sources, allow_errors=False):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)
                                               for source in ("%load_ext pfstat", *sources)])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}},
                            allow_errors=allow_errors).execute()
    return notebook.cells[1:]


def test_a_cell_is_recorded_with_a_progress_line_and_the_verdict(recorded, tmp_path):
    del recorded    # only where this machine records
    cell, kept, after = run_notebook(
        tmp_path, f"%%pfstat\n{TOUCH}", f"%%pfstat -o cell.pfs\n{TOUCH}",
        'import pfstat\nprint(touched, len(pfstat.faults("cell.pfs")) >= 100)')
    for shown in (outputs_of(cell), outputs_of(kept)):
        assert shown["stdout"].startswith("Page faults were in progress")
        last = shown["stderr"].rstrip("\n").split("\r")[-1]
        assert last.startswith("pfstat: recording, ") and last.endswith(" major faults")
    assert "faults recorded, 0 samples lost, in" in outputs_of(kept)["stdout"]
    assert outputs_of(after)["stdout"] == "yes True\n"


def test_an_error_of_a_cell_is_shown_and_ends_the_recording(recorded, tmp_path):
    del recorded
    cell, after = run_notebook(tmp_path, "%%pfstat -o failed.pfs\n1 / 0",
                               'import pfstat\nprint(len(pfstat.faults("failed.pfs")) > 0)',
                               allow_errors=True)
    assert "ZeroDivisionError" in str(cell.outputs)
    assert outputs_of(after)["stdout"] == "True\n"


def test_the_line_of_a_cell_has_options_of_pfdrive():
    assert options_of("") == (None, "perf", [])
    assert options_of("-o 'a b.pfs' --source ebpf --ring-size=1M") == \
        ("a b.pfs", "ebpf", ["--ring-size=1M"])
    for line, reason in (("-o", "needs a value"), ("run.pfs", "unexpected argument 'run.pfs'")):
        with pytest.raises(ValueError, match=reason):
            options_of(line)

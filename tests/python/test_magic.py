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
    """The text in a cell's streams and of its displays: {"stdout": …, "stderr": …, "display": …}."""
    texts = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            texts[output.name] = texts.get(output.name, "") + output.text
        elif output.output_type == "display_data":
            texts["display"] = texts.get("display", "") + output.data["text/plain"] + "\n"
    return texts


def run_notebook(folder, *sources, allow_errors=False):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)
                                               for source in ("%load_ext pfstat", *sources)])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}},
                            allow_errors=allow_errors).execute()
    return notebook.cells[1:]


def test_a_cell_is_recorded_with_one_line_and_the_verdict(recorded, tmp_path):
    del recorded    # only where this machine records
    cell, kept, after = run_notebook(
        tmp_path, f"%%pfstat\n{TOUCH}", f"%%pfstat -o cell.pfs\n{TOUCH}",
        'import pfstat\nprint(touched, len(pfstat.faults("cell.pfs")) >= 100)')
    for shown, end in ((outputs_of(cell), "0 samples lost"), (outputs_of(kept), "/cell.pfs")):
        assert set(shown) == {"stdout", "display"}
        assert shown["stdout"].startswith("Page faults were in progress")
        line, = shown["display"].splitlines()
        assert line.startswith("pfstat: ") and " faults recorded, 0 samples lost" in line
        assert line.endswith(end)
    assert outputs_of(after)["stdout"] == "yes True\n"


def test_the_magic_starts_no_thread(recorded, tmp_path):
    """Else the thread and its faults would be in the recording."""
    del recorded
    script = "import os\nbefore = set(os.listdir('/proc/self/task'))"
    inside = "inside = set(os.listdir('/proc/self/task'))"
    _, _, after = run_notebook(tmp_path, script, f"%%pfstat -o cell.pfs\n{inside}",
                               'import pfstat\nfaults = pfstat.faults("cell.pfs")\n'
                               'print(inside - before, set(faults["tid"].astype(str)) - before)')
    assert outputs_of(after)["stdout"] == "set() set()\n"


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
    assert options_of("--ring-size 1M --stacks -o a.pfs") == \
        ("a.pfs", "perf", ["--ring-size", "1M", "--stacks"])
    for line, reason in (("-o", "needs a value"), ("run.pfs", "unexpected argument 'run.pfs'"),
                         ("--ring-size=1M run.pfs", "unexpected argument 'run.pfs'"),
                         ("-- true", "unexpected argument '--'")):
        with pytest.raises(ValueError, match=reason):
            options_of(line)

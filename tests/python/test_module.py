# SPDX-License-Identifier: GPL-2.0-only
"""The module: it records from inside, and recordings are tables and verdicts."""
import csv
import dataclasses
import io
import json
import os
import subprocess
import sys
import warnings

import pandas as pd
import pytest

import pfstat
from conftest import BUILD
from pfstat import columns, frame, program, verdicts

FAULTS = columns.columns_of("faults")
TOUCH = """
import mmap, os, pfstat, sys

PAGES = 200

def touch():
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE)
    try:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    except OSError:
        pass        # this kernel has no huge pages
    for page in range(PAGES):
        memory[page * mmap.PAGESIZE] = 1
"""


def csv_of(recording, kind="faults"):
    text = subprocess.run([BUILD / "pfdrive", "report", "--format", f"{kind}-csv", recording],
                          check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def json_of(recording):
    return json.loads(subprocess.run([BUILD / "pfdrive", "report", "--format", "json", recording],
                                     check=True, capture_output=True).stdout)


def test_a_process_records_itself_and_its_children(user):
    printed = user.script(TOUCH + """
with pfstat.record("self.pfs") as recorder:
    touch()
    if not os.fork():
        touch()
        os._exit(0)
    os.wait()
faults = pfstat.faults("self.pfs")
for by_process in (faults["pid"] == os.getpid(), faults["pid"] != os.getpid()):
    print((by_process & (faults["class"] == "anon")).sum() >= PAGES)
print(recorder.summary)
""").splitlines()
    assert printed[:2] == ["True", "True"]
    assert "samples lost, in" in printed[2] and printed[2].endswith("self.pfs")


def test_a_recording_covers_all_of_the_block_and_nothing_else(user):
    pages = user.script(TOUCH + """
touch()
with pfstat.record("block.pfs"):
    first = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE)
    first[0] = 1
touch()
faults = pfstat.faults("block.pfs")
print(len(faults) > 0, (faults["class"] == "anon").sum() < PAGES)
""")
    assert pages == "True True\n"


def test_a_child_that_leaves_the_block_does_not_end_the_recording(user):
    assert user.script(TOUCH + """
with pfstat.record("fork.pfs"):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        touch()
if not child:
    os._exit(0)
faults = pfstat.faults("fork.pfs")
print(((faults["pid"] == os.getpid()) & (faults["class"] == "anon")).sum() >= PAGES)
""") == "True\n"


def test_an_error_in_the_block_keeps_the_recording(user):
    assert user.script(TOUCH + """
try:
    with pfstat.record("error.pfs"):
        touch()
        raise KeyError("mine")
except KeyError as error:
    print(error, len(pfstat.faults("error.pfs")) >= PAGES)
""") == "'mine' True\n"


def test_an_older_recording_of_that_name_is_kept(user):
    assert user.script("""
import pfstat
for _ in range(2):
    with pfstat.record("twice.pfs"):
        pass
print(len(pfstat.faults("twice.pfs.old")) >= 0)
""") == "True\n"


def test_a_second_recording_of_that_name_is_refused(user):
    """The first one keeps the name and its faults."""
    assert user.script(TOUCH + """
with pfstat.record("nested.pfs"):
    try:
        with pfstat.record("nested.pfs"):
            pass
    except pfstat.PfdriveError as error:
        print(error)
    touch()
faults = pfstat.faults("nested.pfs")
print((faults["class"] == "anon").sum() >= PAGES, os.path.exists("nested.pfs.old"))
""").splitlines() == [f"cannot write {user.home}/nested.pfs: another recording is being written to "
                     "it; give this one another name", "True False"]


def test_a_killed_recorder_is_named_and_its_recording_is_read(user):
    """As far as it was written."""
    assert user.script(TOUCH + """
import signal, warnings
recorder = pfstat.record("killed.pfs")
recorder.start()
touch()
children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
os.kill(int(children[0]), signal.SIGKILL)
try:
    recorder.stop()
except pfstat.PfdriveError as error:
    print(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    faults = pfstat.faults("killed.pfs")
print(len(faults) >= 0, "killed.pfs was cut" in str(caught[0].message))
""").splitlines() == ["pfdrive was killed by signal 9 (SIGKILL)", "True True"]


@pytest.mark.parametrize("status, messages, sentence", [
    (1, "pfdrive: no\n", "no"), (1, "", "pfdrive failed with status 1 and printed no reason"),
    (-9, "", "pfdrive was killed by signal 9 (SIGKILL)"),
    (-11, "pfdrive: half\n", "pfdrive was killed by signal 11 (SIGSEGV)\nhalf"),
    (-40, "", "pfdrive was killed by signal 40")])
def test_a_failure_has_the_reason(status, messages, sentence):
    assert str(program.failure_of(status, messages)) == sentence


def test_recording_fails_with_the_sentence_of_pfdrive(user):
    assert user.script("""
import pfstat
for path, options in (("/nowhere/run.pfs", {}), ("run.pfs", {"source": "magic"}),
                      ("run.pfs", {"source": "module"})):
    try:
        with pfstat.record(path, **options):
            pass
    except pfstat.PfdriveError as error:
        print(error)
""").splitlines()[0] == "cannot write /nowhere/run.pfs: No such file or directory"


class Interpreter:
    """Python 3.12 as record() sees it. The recorder is a process that writes the recording."""

    def __init__(self, monkeypatch, path, active=False, error=None):
        self.active, self.error, self.calls = active, error, []
        monkeypatch.setattr(sys, "activate_stack_trampoline", self.activate, raising=False)
        monkeypatch.setattr(sys, "deactivate_stack_trampoline", self.deactivate, raising=False)
        monkeypatch.setattr(sys, "is_stack_trampoline_active", lambda: self.active, raising=False)
        monkeypatch.setattr("pfstat.recorder.start", self.start)
        self.path, self.words = path, None

    def start(self, words, _out, messages):
        self.words = words
        script = "trap 'exit 0' INT; > \"$0\"; while :; do sleep 0.01; done"
        return subprocess.Popen(["sh", "-c", script, self.path], stderr=messages)

    def activate(self, backend):
        if self.error:
            raise self.error
        self.active = True
        self.calls.append(f"on {backend}")

    def deactivate(self):
        self.active = False
        self.calls.append("off")


@pytest.mark.parametrize("keywords", [{"stacks": True}, {"options": ["--stacks"]},
                                      {"stacks": True, "options": ["--stacks"]}])
def test_python_functions_have_names_in_call_paths_during_the_block(keywords, monkeypatch,
                                                                    tmp_path):
    python = Interpreter(monkeypatch, tmp_path / "run.pfs")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pfstat.record(tmp_path / "run.pfs", **keywords):
            assert python.active and python.calls == ["on perf"]
    assert python.calls == ["on perf", "off"]
    assert python.words.count("--stacks") == 1


def test_without_stacks_the_trampoline_stays_off(monkeypatch, tmp_path):
    python = Interpreter(monkeypatch, tmp_path / "run.pfs")
    with pfstat.record(tmp_path / "run.pfs"):
        pass
    assert not python.calls and "--stacks" not in python.words


def test_a_trampoline_that_was_on_stays_on(monkeypatch, tmp_path):
    """As with python3 -X perf."""
    python = Interpreter(monkeypatch, tmp_path / "run.pfs", active=True)
    with pfstat.record(tmp_path / "run.pfs", stacks=True):
        pass
    assert python.active and not python.calls


def test_an_error_in_the_block_switches_the_trampoline_off(monkeypatch, tmp_path):
    python = Interpreter(monkeypatch, tmp_path / "run.pfs")
    with pytest.raises(KeyError), pfstat.record(tmp_path / "run.pfs", stacks=True):
        raise KeyError("mine")
    assert python.calls == ["on perf", "off"]


def test_a_recorder_that_fails_switches_the_trampoline_off(monkeypatch, tmp_path):
    python = Interpreter(monkeypatch, tmp_path / "run.pfs")
    monkeypatch.setattr("pfstat.recorder.start", lambda _words, _out, messages: subprocess.Popen(
        ["sh", "-c", "echo pfdrive: no >&2; exit 1"], stderr=messages))
    with pytest.raises(pfstat.PfdriveError, match="^no$"), \
            pfstat.record(tmp_path / "run.pfs", stacks=True):
        pass
    assert not python.active


@pytest.mark.parametrize("missing, sentence", [
    (True, r"Python 3\.\d+ cannot name Python functions in call paths; use Python 3\.12 or later"),
    (False, "this Python cannot name Python functions in call paths: not supported here")])
def test_a_python_without_a_trampoline_says_so(missing, sentence, monkeypatch, tmp_path):
    Interpreter(monkeypatch, tmp_path / "run.pfs", error=ValueError("not supported here"))
    if missing:
        monkeypatch.delattr(sys, "activate_stack_trampoline")
    with pytest.warns(pfstat.RecordingWarning, match=sentence):
        with pfstat.record(tmp_path / "run.pfs", stacks=True):
            pass


def cell_of(value, kind):
    """A DataFrame cell as CSV has it."""
    if value is pd.NA or value != value:
        return ""
    if kind == "uint64":
        return hex(value) if value else "0"
    return value if kind == "string" else str(int(value))


@pytest.mark.parametrize("name", ["recorded", "made"])
def test_a_row_has_the_cells_of_the_csv(name, request):
    recording = request.getfixturevalue(name)
    faults, rows = pfstat.faults(recording), csv_of(recording)
    assert len(faults) == len(rows) > 0
    assert list(faults) == list(rows[0])
    for column in FAULTS:
        cells = [cell_of(value, column.kind) for value in faults[column.name].tolist()]
        expected = [row[column.name] for row in rows]
        if column.kind == "string":
            expected = [columns.name_of(cell) for cell in expected]
        assert cells == expected, column.name


def test_words_are_categories_and_a_range_selects(made):
    faults = pfstat.faults(made)
    assert all(faults[name].dtype == "category" for name in ("thread", "class", "file"))
    assert 0 < len(pfstat.faults(made, to="1ms")) < len(faults)
    name = faults["file"].value_counts().index[0]
    assert set(pfstat.faults(made, file=name)["file"]) == {name}


def csv_bytes(*rows):
    """The output of pfdrive with rows of {column: cell}: the other cells are 0, or not known."""
    lines = [",".join(column.name for column in FAULTS)]
    for row in rows:
        lines.append(",".join(row.get(column.name, "" if column.unknown else "0")
                              for column in FAULTS))
    return io.BytesIO("\n".join(lines).encode() + b"\n")


ANONYMOUS = {"class": "anon", "duration_ns": "7"}
NAMED = {"class": "file", "duration_ns": "0", "file": "/b", "thread": "'=1", "page": "3",
         "write": "1", "address": "0xffffffffffffffff"}
OF_ANOTHER = {"class": "disk", "file": "/a", "thread": "x", "device_ns": "5", "queue_ns": "0"}


@pytest.mark.parametrize("rows", [
    [*[NAMED] * 50, *[ANONYMOUS] * 100, *[OF_ANOTHER] * 50], [*[ANONYMOUS] * 100, NAMED],
    [ANONYMOUS] * 100, []], ids=["in the middle", "before", "only", "no row"])
def test_batches_without_a_name_do_not_change_the_table(rows, monkeypatch):
    whole = frame.read(csv_bytes(*rows), FAULTS)
    monkeypatch.setattr("pfstat.rows.BLOCK_BYTES", 300)
    pieces = frame.read(csv_bytes(*rows), FAULTS)
    pd.testing.assert_frame_equal(pieces, whole)
    for column in FAULTS:
        assert [cell_of(cell, column.kind) for cell in whole[column.name].tolist()] == \
            [columns.name_of(row.get(column.name, "" if column.unknown else "0"))
             for row in rows], column.name
    for name in whole if rows else ():
        whole.iloc[0, whole.columns.get_loc(name)] = whole[name].iloc[0]    # it can be written


def type_of(column):
    """The type that Documentation/user/python.rst names."""
    if column.unknown:
        return {"string": "category", "bool": "boolean", "int64": "Int64",
                "uint32": "UInt32"}[column.kind]
    return "category" if column.kind == "string" else column.kind


def test_the_types_are_the_same_in_all_recordings(made, recorded):
    for faults in (pfstat.faults(made), pfstat.faults(recorded),
                   frame.read(csv_bytes(), FAULTS)):
        assert {name: str(kind) for name, kind in faults.dtypes.items()} == \
            {column.name: type_of(column) for column in FAULTS}


def test_a_row_takes_less_than_165_bytes(tmp_path):
    """Also if each value is known. Most of the parts of a fault are 0. The first table pays for
    what does not depend on the rows. Arrow gives memory back later, so one of three tables may seem
    to take more on a busy machine."""
    path = tmp_path / "million.pfs"
    subprocess.run([BUILD / "make_recording", path, "1"], check=True)
    script = """
import sys
import pfstat
def resident():
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) << 10
tables, sizes = [pfstat.faults(sys.argv[1])], []
for _ in range(3):
    before = resident()
    tables.append(pfstat.faults(sys.argv[1]))
    sizes.append(resident() - before)
print(len(tables[1]), sorted(sizes)[1])
"""
    rows, size = map(int, subprocess.run([sys.executable, "-c", script, path], check=True,
                                         capture_output=True, text=True).stdout.split())
    assert rows == 1_000_000
    assert size < 165 * rows


def test_the_verdict_is_that_of_the_report(recorded):
    found, expected = pfstat.verdict(recorded), json_of(recorded)["verdict"]
    assert dataclasses.asdict(found) | {"class": dataclasses.asdict(found)["fault_class"]} == \
        dataclasses.asdict(found) | expected | {"causes": tuple(expected["causes"])}
    table = subprocess.run([BUILD / "pfdrive", "report", recorded], check=True,
                           capture_output=True, text=True).stdout
    assert table.startswith(f"{found}\n\n")


def test_a_cause_has_the_predicted_saving(recorded):
    cause = json_of(recorded)["verdict"]["causes"][0]
    assert cause["saving"] is None
    recorded_faults = {"major_faults": 12, "bytes_read": 49152, "total_ns": 9e6, "error_ns": 1e5}
    cause["saving"] = {"setting": "MADV_NORMAL", "recorded": recorded_faults,
                       "changed": {"major_faults": 1, "bytes_read": 131072, "total_ns": None,
                                   "error_ns": None}}
    found = verdicts.cause_of(cause)
    assert dataclasses.asdict(found) == cause
    assert found.saving.recorded == pfstat.PredictedFaults(**recorded_faults)


def test_a_file_that_is_not_a_recording_is_an_error_of_pfdrive(tmp_path):
    (tmp_path / "text").write_text("text", encoding="utf-8")
    for read in (pfstat.faults, pfstat.verdict):
        with pytest.raises(pfstat.PfdriveError, match="^cannot open .*: No such file"):
            read(tmp_path / "nothing")
        with pytest.raises(pfstat.PfdriveError, match="text is not a pfdrive recording"):
            read(tmp_path / "text")


def test_an_error_of_pfdrive_is_shown_alone(tmp_path):
    """Without what the empty output was taken for."""
    with pytest.raises(pfstat.PfdriveError) as caught:
        pfstat.faults(tmp_path / "nothing")
    assert "No such file" in str(caught.getrepr(chain=True))
    assert "prints no column" not in str(caught.getrepr(chain=True))


def test_a_recording_that_was_cut_is_read_with_a_warning(made, tmp_path):
    cut = tmp_path / "cut.pfs"
    cut.write_bytes(made.read_bytes()[:-100])
    with pytest.warns(pfstat.RecordingWarning, match="cut.pfs was cut") as caught:
        faults = pfstat.faults(cut)
    assert caught[0].filename == __file__
    assert len(faults) == len(csv_of(cut)) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pfstat.PfdriveError, match="No verdict: the duration"):
            pfstat.verdict(cut)


def test_names_are_as_they_were_recorded():
    assert [columns.name_of(text) for text in ("/a", "'=1", "''=1", "'", "''", "'a", "")] == \
        ["/a", "=1", "'=1", "'", "''", "'a", ""]


def test_another_pfdrive_is_named_by_a_variable(made, monkeypatch):
    monkeypatch.setenv("PFDRIVE", "/nowhere/pfdrive")
    with pytest.raises(pfstat.PfdriveError, match="cannot run /nowhere/pfdrive: No such file"):
        pfstat.faults(made)
    monkeypatch.setenv("PFDRIVE", os.fspath(BUILD / "pfdrive"))
    assert len(pfstat.faults(made)) == len(csv_of(made))

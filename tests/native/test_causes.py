# SPDX-License-Identifier: GPL-2.0-only
"""What a perf report names as the cause of the fault time, and a python's faults."""
import pathlib
import re
import shutil

import pytest

import native
import pfstat

# Random reads in a file, each a fault in a page no other read has touched.
RANDOM_READS = """
import mmap, random, sys
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data.madvise(mmap.MADV_RANDOM)
pages = list(range(len(data) // mmap.PAGESIZE))
random.Random(1).shuffle(pages)
print(sum(data[page * mmap.PAGESIZE] for page in pages))
"""
SCAN = pathlib.Path(__file__).parents[2] / "Documentation/examples/scan.py"
# pfdrive looks at the mapping after some reads, on a busy machine later.
AND_WAIT = """
import sys, time
del sys.argv[0]
exec(open(sys.argv[0]).read())
time.sleep(3)
"""
THREADS_AND_CHILDREN = """
import os, subprocess, sys, threading
held = []
def work():
    held.append(bytearray(4 << 20))
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for _ in range(4):
    if not os.fork():
        held[0][:] = bytes(len(held[0]))
        os._exit(0)
for _ in range(4): os.wait()
subprocess.run(["/bin/true"], check=True)
"""


# A report names causes for a run with this share of run time in faults, and only causes with this
# share of the fault time. (A run waiting for a CPU has less, so the times decide.)
LEAST_OF_RUN = 0.05
LEAST_OF_FAULTS = 0.25


def is_major(row):
    return row["major"] == "1"


def cause_of(recording, rule, is_its_fault):
    """This rule's sentence, if the report names the rule with such fault times."""
    verdict = recording.report()["verdict"]
    text = " ".join(recording.print().split())
    causes = {cause["rule"]: cause for cause in verdict["causes"]}
    for cause in causes.values():
        assert ("Cause: " if cause["certain"] else "Not certain: ") + cause["text"] in text
    times = [(is_its_fault(row), int(row["duration_ns"] or 0)) for row in recording.rows]
    share = sum(time for is_one, time in times if is_one) / sum(time for _, time in times)
    if share < LEAST_OF_FAULTS:
        assert rule not in causes
        return None
    # The verdict leaves out the time in which the run waited for a CPU, and so may name causes.
    if verdict["share"] < LEAST_OF_RUN and rule not in causes:
        return None
    return causes[rule]["text"]


def test_random_reads_of_a_cold_file_are_the_cause_with_its_name(caller):
    path = caller.new_file("random", 2000)
    native.evict(path)
    recording = caller.record(native.PYTHON, "-c", RANDOM_READS, path)
    native.assert_complete(recording.report())
    rows = [row for row in recording.rows if row["file"] == str(path)]
    assert len(rows) == 2000 and {row["major"] for row in rows} == {"1"}
    cause = cause_of(recording, "cold-file", is_major)
    if cause:
        assert cause.startswith(f"pages of {path} were not in memory: ")
        assert int(re.search(r": (\d+) major faults read them", cause)[1]) >= 2000


@pytest.mark.parametrize("advice", ["random", "normal"])
def test_reads_without_read_ahead_name_the_advice_that_forbids_it(advice, caller):
    """The program of the README's first example."""
    path = caller.new_file("scanned", 8192)
    native.evict(path)
    recording = caller.record(native.PYTHON, "-c", AND_WAIT, SCAN, path, advice)
    native.assert_complete(recording.report())
    row, = (row for row in recording.report("--by", "vma")["groups"]["rows"]
            if row["name"].endswith(f" {path}"))
    rules = {cause["rule"]: cause for cause in recording.report()["verdict"]["causes"]}
    if advice == "random":
        assert row["major"] == 8192 and row["advice"] == "random"
        assert (row["readahead_bytes"], row["mmap_miss"]) == (None, None)
        assert rules["no-read-ahead"]["certain"] and "cold-file" not in rules
        assert "is off, by madvise(MADV_RANDOM)." in rules["no-read-ahead"]["text"]
    else:
        assert row["major"] < 8192 and "no-read-ahead" not in rules
        assert row["advice"] in (None, "normal")        # few reads are not worth a look


def test_a_cold_start_of_python_names_the_file_that_was_read(caller):
    python = caller.folder / "python3"
    shutil.copy(native.PYTHON, python)
    pfstat.run("sync", python)
    native.evict(python)
    recording = caller.record("/usr/bin/env", "PYTHONHOME=/usr", python, "-c", "import json")
    native.assert_complete(recording.report())
    rows = [row for row in recording.rows if row["file"] == str(python)]
    assert any(row["major"] == "1" for row in rows)
    cause = cause_of(recording, "cold-file", is_major)
    if cause:       # a machine short of memory may read another file for longer
        name = re.match(r"pages of (.*?) were", cause)[1]
        assert name == "several files" or any(
            row["file"] == name and row["major"] == "1" for row in recording.rows)
    report = recording.report("--by", "file")
    assert pfstat.group_of(report, python)["faults"] == len(rows)


def test_first_touches_are_the_cause_of_a_program_that_fills_new_memory(caller):
    recording = caller.record_faults("anon", 20000)
    rows = [row for row in recording.rows if row["class"] == "anon"]
    assert len(rows) >= 20000
    cause = cause_of(recording, "first-touch", lambda row: row["class"] == "anon")
    if cause:
        assert re.match(rf"{len(rows)} f", cause)


def test_all_faults_of_a_python_with_threads_and_children_are_recorded(caller):
    recording = caller.record(native.PYTHON, "-c", THREADS_AND_CHILDREN)
    native.assert_complete(recording.report())
    assert len({row["tid"] for row in recording.rows}) >= 1 + 8 + 4 + 1
    assert len({row["pid"] for row in recording.rows}) == 1 + 4 + 1
    again = {row["pid"] for row in recording.rows if row["class"] == "again"}
    assert len(again) >= 5

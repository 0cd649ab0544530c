# SPDX-License-Identifier: GPL-2.0-only
"""A thread that reads a cold file waits for its CPU behind another program, or behind a child of
its own. The report names it."""
import contextlib
import pathlib
import subprocess

import pytest

import perfetto
import pfstat
from pfstat import PFDRIVE, run

RECORDING = pathlib.Path("/tmp/cpu_tasks.pfs")
PAGES = 128

# A batch task does not preempt the one that runs when it is woken.
READER = """
import mmap, os, signal
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data.madvise(mmap.MADV_RANDOM)
child = os.fork() if {has_child} else 0
if {has_child} and not child:
    open("/proc/self/comm", "w").write("computing_child")
    while True:
        pass
for page in range({pages}):
    data[page * mmap.PAGESIZE]
if child:
    print(child)
    os.kill(child, signal.SIGKILL)
"""

HOG = """
open("/proc/self/comm", "w").write("cpu_hog")
print(flush=True)
while True:
    pass
"""


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")), "ebpf"])
def fixture_source(request):
    return request.param


@contextlib.contextmanager
def cpu_hog():
    with subprocess.Popen(["taskset", "-c", "0", "python3", "-c", HOG],
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process.pid
        process.kill()


def read_cold(source, has_child):
    """Records a thread that faults on each page. Returns its output."""
    path = pfstat.make_file(pfstat.DISK / "cold", PAGES * pfstat.PAGE)
    pfstat.evict(path)
    script = READER.format(has_child=has_child, path=path, pages=PAGES)
    return run(PFDRIVE, "record", "--source", source, "-o", RECORDING, "--", "taskset", "-c", "0",
               "python3", "-c", script).stdout


def check_trace(task):
    """The slices also have the task, and its time is the same as in the report."""
    trace = RECORDING.with_suffix(".pftrace")
    run(PFDRIVE, "report", "--format", "perfetto", "-o", trace, RECORDING)
    waits = [each.arguments for each in perfetto.read(trace).of("part")
             if each.arguments.get("cpu_task") == task["pid"]
             and each.arguments["cpu_task_name"] == task["name"]]
    assert len(waits) == task["waits"]
    assert sum(wait.get("cpu_task_ran_ns", 0) for wait in waits) == task["ran_ns"]


def check_task():
    """The first task had the CPU in most of the waits, and ran for most of their time."""
    result, text = pfstat.report(RECORDING), run(PFDRIVE, "report", RECORDING).stdout
    task, waits = result["cpu_tasks"][0], result["cpu_waits"]["task"]
    assert not task["kernel"] and task["own_ns"] == 0
    assert 0 < task["waits"] <= waits["count"]
    assert waits["total_ns"] / 2 < task["total_ns"] <= waits["total_ns"]
    assert task["total_ns"] / 2 < task["ran_ns"] <= task["total_ns"]
    name = f"{task['name']} (pid {task['pid']})"
    assert f"for a CPU; {name} had it longest, and ran for at least " in text
    cause, = (cause for cause in result["verdict"]["causes"] if cause["rule"] == "cpu-wait")
    assert f"{name} ran there for at least" in cause["text"]
    slowest = " ".join(run(PFDRIVE, "report", "--slowest", 1000, RECORDING).stdout.split())
    assert f"Had the CPU meanwhile: {name}, for at least " in slowest
    check_trace(task)
    return task, cause


@pytest.mark.smoke
def test_the_program_that_ran_meanwhile_is_named(source):
    with cpu_hog() as pid:
        read_cold(source, has_child=False)
    task, cause = check_task()
    assert (task["pid"], task["name"], task["recorded"]) == (pid, "cpu_hog", False)
    assert cause["remedy"].startswith(f"keep cpu_hog (pid {pid}) off these CPUs")


def test_a_process_of_the_program_itself_is_named(source):
    child = int(read_cold(source, has_child=True).split()[0])
    task, cause = check_task()
    assert (task["pid"], task["name"]) == (child, "computing_child") and task["recorded"]
    assert cause["remedy"].startswith(f"computing_child (pid {child}) is of the program itself: ")

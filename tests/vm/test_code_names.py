# SPDX-License-Identifier: GPL-2.0-only
"""Names of code and mappings: of programs in another root directory, and of many threads."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pfstat
from pfstat import begin_record

PAGES = 64
ROOT = pfstat.DISK / "root"
NAMED = r"\w+\+0x[0-9a-f]+ \(\S*/opt/workload\)"
THREADS = 2000
# Waits with many threads; then one of them touches the pages of a new mapping.
MANY = """
import mmap, sys, threading
threading.stack_size(131072)     # the least that arm64 allows
go, stay = threading.Event(), threading.Event()
def touch():
    go.wait()
    with open(sys.argv[1], "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        sum(data[at] for at in range(0, len(data), mmap.PAGESIZE))
    print("done", flush=True)
    stay.wait()
threads = [threading.Thread(target=stay.wait) for _ in range(int(sys.argv[2]) - 1)]
threads.append(threading.Thread(target=touch))
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.readline()
go.set()
sys.stdin.readline()
stay.set()
"""


def libraries(program):
    """Files that a dynamically linked program needs."""
    return re.findall(r"(/\S+) \(0x", pfstat.run("ldd", program).stdout)


@pytest.fixture(name="root")
def fixture_root():
    """A root directory of its own with the workload and a file."""
    for source in (pfstat.BUILD / "workload", *libraries(pfstat.BUILD / "workload")):
        target = ROOT / ("opt/workload" if source == pfstat.BUILD / "workload" else
                         str(source).lstrip("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    pfstat.make_file(ROOT / "data", PAGES * pfstat.PAGE)
    yield ROOT
    shutil.rmtree(ROOT)


@contextlib.contextmanager
def workload_in(root):
    process = subprocess.Popen(["chroot", root, "/opt/workload", "touch", "/data"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()


def rows_by_code(process, pid):
    """[(name, faults)] of the code that faulted, in descending order of faults."""
    process.wait(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, process.stderr.read()
    rows = pfstat.report_of(process.stdout.read())["groups"]["rows"]
    assert rows, pid
    return sorted(((row["name"], row["faults"]) for row in rows), key=lambda row: -row[1])


def has_opened(pid, path):
    """True if the process has this file open, under any name."""
    wanted = os.stat(path)
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(fd.stat(), wanted):
                return True
    return False


def record_code(process, before_it_goes=lambda: None):
    recorder = begin_record("-p", process.pid, "--by", "code", "--fault-around", "off",
                            "--format", "json", "--no-bpf")
    pfstat.wait_until(lambda: has_opened(recorder.pid, f"/proc/{process.pid}/exe"))
    before_it_goes()
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait(timeout=pfstat.PATIENCE) == 0
    return rows_by_code(recorder, process.pid)


def test_code_in_another_root_has_names(root):
    """The mappings come from /proc, which shows paths from pfdrive's root."""
    with workload_in(root) as process:
        name, faults = record_code(process)[0]
    assert faults >= PAGES and re.fullmatch(NAMED, name), name


def test_code_of_a_command_in_another_root_has_names(root):
    """Perf shows paths from the program's root."""
    report = pathlib.Path("/tmp/report.json")
    with subprocess.Popen(
            [pfstat.PFDRIVE, "record", "--by", "code", "--top", "0", "--fault-around", "off",
             "--json", report, "--", "chroot", root, "/opt/workload", "touch", "/data"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as recorder:
        recorder.stdout.readline()      # the program waits
        pfstat.wait_until(lambda: has_opened(recorder.pid, root / "opt/workload"))
        recorder.communicate("\n")
    assert recorder.returncode == 0
    rows = pfstat.report_of(report.read_text())["groups"]["rows"]
    faults = {row["name"]: row["faults"] for row in rows if "(/opt/workload)" in row["name"]}
    assert any(re.fullmatch(NAMED, name) and faults[name] >= PAGES for name in faults), rows


def test_a_replaced_program_file_gives_no_names(root):
    """The new file has the same path but was not executed, so none of its names is correct."""
    def replace():
        shutil.copy("/bin/true", root / "opt/new")
        os.rename(root / "opt/new", root / "opt/workload")

    with workload_in(root) as process:
        name, _ = record_code(process)[0]
    shutil.copy(pfstat.BUILD / "workload", root / "opt/workload")
    with workload_in(root) as process:
        again, _ = record_code(process, replace)[0]
    assert re.fullmatch(NAMED, name) and again == name, again


def test_two_thousand_threads_need_few_descriptors():
    """One descriptor for each CPU, not for each thread and CPU."""
    path = pfstat.make_file(pfstat.DISK / "threads", PAGES * pfstat.PAGE)
    process = subprocess.Popen([sys.executable, "-S", "-c", MANY, str(path), str(THREADS)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        recorder = subprocess.Popen(
            ["prlimit", "--nofile=4096:4096", pfstat.PFDRIVE, "record", "-p", str(process.pid),
             "--by", "vma", "--format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pfstat.wait_until(lambda: recorder.poll() is not None or pfstat.watches(recorder))
        assert recorder.poll() is None, recorder.stderr.read()
        used = len(os.listdir(f"/proc/{recorder.pid}/fd"))
        for line in ("done\n", ""):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == line
        out, stderr = recorder.communicate(timeout=pfstat.PATIENCE)
        assert recorder.returncode == 0, stderr
    finally:
        process.kill()
        process.wait()
    assert used < 400
    report = pfstat.report_of(out)
    assert report["maps_lost"] == 0
    faults = sum(row["faults"] for row in report["groups"]["rows"]
                 if row["name"].endswith(f" {path}"))
    assert faults >= 1, report["groups"]["rows"]

# SPDX-License-Identifier: GPL-2.0-only
"""Mappings from many threads. tests/native has the code names."""
import os
import subprocess
import sys

import pfstat

PAGES = 64
THREADS = 1000
# Waits with many threads. Then one of them touches a new mapping's pages.
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


def test_a_thousand_threads_need_few_descriptors():
    """One descriptor for each CPU, not for each thread and CPU."""
    path = pfstat.make_file(pfstat.DISK / "threads", PAGES * pfstat.PAGE)
    process = subprocess.Popen([sys.executable, "-S", "-c", MANY, str(path), str(THREADS)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        recorder = subprocess.Popen(
            ["prlimit", "--nofile=1024:1024", pfstat.PFDRIVE, "record", "-p", str(process.pid),
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

# SPDX-License-Identifier: GPL-2.0-only
"""The overhead reported by pfdrive is the actual overhead, and pfdrive's reader has the highest
priority."""
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess

import pytest

import pfstat
import users
from pfstat import begin_record, wait_until

PAGES = 2048
ROUNDS = 4
OUT = pathlib.Path("/tmp/cost.json")
RECORDING = pathlib.Path("/tmp/cost.pfs")
FAULT_AROUND = pathlib.Path("/sys/kernel/debug/fault_around_bytes")


@pytest.fixture(name="warm_file", scope="module")
def fixture_warm_file():
    path = pfstat.make_file(pfstat.DISK / "warm", PAGES * pfstat.PAGE)
    path.read_bytes()
    before = FAULT_AROUND.read_text()
    FAULT_AROUND.write_text(str(pfstat.PAGE))
    yield path
    FAULT_AROUND.write_text(before)


@contextlib.contextmanager
def recorder(pid, *options):
    """pfdrive record for a process, with the JSON in OUT afterwards."""
    with begin_record("--json", OUT, *options, "-p", pid) as process:
        wait_until(lambda: re.search(rf"^mm pid {pid}\b", pfstat.targets(), re.MULTILINE))
        if "--no-bpf" not in options:
            wait_until(lambda: str(pid) in pfstat.run(
                "bpftool", "map", "dump", "pinned", pfstat.PINS / "targets").stdout)
        yield process
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 0


def thread_ns(path, watch=None):
    """Warm fault time in ns: the median of some rounds, without the first."""
    pfstat.await_detached()
    with subprocess.Popen([pfstat.BUILD / "overhead/touch", path, str(ROUNDS)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        pid = int(worker.stdout.readline())
        with watch(pid) if watch else contextlib.nullcontext():
            rounds, _ = worker.communicate("go\n")
    return statistics.median(int(line.split()[3]) / PAGES for line in rounds.splitlines()[1:])


@pytest.mark.deterministic
def test_stated_cost_matches_the_added_time_of_a_fault(warm_file):
    """Module and eBPF, measured on another file system, in other rounds."""
    bare_ns = thread_ns(warm_file)
    added_ns = thread_ns(warm_file, recorder) - bare_ns
    result = json.loads(OUT.read_text())
    cost = result["cost"]
    stated_ns = cost["call_ns"] + cost["bpf_hooked_ns"]
    print(f"a fault takes {bare_ns:.0f} ns, watched {added_ns:.0f} more; stated: module "
          f"{cost['call_ns']:.0f}, eBPF {cost['bpf_hooked_ns']:.0f}, where an event is sent "
          f"{cost['bpf_other_ns']:.0f}")
    assert 0.95 * added_ns < stated_ns < 1.05 * added_ns
    assert cost["bpf_other_ns"] > cost["bpf_hooked_ns"] > 0
    # The total over all faults: the process does little else.
    spent_ns = cost["total_ns"] + cost["bpf_total_ns"]
    assert 0.95 < spent_ns / (ROUNDS * PAGES * added_ns) < 1.05
    assert result["lost"] == result["events_lost"] == 0


@pytest.mark.deterministic
def test_without_fault_around_no_fault_is_restarted(warm_file):
    """->map_pages finds nothing. If there were none, the kernel would restart each fault."""
    FAULT_AROUND.write_text("65536")
    module_ns = thread_ns(warm_file, lambda pid: recorder(pid, "--fault-around", "off", "--no-bpf"))
    thread_ns(warm_file, lambda pid: recorder(pid, "--fault-around", "off"))
    FAULT_AROUND.write_text(str(pfstat.PAGE))
    cost = json.loads(OUT.read_text())["cost"]
    kept_ns = thread_ns(warm_file, lambda pid: recorder(pid, "--no-bpf"))
    print(f"{module_ns:.0f} ns a fault; {kept_ns:.0f} where the kernel's own is off")
    # The kernel computes a page window, and calls the wrapper.
    assert kept_ns < module_ns < kept_ns + 150
    assert cost["bpf_hooked"] >= ROUNDS * PAGES
    assert cost["bpf_again"] == 0
    assert cost["bpf_total_ns"] == pytest.approx(
        sum(cost[f"bpf_{kind}"] * (cost[f"bpf_{kind}_ns"] or 0)
            for kind in ("hooked", "again", "other")))


@pytest.mark.deterministic
def test_other_mappings_do_not_change_the_cost_of_ebpf():
    """With -o there are more mappings. The kernel's search among them must not count as cost."""
    pfstat.run(pfstat.PFDRIVE, "record", "--json", OUT, "--", "true")
    plain = json.loads(OUT.read_text())["cost"]
    pfstat.run(pfstat.PFDRIVE, "record", "--json", OUT, "-o", RECORDING, "--", "true")
    written = json.loads(OUT.read_text())["cost"]
    print(f"{plain}; with a recording {written}")
    for kind in ("bpf_hooked_ns", "bpf_other_ns"):
        assert written[kind] == pytest.approx(plain[kind], rel=0.01)


@pytest.mark.deterministic
def test_without_ebpf_only_the_module_costs(warm_file):
    bare_ns = thread_ns(warm_file)
    added_ns = thread_ns(warm_file, lambda pid: recorder(pid, "--no-bpf")) - bare_ns
    cost = json.loads(OUT.read_text())["cost"]
    assert cost["bpf_hooked_ns"] is cost["bpf_other_ns"] is cost["bpf_total_ns"] is None
    # The time includes perf's fault counters, whose cost belongs to eBPF if eBPF is available.
    assert cost["call_ns"] < 1.15 * added_ns


@pytest.mark.deterministic
def test_measuring_the_cost_leaves_nothing_in_the_figures(warm_file):
    """It adds no faults, system calls or events by pfdrive itself."""
    result, _ = pfstat.record("true")
    assert result["cost"]["bpf_hooked_ns"] > 0
    assert result["ledger"]["unexplained"] == 0
    assert not {"memfd_create", "madvise"} & {call["name"] for call in result["syscalls"]}
    later = pfstat.drive("--fault-around", "off", "--cache", "warm", warm_file)
    assert {call["name"] for call in later["syscalls"]} <= {"getrusage", "clock_gettime"}
    assert later["ledger"]["unexplained"] == 0
    assert later["cost"]["bpf_total_ns"] >= later["calls"] * later["cost"]["bpf_hooked_ns"]


@pytest.mark.deterministic
def test_a_recording_has_the_cost(warm_file):
    pfstat.run(pfstat.PFDRIVE, "record", "--json", OUT, "-o", RECORDING, "--",
               pfstat.BUILD / "workload", "now", warm_file)
    live, later = json.loads(OUT.read_text()), pfstat.report(RECORDING)
    assert live["cost"] == later["cost"]
    table = pfstat.run(pfstat.PFDRIVE, "report", "--full", "--subtract", RECORDING).stdout
    assert re.search(r"^Own cost: .* ms added to the faults, about .*% of their time", table,
                     re.MULTILINE)
    counter = "eBPF" if pfstat.ARM64 else "the module"
    assert re.search(rf"^  all faults counted by {counter}: \d+ ns each, .* ms in total; not in "
                     "call times$", table, re.MULTILINE)
    missing = "\n  eBPF counts all faults, not the module: only the module for x86-64 can\n"
    assert (missing in table) == pfstat.ARM64


def nice_values(pid):
    """The nice values for all threads in a process, by tid."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return {int(task.name): int((task / "stat").read_text().rpartition(")")[2].split()[16])
            for task in tasks.iterdir()}


def is_recording(pid):
    """The first thread has the original priority again after it raised the others."""
    values = nice_values(pid)
    return len(values) > 1 and values[pid] == 0


def nice_while_recording(start):
    """The nice values for pfdrive's first thread, the others, and the command."""
    children = []
    with start() as process:
        try:
            wait_until(lambda: process.poll() is not None or is_recording(process.pid))
            assert process.poll() is None, process.stderr.read()
            values = nice_values(process.pid)
            first = values.pop(process.pid)
            children = pfstat.children(process.pid)
            commands = [nice_values(child)[child] for child in children]
        finally:
            process.terminate()
            # The command runs on and holds pfdrive's standard error open.
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            process.communicate(timeout=pfstat.PATIENCE)
    return first, set(values.values()), set(commands)


COMMAND = ["record", "-o", RECORDING, "--", "sleep", "1000"]


def popen(*words):
    return subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE, text=True)


def test_only_the_reading_threads_have_a_high_priority():
    """The watched program's and pfdrive's first thread's priorities are unchanged."""
    assert nice_while_recording(lambda: popen(pfstat.PFDRIVE, *COMMAND)) == (0, {-20}, {0})


def test_priorities_are_unchanged_without_the_privilege():
    started = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", pfstat.PFDRIVE]
    assert users.without("-sys_nice", "nice", "-n", "-5", "true").stderr
    assert nice_while_recording(lambda: popen(*started, *COMMAND)) == (0, {0}, {0})

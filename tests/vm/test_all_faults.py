# SPDX-License-Identifier: GPL-2.0-only
"""All faults are counted at handle_mm_fault(): by the module, or by eBPF if the module cannot. Both
count the same, and the module gives the function back at any time."""
import contextlib
import errno
import os
import pathlib
import re
import subprocess
import time

import pytest

import pfstat
from pfstat import Session, Workload, wait_until

pytestmark = pytest.mark.needs(not pfstat.ARM64, "the module's count of all faults (x86-64)")

PAGES = 512
SIZE = PAGES * pfstat.PAGE
TAKES = 4
RANDOMIZE = pathlib.Path("/proc/sys/kernel/randomize_va_space")
HOLD = pathlib.Path("/sys/module/pfstat/parameters/hold_faults")
TRACING = pathlib.Path("/sys/kernel/tracing")
KINDS = ("hooked", "file", "anon", "swap", "cow", "other")


@pytest.fixture(name="file")
def fixture_file():
    """512 pages on the disk, none in the page cache."""
    path = pfstat.make_file(pfstat.DISK / "all_faults", SIZE)
    pfstat.drop_cache()
    return path


def is_held():
    return pfstat.Faults().words["held"] == "yes"


def await_idle():
    """Until the function is given back, and no fault of a watched thread is under way."""
    wait_until(lambda: not is_held() and not pfstat.Faults().number("in_flight"))


@pytest.fixture(name="session")
def fixture_session():
    with Session("faults on") as session:
        yield session
    await_idle()


def own_faults(pid):
    """The process's own minor and major faults so far."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[7]), int(words[9])


def finish(workload):
    """The run's minor and major faults from here on, including the children's."""
    before = own_faults(workload.pid)
    workload.go()
    _, status, usage = os.wait4(workload.pid, 0)
    workload.process.returncode = os.waitstatus_to_exitcode(status)
    assert workload.process.returncode == 0
    return usage.ru_minflt - before[0], usage.ru_majflt - before[1]


def assert_counted(minor, major):
    faults = pfstat.Faults()
    assert (faults.of("minor"), faults.of("major")) == (minor, major), faults.counts
    assert faults.number("missed_minor") == faults.number("missed_major") == 0
    assert faults.number("missed_threads") == faults.number("lost") == 0
    assert faults.number("missed_children") == 0


@pytest.mark.smoke
def test_the_module_counts_each_fault_of_a_process(session, file):
    workload = Workload("touch", file)
    session.command(f"watch {workload.pid} process")
    minor, major = finish(workload)
    assert major > 0 and minor + major > PAGES / 16
    assert_counted(minor, major)
    assert pfstat.Faults().of("hooked") == 0 and pfstat.Faults().of("file", "user") > PAGES / 16


def test_a_hooked_file_is_counted_but_not_recorded_again(session, file):
    workload = Workload("touch", file)
    session.command("fault_around off")
    session.command(f"watch {workload.pid} process")
    session.command(f"pid {workload.pid}")
    assert_counted(*finish(workload))
    faults = pfstat.Faults()
    _, records = pfstat.log()
    assert faults.of("hooked", "minor") + faults.of("hooked", "major") >= PAGES
    recorded = [record for record in records if record["op"] == "mm_fault"]
    assert len(recorded) == faults.number("stored")
    assert len(recorded) == sum(faults.of(kind) for kind in KINDS if kind != "hooked")
    assert not pfstat.of_file(recorded, file)


def test_no_number_of_stats_is_negative_while_faults_are_recorded(session, file):
    """None is a call's record. `stored` is a difference between two changing counts. The faulting
    threads leave a CPU to the reader."""
    session.command("mode overwrite")
    workload = Workload("threads", file, 3)
    stats = os.open(pfstat.DEBUGFS / "stats", os.O_RDONLY)
    try:
        session.command(f"watch {workload.pid} process")
        os.setpriority(os.PRIO_PROCESS, workload.pid, 19)
        workload.go()
        texts = [os.pread(stats, 1 << 16, 0) for _ in range(8000)]
    finally:
        os.close(stats)
        workload.kill()
    assert pfstat.Faults().number("stored") > 8000
    stored = [int(re.search(rb"^stored +(\d+)$", text, re.MULTILINE)[1]) for text in texts]
    # Those that were stored between the two, at most.
    assert max(stored) < 1 << 32


def test_the_log_counts_the_records_of_calls_and_of_faults(session, file):
    workload = Workload("fork", file)
    session.command(f"watch {workload.pid} follow")
    session.command(f"pid {workload.pid}")
    finish(workload)
    head, _ = pfstat.log()
    calls, faults = pfstat.stats()["stored"], pfstat.Faults().number("stored")
    assert calls and faults
    assert (head["records"], head["lost"]) == (calls + faults, 0)


def test_faults_of_other_processes_are_not_counted(session, file):
    workload, other = Workload("touch", file), Workload("touch", file)
    session.command(f"watch {workload.pid} process")
    other.finish()
    assert not pfstat.Faults().counts
    assert_counted(*finish(workload))


@pytest.mark.parametrize("how", ["fork", "exec"])
def test_children_are_counted_if_they_are_followed(how, session, file):
    workload = Workload(how, file)
    session.command(f"watch {workload.pid} follow")
    all_faults = finish(workload)
    wait_until(lambda: sum(all_faults) <= pfstat.Faults().of("minor") + pfstat.Faults().of("major"))
    assert_counted(*all_faults)
    session.command("clear")
    workload = Workload(how, file)
    session.command(f"watch {workload.pid} process")
    without_child = finish(workload)
    assert 0 < pfstat.Faults().of("minor") + pfstat.Faults().of("major") < sum(without_child)


def test_a_thread_that_executes_a_program_stays_watched(session, file):
    """The program's first thread takes the place of the thread calling execve(2)."""
    script = f"""
import os, sys, threading
sys.stdin.readline()
threading.Thread(target=os.execv, args=("{pfstat.BUILD}/workload",
                                        ["workload", "now", "{file}"])).start()
threading.Event().wait()
"""
    with subprocess.Popen(["python3", "-c", script], stdin=subprocess.PIPE) as process:
        wait_until(lambda: "pipe_read" in pathlib.Path(f"/proc/{process.pid}/wchan").read_text()
                   or "anon_pipe" in pathlib.Path(f"/proc/{process.pid}/wchan").read_text())
        before = own_faults(process.pid)
        session.command(f"watch {process.pid} process")
        process.stdin.write(b"\n")
        process.stdin.flush()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert_counted(usage.ru_minflt - before[0], usage.ru_majflt - before[1])


def test_threads_are_counted_if_their_process_is_watched(session, file):
    workload = Workload("threads", file, 4)
    session.command(f"watch {workload.pid} thread")
    workload.go()
    time.sleep(0.5)
    alone = pfstat.Faults()
    session.command(f"watch {workload.pid} process")
    wait_until(lambda: pfstat.Faults().of("minor") > 10 * PAGES)
    workload.kill()
    # The first thread only starts the others.
    assert alone.of("minor") < PAGES / 4
    assert pfstat.Faults().number("missed_minor") == pfstat.Faults().number("missed_major") == 0


def test_an_ignored_process_is_no_longer_counted(session, file):
    workload = Workload("threads", file, 2)
    session.command(f"watch {workload.pid} process")
    workload.go()
    wait_until(lambda: pfstat.Faults().of("minor") > PAGES)
    session.command(f"ignore {workload.pid}")
    wait_until(lambda: not pfstat.Faults().number("in_flight"))
    before = pfstat.Faults().counts
    time.sleep(0.5)
    assert pfstat.Faults().counts == before
    workload.kill()


@contextlib.contextmanager
def function_tracer():
    """ftrace's function tracer at handle_mm_fault()."""
    (TRACING / "set_ftrace_filter").write_text("handle_mm_fault")
    (TRACING / "current_tracer").write_text("function")
    try:
        yield lambda: (TRACING / "trace").read_text().count("handle_mm_fault")
    finally:
        (TRACING / "current_tracer").write_text("nop")
        (TRACING / "set_ftrace_filter").write_text("")


@contextlib.contextmanager
def kprobe_event():
    """A kprobe at the function's start, as perf probe(1) and bpftrace set it."""
    enable = TRACING / "events/kprobes/others/enable"
    (TRACING / "kprobe_events").write_text("p:others handle_mm_fault")
    enable.write_text("1")
    try:
        yield lambda: (TRACING / "trace").read_text().count("others: ")
    finally:
        enable.write_text("0")
        (TRACING / "kprobe_events").write_text("")


@pytest.mark.parametrize("other", [function_tracer, kprobe_event])
def test_other_tools_trace_the_function_meanwhile(other, file):
    """They come before the module takes it, and after, and see the same faults."""
    if not (TRACING / "current_tracer").exists():
        pfstat.run("mount", "-t", "tracefs", "none", TRACING)
    for comes_first in (True, False):
        (TRACING / "trace").write_text("")
        workload = Workload("touch", file)
        with contextlib.ExitStack() as stack:
            seen = stack.enter_context(other()) if comes_first else None
            session = stack.enter_context(Session("faults on"))
            seen = seen or stack.enter_context(other())
            session.command(f"watch {workload.pid} process")
            assert_counted(*finish(workload))
            assert seen() >= PAGES // 16
        await_idle()


def test_the_function_can_be_taken_many_times_while_threads_fault(file):
    workload = Workload("threads", file, 2)
    workload.go()
    for _ in range(TAKES):
        with Session("faults on", f"watch {workload.pid} follow"):
            wait_until(lambda: pfstat.Faults().of("minor") > 50)
            assert is_held() and pfstat.Faults().number("missed_minor") == 0
        await_idle()
    # Without a pause in which the function is given back.
    for _ in range(TAKES):
        with Session("faults on", f"watch {workload.pid} follow"):
            pass
    # The command itself gives it back.
    with Session() as session:
        for _ in range(4):
            session.command("faults on")
            assert is_held()
            session.command("faults off")
            assert not is_held()
    assert workload.process.poll() is None
    workload.kill()


def test_rmmod_works_while_faults_are_counted(file):
    """A thread sleeps in the kernel's function, which returns into the module."""
    workload = Workload("threads", file, 4)
    workload.go()
    for _ in range(2):
        pfstat.load()
        with Session("faults on", f"watch {workload.pid} follow"):
            for _ in range(3):
                pfstat.drop_cache()
            wait_until(lambda: pfstat.Faults().of("major") + pfstat.Faults().of("retry") > 2)
        pfstat.unload()
        assert not pfstat.loaded() and workload.process.poll() is None
    # Nothing is watched, so the module does not hold itself.
    for _ in range(2):
        pfstat.load()
        Session("faults on").close()
        pfstat.unload()
    assert workload.process.poll() is None
    workload.kill()


def instructions_of(function):
    """In the module's file, with the symbols they refer to."""
    text = pfstat.run("objdump", "-dr", pfstat.MODULE).stdout
    return re.search(rf"<{function}>:\n(.*?)(?:\n\n|$)", text, re.DOTALL).group(1)


def test_the_fault_of_another_process_returns_from_the_entry():
    """It runs no C, and the kernel's function is returned to: the CPU predicts all returns."""
    entry = instructions_of("pfstat_mm_fault_entry").splitlines()
    branch = next(line for line in entry if "\tje" in line)
    other = re.search(r"\tje +([0-9a-f]+)", branch).group(1)
    before = entry[:entry.index(branch)]
    at = next(i for i, line in enumerate(entry) if line.lstrip().startswith(f"{other}:"))
    assert not any("\tcall" in line for line in before + entry[at:])
    assert any("\tret" in line or "__x86_return_thunk" in line for line in entry[at:])
    assert sum("\tcall" in line for line in entry) == 1


def test_processes_may_come_and_go_while_the_function_is_taken():
    """They begin to be watched, fork and end at the same time as the function is given back."""
    with subprocess.Popen(["sh", "-c", "while :; do /bin/true; (/bin/true); done"]) as forks:
        try:
            for _ in range(2):
                with Session("faults on", f"watch {forks.pid} follow"):
                    wait_until(lambda: pfstat.Faults().of("cow") > 20)
                # The grace periods take long while processes come and go.
                wait_until(lambda: pfstat.run("rmmod", "pfstat", check=False).returncode == 0)
                pfstat.load()
            assert forks.poll() is None
        finally:
            forks.kill()


def test_requests_that_cannot_be_fulfilled_are_refused(file):
    def refused(*lines):
        with Session() as session, pytest.raises(OSError) as error:
            for line in lines:
                session.command(line)
        return error.value.errno

    assert refused(f"watch {os.getpid()} process") == errno.EINVAL
    assert refused("faults on", "watch 4194000 process") == errno.ESRCH
    assert refused("faults on", "watch 1 everything") == errno.EINVAL
    assert refused("faults on", "handler 4096") == errno.ENOENT
    for line in ("faults on", "handler 4096", "handler 0"):
        with pytest.raises(OSError) as error:
            pfstat.control(line)
        assert error.value.errno == errno.EINVAL
    with ebpf_must_count():
        assert refused("faults on") == errno.EPERM
    with Session("faults on"), pytest.raises(OSError) as error:
        pfstat.control("faults off")
    assert error.value.errno == errno.EBUSY
    await_idle()
    assert file.exists()


def test_a_watch_while_the_function_is_given_back_is_refused():
    """It would record, and count nothing."""
    workload = Workload("touch", pfstat.make_file(pfstat.DISK / "all_faults", SIZE))
    with Session("faults on", f"watch {workload.pid} process", "stop") as session:
        with pytest.raises(OSError) as error:
            session.command(f"watch {workload.pid} process")
        assert error.value.errno == errno.EINVAL
        wait_until(lambda: not is_held())
        session.command("faults on")
        session.command(f"watch {workload.pid} process")
        assert_counted(*finish(workload))
    await_idle()


def test_a_watch_that_fails_leaves_the_function_to_the_next():
    workload = Workload("touch", pfstat.make_file(pfstat.DISK / "all_faults", SIZE))
    with Session("faults on") as session:
        with pytest.raises(OSError) as error:
            session.command("watch 4194000 process")
        assert error.value.errno == errno.ESRCH
        session.command(f"watch {workload.pid} process")
        time.sleep(1)
        assert is_held()
        assert_counted(*finish(workload))
    await_idle()


def test_a_stop_gives_the_function_back_if_nothing_was_watched():
    with Session("faults on", "stop"):
        wait_until(lambda: not is_held())


@contextlib.contextmanager
def ebpf_must_count():
    HOLD.write_text("N")
    try:
        yield
    finally:
        HOLD.write_text("Y")


@pytest.fixture(name="repeatable")
def fixture_repeatable():
    """Two runs of a program have the same faults: random addresses change the number of pages
    touched at the start, and after a fork the order of parent and child decides about copies."""
    before, cpus = RANDOMIZE.read_text(), os.sched_getaffinity(0)
    RANDOMIZE.write_text("0")
    os.sched_setaffinity(0, {0})
    yield
    os.sched_setaffinity(0, cpus)
    RANDOMIZE.write_text(before)


def counted(*command, options=()):
    """pfdrive's report for a command."""
    result, _ = pfstat.record(*command, options=options)
    pfstat.assert_nothing_lost(result)
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    return result


def of_each_kind(result):
    return {name: row["count"] for name, row in result["parts"]["classes"].items()
            if name in KINDS}


def missed(result):
    """Faults in the task's own counts that the counter did not see."""
    counts = {row["name"]: row["value"] for row in result["ledger"]["counts"]}
    return sum(counts[of_task] - counts[f"handle_mm_fault() {name}"]
               for of_task, name in (("min_flt", "minor"), ("maj_flt", "major")))


def assert_same_kinds(by_module, by_ebpf):
    """A kernel with full preemption may skip eBPF programs, which the report counts. A skip loses a
    fault, of these kinds or of a hooked file, or the fault's kind."""
    module, ebpf = of_each_kind(by_module), of_each_kind(by_ebpf)
    skipped = by_ebpf["events_skipped"] if pfstat.may_skip_faults() else 0
    assert missed(by_module) == 0
    assert 0 <= sum(module.values()) - sum(ebpf.values()) <= missed(by_ebpf) <= skipped, \
        (module, ebpf)
    assert sum(abs(module[kind] - ebpf[kind]) for kind in module) <= 2 * skipped, (module, ebpf)


PROGRAMS = {
    "anon": ("anon", 1000),
    "cow": ("copy", 1000),
    "file": ("now", "FILE"),
    "populate": ("filled", "FILE"),
    "processes": ("server", "FILE", 20),
    "execs": ("execs", "FILE", 5),
}


RARE = pfstat.BUILD / "rare_faults"


def test_faults_of_threads_that_the_kernel_makes_are_counted(file):
    """An io_uring worker starts without a fork event, and fills the buffer."""
    result = counted(RARE, "async", file)
    assert result["parts"]["classes"]["anon"]["count"] >= PAGES


@pytest.mark.needs(pfstat.KERNEL >= (6, 1), "MADV_COLLAPSE")
def test_a_page_that_is_read_from_swap_outside_of_a_fault_is_no_fault():
    """The next fault, on a page that was never touched, must not be taken for it."""
    rounds = 8
    result = counted(RARE, "collapse", rounds)
    # In each round, a fault reads the first page from swap.
    assert result["parts"]["classes"]["swap"]["count"] == rounds


@pytest.mark.usefixtures("repeatable")
@pytest.mark.parametrize("program", PROGRAMS)
def test_module_and_ebpf_count_the_same(program, file):
    command = [pfstat.BUILD / "workload", *(file if word == "FILE" else word
                                            for word in PROGRAMS[program])]
    pfstat.run(*command)    # now the program's pages are in the page cache
    by_module = counted(*command)
    with ebpf_must_count():
        by_ebpf = counted(*command)
    assert by_module["module_faults"] is True and by_module["module_faults_missing"] is None
    assert by_ebpf["module_faults"] is False
    assert by_ebpf["module_faults_missing"] == "the module's parameter hold_faults is off"
    assert_same_kinds(by_module, by_ebpf)
    assert by_module["faults"] == by_ebpf["faults"]


def programs_while_recording(*options):
    """Names of the eBPF programs loaded while pfdrive records."""
    result, text = pfstat.record("bpftool", "prog", "show", options=options)
    return result, set(re.findall(r"\bname (\w+)", text))


@pytest.mark.needs(pathlib.Path("/usr/sbin/bpftool").exists(), "bpftool")
def test_only_one_of_both_is_at_the_function():
    result, names = programs_while_recording()
    assert result["module_faults"] and "on_sched_switch" in " ".join(names)
    assert not [name for name in names if name.startswith("on_fault_e")]
    with ebpf_must_count():
        result, names = programs_while_recording()
    assert not result["module_faults"]
    assert [name for name in names if name.startswith("on_fault_e")]


@pytest.mark.parametrize("options, reason", [
    (("--stacks",), "only eBPF can record stacks"),
])
def test_ebpf_counts_if_it_alone_can(options, reason):
    result, _ = pfstat.record("true", options=options)
    pfstat.assert_nothing_lost(result)
    assert (result["module_faults"], result["module_faults_missing"]) == (False, reason)
    assert result["ledger"]["unexplained"] == 0


@contextlib.contextmanager
def other_tool(name):
    """An eBPF program at handle_mm_fault() not belonging to a pfdrive."""
    pins = pathlib.Path("/sys/fs/bpf/other")
    pfstat.run("bpftool", "prog", "loadall", pfstat.BUILD / f"{name}.bpf.o", pins, "autoattach")
    try:
        yield
    finally:
        pfstat.run("rm", "-r", pins)


@pytest.mark.needs(pfstat.KERNEL >= (6, 12), "all programs of pfstat.bpf.o")
@pytest.mark.parametrize("name", ["other_tool", "other_tool_exit"])
def test_ebpf_counts_while_another_tool_holds_the_function(name):
    """The report has one sentence, and pfdrive leaves the other tool alone."""
    with other_tool(name):
        with Session() as session, pytest.raises(OSError) as error:
            session.command("faults on")
        assert error.value.errno == errno.EBUSY
        result = counted(pfstat.BUILD / "workload", "anon", 1000)
        table = pfstat.run(pfstat.PFDRIVE, "record", "--full", "--", "true").stdout
    assert not result["module_faults"]
    assert result["module_faults_missing"] == "another tool holds handle_mm_fault()"
    assert 1000 <= of_each_kind(result)["anon"] <= 1200
    sentences = [line for line in table.splitlines() if "handle_mm_fault()" in line]
    assert sentences.count("  eBPF counts all faults, not the module: another tool holds "
                           "handle_mm_fault()") == 1
    # The kernel removes the programs after some grace periods.
    wait_until(lambda: counted(pfstat.BUILD / "workload", "anon", 1000)["module_faults"])

# SPDX-License-Identifier: GPL-2.0-only
"""The compared instruments. Each attaches to one process and detaches, in the cheapest form serving
the purpose (no filter unless needed, output to a file, the largest buffer), and returns the fault
count it saw."""
import collections
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])
DEBUGFS = pathlib.Path("/sys/kernel/debug/pfstat")
TRACING = pathlib.Path("/sys/kernel/tracing")
SCRATCH = pathlib.Path("/tmp")
RECORDING = SCRATCH / "run.pfs"

# what: description. latency: each fault's latency, as a histogram, or none. window: the
# fault-around pages, where 1 is off. bare: the row with the same window but no instrument.
Row = collections.namedtuple("Row", "what latency attach window bare", defaults=(1, "bare"))


class Absent(Exception):
    """This kernel or this root lacks the instrument."""


def need(program):
    if not shutil.which(program):
        raise Absent(f"{program} is not installed")


def wait_until(is_so, what):
    """An hour: the guest's clock jumps minutes ahead while the host's disk is busy."""
    for _ in range(72_000):
        if is_so():
            return
        time.sleep(0.05)
    raise RuntimeError(f"{what} does not come")


@contextlib.contextmanager
def running(command, output, ready):
    """Runs a command until its output shows it attached, and ends it by SIGINT afterwards."""
    path = SCRATCH / "output"
    with open(path, "wb") as file, open(SCRATCH / "errors", "wb") as errors:
        with subprocess.Popen(command, stdout=file, stderr=errors) as process:
            try:
                wait_until(lambda: process.poll() is not None or ready(path, process.pid),
                           f"{command[0]}'s start")
                if process.poll() is not None:
                    said = (SCRATCH / "errors").read_text(errors="replace").strip()
                    raise Absent(f"{command[0]} ended with {process.returncode}: "
                                 f"{said.splitlines()[-1] if said else 'it says nothing'}")
                yield
                # Time to drain the buffers. perf exits with the process.
                time.sleep(3)
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                process.wait()
    output.append(path.read_text(errors="replace"))


def says(word):
    return lambda path, _: word in path.read_text(errors="replace")


def insmod(*parameters):
    if not pathlib.Path("/sys/module/pfstat").exists():
        subprocess.run(["insmod", BUILD / "pfstat.ko", *parameters], check=True)


def has_given_back():
    """The module gives handle_mm_fault() back some time after a session, and rmmod fails until
    then."""
    return not (DEBUGFS / "faults").read_text().startswith("held           yes")


def rmmod():
    if pathlib.Path("/sys/module/pfstat").exists():
        wait_until(has_given_back, "the end of the last session")
        time.sleep(0.2)
        subprocess.run(["rmmod", "pfstat"], check=True)


@contextlib.contextmanager
def bare(_):
    rmmod()
    yield None


@contextlib.contextmanager
def loaded(_):
    insmod()
    yield None
    rmmod()


def stats():
    """`name number` lines from the module's stats."""
    return {name: int(value) for name, value in
            re.findall(r"^(\w+) +(\d+)$", (DEBUGFS / "stats").read_text(), re.MULTILINE)}


@contextlib.contextmanager
def pfstat(pid):
    """The module alone, with space for all records: the reader comes afterwards."""
    seen = {}
    insmod()
    for line in ("ring_size 16M", f"pid {pid}"):
        (DEBUGFS / "control").write_text(line)
    yield seen
    if stats()["lost"]:
        raise RuntimeError("pfstat lost records")
    seen["faults"] = stats()["stored"]
    (DEBUGFS / "control").write_text("stop")
    rmmod()


def is_hooked(pid):
    return re.search(rf"^mm pid {pid}\b", (DEBUGFS / "targets").read_text(), re.MULTILINE)


def await_detached():
    """pfdrive's pin keeper shares a lock until it has detached the programs."""
    folder = os.open("/sys/fs/bpf", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    os.close(folder)


def pfdrive(*options, module_counts=True):
    """All of it, as in `pfdrive record`: it reads while module and eBPF write."""
    @contextlib.contextmanager
    def attached(pid):
        seen, output = {}, []
        insmod(*([] if module_counts else ["hold_faults=N"]))
        command = [BUILD / "pfdrive", "record", "--ring-size", "16M", "-p", str(pid), *options]

        def is_attached(*_):
            # eBPF is attached before the module, and the process's targets come last.
            if not is_hooked(pid):
                return False
            time.sleep(1)
            return True

        with running(command, output, is_attached):
            yield seen
        seen["faults"] = stats()["stored"]
        RECORDING.unlink(missing_ok=True)
        await_detached()
        rmmod()
    return attached


STORED = ("-o", RECORDING)


def of_other(instrument):
    """The instrument watches another process, not the one whose faults are timed."""
    @contextlib.contextmanager
    def attached(_):
        with subprocess.Popen(["sleep", "infinity"]) as other:
            try:
                with instrument(other.pid):
                    yield None
            finally:
                other.kill()
    return attached


@contextlib.contextmanager
def fentry_reference(pid):
    seen, output = {}, []
    rmmod()
    with running([BUILD / "overhead/fentry_reference", str(pid)], output, says("ready")):
        yield seen
    seen["faults"] = int(output[0].split()[-1])


def bpftrace(begin, end, count):
    """A program with two probes. count extracts the fault count from the output."""
    program = (f"{begin} {{ @start[tid] = nsecs; }} "
               f"{end} /@start[tid]/ {{ {{}} delete(@start[tid]); }} "
               'interval:s:1 { printf("ready\\n"); }')

    def attach(action):
        @contextlib.contextmanager
        def attached(_):
            seen, output = {}, []
            need("bpftrace")
            rmmod()
            command = ["bpftrace", "-B", "line", "-e", program.replace("{}", action)]
            os.environ["BPFTRACE_PERF_RB_PAGES"] = "4096"
            with running(command, output, says("ready")):
                yield seen
            seen["faults"] = count(output[0])
        return attached
    return attach


def histogram_sum(text):
    return sum(map(int, re.findall(r"^[\[(].*[\])] +(\d+) \|", text, re.MULTILINE)))


def printed_lines(text):
    return len(re.findall(r"^\d+$", text, re.MULTILINE))


KFUNC = ("kfunc:vmlinux:filemap_fault", "kretfunc:vmlinux:filemap_fault")
KPROBE = ("kprobe:filemap_fault", "kretprobe:filemap_fault")
HISTOGRAM = "@ns = hist(nsecs - @start[tid]);"
PRINT = 'printf("%d\\n", nsecs - @start[tid]);'


@contextlib.contextmanager
def ftrace(settings, entries_a_fault):
    """Into ftrace's buffer, which is not read in the meantime."""
    seen = {}
    for file, _ in settings:
        if not (TRACING / file).exists():
            raise Absent(f"this kernel has no {file}")
    rmmod()
    (TRACING / "buffer_size_kb").write_text("65536")
    (TRACING / "trace").write_text("")
    try:
        for file, text in settings:
            (TRACING / file).write_text(text)
        yield seen
        (TRACING / "tracing_on").write_text("0")
        counts = dict(re.findall(r"^([\w ]+): (\d+)", (TRACING / "per_cpu/cpu0/stats").read_text(),
                                 re.MULTILINE))
        if int(counts["overrun"]):
            raise RuntimeError("ftrace's buffer was too small")
        seen["faults"] = int(counts["entries"]) / entries_a_fault
    finally:
        (TRACING / "current_tracer").write_text("nop")
        (TRACING / "events/enable").write_text("0")
        (TRACING / "set_ftrace_filter").write_text("")
        (TRACING / "tracing_on").write_text("1")
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("1408")


def function_graph(_):
    return ftrace([("set_ftrace_filter", "filemap_fault"), ("current_tracer", "function_graph")], 2)


def page_fault_user(_):
    return ftrace([("events/exceptions/page_fault_user/enable", "1")], 1)


def has_events(pid):
    try:
        return any("perf_event" in os.readlink(fd)
                   for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False    # a descriptor was closed in the meantime


@contextlib.contextmanager
def perf(command, count, name):
    seen, output = {}, []
    need("perf")
    rmmod()

    def attached(_, perf_pid):
        # perf prints nothing. It creates the events after it has read /proc.
        if not has_events(perf_pid):
            return False
        time.sleep(2)
        return True

    with running(command, output, attached):
        yield seen
    seen["faults"] = count()
    pathlib.Path(name).unlink(missing_ok=True)


def perf_record(*options):
    data = SCRATCH / "perf.data"

    def count():
        said = subprocess.run(["perf", "script", "-F", "event", "-i", data], capture_output=True,
                              text=True, check=False)
        if said.returncode:
            first_line = said.stderr.partition("\n")[0]
            raise Absent(f"perf script: {first_line}")
        return said.stdout.count("page-faults")
    return lambda pid: perf(["perf", "record", "-q", "-m", "16M", "-e", "page-faults", "-c", "1",
                             "-d", *options, "-p", str(pid), "-o", data], count, data)


def perf_trace(pid):
    text = SCRATCH / "perf.text"

    def count():
        if not text.exists():
            raise Absent("perf trace: " + (SCRATCH / "errors").read_text().partition("\n")[0])
        with open(text, encoding="utf-8") as file:
            return sum("minfault" in line for line in file)
    return perf(["perf", "trace", "-m", "16M", "-F", "all", "--no-syscalls", "-p", str(pid),
                 "-o", text], count, text)


NOTED = re.compile(r"(\d+) (?:faults|file operation calls) recorded, (\d+) (?:samples )?lost")


def without_module(source, is_attached, stopped, calls=True, options=()):
    """pfdrive without the module. stopped: it reads the buffers after the run. calls: pfdrive
    states the fault count."""
    @contextlib.contextmanager
    def attached(pid):
        seen, output = {}, []
        rmmod()
        command = [BUILD / "pfdrive", "record", "--source", source, "--ring-size", "16M",
                   *options, "-p", str(pid), *STORED]

        def is_ready(_, pfdrive_pid):
            if not is_attached(pfdrive_pid):
                return False
            time.sleep(2)
            if stopped:
                os.kill(pfdrive_pid, signal.SIGSTOP)
                held.append(pfdrive_pid)
            return True

        held = []
        with running(command, output, is_ready):
            yield seen
            for pfdrive_pid in held:
                os.kill(pfdrive_pid, signal.SIGCONT)
        said = (SCRATCH / "errors").read_text(errors="replace")
        found = NOTED.search(said)
        if not found or int(found[2]):
            raise RuntimeError(f"pfdrive lost faults, or did not end: {said}")
        if calls:
            seen["faults"] = int(found[1])
        RECORDING.unlink()
    return attached


def is_pinned(_):
    return any(pathlib.Path("/sys/fs/bpf/pfstat").glob("*"))


def by_perf(*options, stopped=False):
    return without_module("perf", has_events, stopped, options=options)


def by_ebpf(stopped=False, calls=True):
    return without_module("ebpf", is_pinned, stopped, calls)


ROWS = {
    "bare": Row("no instrument", "-", bare),
    "loaded": Row("pfstat loaded, nothing watched", "-", loaded),
    "pfstat": Row("pfstat: whole records into the rings", "each", pfstat),
    "pfdrive": Row("all of pfdrive record: the module counts all faults", "each", pfdrive()),
    "pfdrive-file": Row("all of pfdrive record -o FILE", "each", pfdrive(*STORED)),
    "pfdrive-ebpf": Row("pfdrive record, if eBPF counts all faults", "each",
                        pfdrive(module_counts=False)),
    "pfdrive-ebpf-file": Row("pfdrive record -o FILE, if eBPF counts all faults", "each",
                             pfdrive(*STORED, module_counts=False)),
    "other": Row("pfdrive record of another process", "-", of_other(pfdrive())),
    "other-ebpf": Row("the same, but eBPF counts all faults", "-",
                      of_other(pfdrive(module_counts=False))),
    "bare-around": Row("no instrument, fault-around of two pages", "-", bare, 2, "bare-around"),
    "pfstat-around": Row("pfstat, each call of map_pages", "each", pfstat, 2, "bare-around"),
    "fentry": Row("libbpf: fentry and fexit of filemap_fault, ring buffer", "each",
                  fentry_reference),
    "kfunc-hist": Row("bpftrace kfunc, hist()", "histogram",
                      bpftrace(*KFUNC, histogram_sum)(HISTOGRAM)),
    "kprobe-hist": Row("bpftrace kprobe, hist()", "histogram",
                       bpftrace(*KPROBE, histogram_sum)(HISTOGRAM)),
    "kfunc-print": Row("bpftrace kfunc, printf()", "each",
                       bpftrace(*KFUNC, printed_lines)(PRINT)),
    "graph": Row("ftrace function_graph of filemap_fault", "each", function_graph),
    "tracepoint": Row("ftrace event exceptions:page_fault_user", "none", page_fault_user),
    "ebpf": Row("all of pfdrive record --source ebpf", "each", by_ebpf()),
    "ebpf-thread": Row("the same, read after the run", "each", by_ebpf(stopped=True)),
    "bare-anon": Row("no instrument, anonymous memory", "-", bare, 1, "bare-anon"),
    "ebpf-anon": Row("pfdrive record --source ebpf, anonymous memory", "each",
                     by_ebpf(calls=False), 1, "bare-anon"),
    "ebpf-anon-thread": Row("the same, read after the run", "each",
                            by_ebpf(stopped=True, calls=False), 1, "bare-anon"),
    "perf-source": Row("all of pfdrive record --source perf", "each", by_perf()),
    "perf-source-thread": Row("the same, read after the run", "each", by_perf(stopped=True)),
    "perf-source-stacks": Row("the same with --stacks, read after the run", "each",
                              by_perf("--stacks", stopped=True)),
    "perf-record": Row("perf record -e page-faults -c 1 -d", "none", perf_record()),
    "perf-record-g": Row("the same with -g", "none", perf_record("-g")),
    "perf-trace": Row("perf trace -F all", "none", perf_trace),
}

# These must report every fault. A peer may lose some, and the peer's row states this.
EXACT = ("pfstat", "pfdrive", "pfdrive-file", "pfdrive-ebpf", "pfdrive-ebpf-file", "pfstat-around",
         "fentry", "ebpf", "ebpf-thread", "perf-source", "perf-source-thread",
         "perf-source-stacks")

# Rows with the same faults as pfstat's.
WITHOUT_AROUND = [name for name, row in ROWS.items() if row.bare == "bare"]

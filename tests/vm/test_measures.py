# SPDX-License-Identifier: GPL-2.0-only
"""What pfdrive measures beside the faults, held against other programs and the kernel's own."""
import os
import pathlib
import re
import subprocess

import pytest

import pfstat

HAVE_PMU = any(pathlib.Path("/sys/bus/event_source/devices", name).exists()
               for name in ("cpu", "cpu_core", "cpu_atom"))
KIB = 1024


def usage(result, name):
    return result["usage"][name]


def check_reasons(result):
    """A difference without a reason is a bug of the instrument."""
    for name, line in result["usage"].items():
        if line["rusage"] is None or line["ebpf"] is None:
            assert line["difference"] is None, name
        else:
            assert line["difference"] == line["rusage"] - line["ebpf"], name
        assert line["reason"] != "unexplained", (name, line)


def refused(status, *options, **kwargs):
    result = pfstat.run(pfstat.PFDRIVE, *options, check=False, **kwargs)
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert re.match(r"pfdrive( [a-z-]+)?: ", result.stderr) and result.stderr.count("\n") == 1
    return result.stderr


# getrusage beside eBPF

def test_rusage_is_what_the_ledger_has_and_ebpf_saw(small_file):
    result = pfstat.drive("--rusage", small_file)
    counts = {count["name"]: count["value"] for count in result["ledger"]["counts"]}
    for name in ("minflt", "majflt"):
        assert usage(result, name)["rusage"] == result["rusage"][name] == counts[name]
        assert usage(result, name)["difference"] == 0
    assert usage(result, "minflt")["rusage"] + usage(result, "majflt")["rusage"] == \
        result["faults"] > 0
    check_reasons(result)


def test_all_that_is_read_is_inblock_and_requests(small_file):
    result = pfstat.drive("--pattern", "sequential", small_file)
    assert usage(result, "inblock")["rusage"] == usage(result, "inblock")["ebpf"] == \
        256 * pfstat.PAGE // 512
    assert usage(result, "oublock")["rusage"] == usage(result, "oublock")["ebpf"] == 0
    warm = pfstat.drive("--cache", "warm", "--pattern", "sequential", small_file)
    assert usage(warm, "inblock")["rusage"] == usage(warm, "inblock")["ebpf"] == 0


@pytest.mark.deterministic
def test_switches_are_the_stays_off_the_cpu(small_file):
    """That a disk fault sleeps holds where CPUs do not wait for each other."""
    result = pfstat.drive("--pattern", "stride:64K", "--accesses", "256", small_file)
    voluntary, preempted = usage(result, "nvcsw"), usage(result, "nivcsw")
    # One switch may fall between the two beginnings, or the two ends.
    assert abs(voluntary["difference"]) <= 1 and abs(preempted["difference"]) <= 2
    assert voluntary["ebpf"] + preempted["ebpf"] == result["off_cpu_count"]
    assert voluntary["ebpf"] > 0 and result["major"] > 0
    check_reasons(result)


def test_time_on_the_cpu_is_the_loops_less_its_stays(small_file):
    result = pfstat.drive("--pattern", "sequential", small_file)
    cpu = usage(result, "cpu_us")
    assert 0 < cpu["ebpf"] <= result["elapsed_ns"] / 1000
    # Ticks of 4 ms at either end.
    assert abs(cpu["difference"]) < 8000 + 0.2 * cpu["ebpf"]


def test_what_a_program_wrote_is_dirty_before_it_is_written(tmp_path):
    """oublock counts pages made dirty; nobody has written them when the program ends."""
    target = pfstat.DISK / "written"
    target.unlink(missing_ok=True)
    result, _ = pfstat.record("dd", "if=/dev/zero", f"of={target}", "bs=64K", "count=16",
                              "status=none", options=["--rusage"])
    line = usage(result, "oublock")
    assert line["rusage"] >= 16 * 128 and line["rusage"] % 8 == 0
    assert line["difference"] >= 16 * 128 and "dirty" in line["reason"]
    target.unlink()


def test_a_records_faults_agree_and_other_differences_have_reasons():
    result, _ = pfstat.record(pfstat.BUILD / "workload", "anon", "500", options=["--rusage"])
    assert usage(result, "minflt")["difference"] == usage(result, "majflt")["difference"] == 0
    assert usage(result, "minflt")["rusage"] >= 500
    assert usage(result, "cpu_us")["ebpf"] is None
    # The wait for its exec, and its last switch.
    assert 0 <= usage(result, "nvcsw")["difference"] <= 3
    check_reasons(result)


def test_without_ebpf_its_side_is_null(small_file):
    result = pfstat.drive("--no-bpf", "--rusage", "--syscalls", small_file)
    assert all(line["ebpf"] is None for line in result["usage"].values())
    assert result["syscall_totals"] is None
    assert usage(result, "minflt")["rusage"] > 0


# System calls

def strace_counts(*command):
    """Calls and errors by name, as strace -c has them."""
    out = pathlib.Path("/tmp/strace.out")
    pfstat.run("strace", "-c", "-o", out, *command)
    counts = {}
    for line in out.read_text().splitlines()[2:]:
        words = line.split()
        if len(words) >= 5 and words[-1] != "total" and not words[0].startswith("-"):
            counts[words[-1]] = (int(words[3]), int(words[4]) if len(words) == 6 else 0)
    return counts


def totals_of(result):
    return {total["name"]: (total["calls"], total["errors"])
            for total in result["syscall_totals"]}


@pytest.mark.parametrize("command", [
    ["workload", "calls", "1000"], ["ls", "-lR", "/etc"], ["workload", "anon", "50"],
])
def test_system_calls_are_those_that_strace_counts(command):
    """But for what pfdrive's child does before it executes the command (default_signals())."""
    path = pfstat.run("which", command[0]).stdout.strip()
    counts = strace_counts(path, *command[1:])
    result, _ = pfstat.record(path, *command[1:], options=["--syscalls"])
    totals = totals_of(result)
    for name, before in (("rt_sigaction", 5), ("rt_sigprocmask", 1)):
        calls, errors = totals.pop(name)
        assert (calls - before, errors) == counts.pop(name, (0, 0))
    assert totals == counts
    if command[1] == "calls":
        assert totals["getppid"] == (1000, 0)
        assert totals["close"][1] == 500    # of a descriptor that is none


def test_totals_are_the_sums_of_the_results(small_file):
    result = pfstat.drive("--syscalls", small_file)
    assert sum(total["calls"] for total in result["syscall_totals"]) == \
        sum(row["count"] for row in result["syscalls"]) == usage(result, "syscalls")["ebpf"]
    assert sum(total["percent"] for total in result["syscall_totals"]) == pytest.approx(100)
    assert totals_of(result)["getrusage"] == (2, 0)


def test_the_table_is_made_as_straces():
    text = pfstat.run(pfstat.PFDRIVE, "record", "--syscalls", "--", pfstat.BUILD / "workload",
                      "calls", "100").stdout
    table = text[text.index("% time"):].splitlines()
    assert table[0].split() == ["%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"]
    rows = {line.split()[-1]: line.split() for line in table[1:]}
    assert rows["getppid"][3] == "100" and len(rows["getppid"]) == 5
    assert rows["close"][4] == "50" and len(rows["close"]) == 6
    assert rows["total"][0] == "100.00"


@pytest.mark.deterministic
def test_cost_of_a_call_is_as_documented():
    """Documentation/measures.rst and the note above the table state it."""
    lines = pfstat.run(pathlib.Path(__file__).parent / "syscall_cost").stdout.splitlines()
    cost = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    assert cost["alone"] < cost["eBPF, not watched"] < cost["eBPF"] < cost["strace -c"]
    assert 1200 < cost["eBPF"] - cost["alone"] < 2400
    assert cost["eBPF, not watched"] - cost["alone"] < 1000
    assert cost["strace -c"] - cost["alone"] > 10 * (cost["eBPF"] - cost["alone"])


# The processor's counters

def counters_of(result):
    for cache in ("l1d", "dtlb"):
        for operation in ("read", "write", "prefetch"):
            for what in ("accesses", "misses"):
                yield result["counters"][cache][operation][what]


def test_counters_are_counted_or_not_available_and_never_0(small_file):
    result = pfstat.drive("--counters", "--accesses", "100K", small_file)
    assert result["environment"]["pinned_cpu"] is not None
    counters = list(counters_of(result))
    for counter in counters:
        assert (counter["count"] is None) == (counter["missing"] is not None)
    if HAVE_PMU:
        assert result["counters"]["l1d"]["read"]["accesses"]["count"] >= 100 * KIB
    else:
        assert all("no PMU" in counter["missing"] for counter in counters)
    assert totals_of(result)["prctl"] == (2, 0)     # on and off: around the loop alone


def test_l1d_is_walked_twice(small_file):
    result = pfstat.drive("--counters", "--accesses", "10", small_file)
    size = None
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (index / "level").read_text() == "1\n" and (index / "type").read_text() == "Data\n":
            size = int((index / "size").read_text().strip()[:-1]) * KIB
    assert result["counters"]["l1d_bytes"] == size
    assert result["counters"]["walked_bytes"] == (2 * size if size else 0)


def test_counters_add_no_fault(small_file):
    plain = pfstat.drive("--fault-around", "off", small_file)
    counted = pfstat.drive("--fault-around", "off", "--counters", small_file)
    assert counted["faults"] == plain["faults"]
    assert counted["ledger"]["unexplained"] == 0


def test_several_runs_have_a_mean(small_file):
    result = pfstat.drive("--repeat", "2", "--counters", "--rusage", "--pattern", "sequential",
                          small_file)
    runs = [usage(run, "inblock")["rusage"] for run in result["runs"]]
    assert runs == [2048, 2048]
    assert result["mean"]["usage"]["inblock"] == {"rusage": 2048, "ebpf": 2048}
    assert result["stddev"]["usage"]["inblock"] == {"rusage": 0, "ebpf": 0}
    if not HAVE_PMU:
        assert result["mean"]["counters"]["l1d"]["read"]["misses"] is None


# Simulated caches

def simulated(pattern, pages, accesses):
    """The access loop's own function, and the whole."""
    path = pfstat.make_file(pfstat.DISK / f"simulated-{pages}", pages * pfstat.PAGE)
    result = pfstat.drive("--simulate-cache", "--pattern", pattern, "--accesses", accesses, path)
    caches = result["simulated_caches"]
    loop = caches["functions"][0]
    assert loop["name"] == pattern.split(":", maxsplit=1)[0] + "_run"
    # What is not the loop's is the difference of two starts: next to nothing.
    assert abs(caches["read"]["references"] - loop["read"]["references"]) < 200
    assert "valgrind" in caches["simulator"]
    return loop["read"]


def test_lines_that_fit_miss_once():
    """16 KiB in a D1 of 32: 256 lines, touched 20 times."""
    read = simulated("stride:64", 4, 20 * 256)
    assert 20 * 256 <= read["references"] < 20 * 256 + 300
    assert 256 <= read["d1_misses"] < 256 + 20
    assert 256 <= read["ll_misses"] < 256 + 20


def test_lines_that_do_not_fit_miss_each_time_but_not_the_last_level():
    """1 MiB, line after line, through a D1 of 32 KiB and 8 ways: LRU keeps none of it."""
    read = simulated("stride:64", 256, 3 * 16384)
    assert 3 * 16384 <= read["d1_misses"] < 3 * 16384 + 300
    assert 16384 <= read["ll_misses"] < 16384 + 20


def test_bytes_of_a_line_miss_once():
    read = simulated("sequential", 64, 64 * pfstat.PAGE)
    assert 4096 <= read["d1_misses"] < 4096 + 50


def test_simulation_is_labelled(small_file):
    text = pfstat.run(pfstat.PFDRIVE, "--simulate-cache", "--accesses", "1000", small_file).stdout
    assert "SIMULATED by valgrind" in text
    assert "Not this machine's caches: I1 32 KiB 8-way, D1 32 KiB 8-way, LL 15360 KiB" in text


def test_without_valgrind_it_is_refused(small_file):
    folder = pathlib.Path("/tmp/no-valgrind")
    folder.mkdir(exist_ok=True)
    assert "needs valgrind" in refused(1, "--simulate-cache", small_file,
                                       env={**os.environ, "PATH": str(folder)})


def test_nothing_is_left_behind(small_file, tmp_path):
    pfstat.run(pfstat.PFDRIVE, "--simulate-cache", "--accesses", "1000", small_file,
               env={**os.environ, "TMPDIR": str(tmp_path)})
    assert not list(tmp_path.iterdir())
    assert "temporary folder" in refused(1, "--simulate-cache", small_file,
                                         env={**os.environ, "TMPDIR": "/nowhere"})


def test_the_loop_alone_needs_no_root_and_no_module(small_file):
    pfstat.unload()
    os.chmod(small_file, 0o644)
    for name in ("loop", "bare-loop"):
        result = pfstat.run(pfstat.PFDRIVE, name, "--accesses", "1000", small_file, user=65534,
                            group=65534, extra_groups=[])
        assert result.stdout == result.stderr == ""
    assert "no file" in refused(1, "loop", pfstat.DISK / "missing")


# The memory map

def show_maps(pid):
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "show-maps", "--format", "json", "-p",
                                       pid).stdout)


def of_kind(maps, kind):
    return [line for line in maps["maps"] if line["kind"] == kind]


def test_a_drives_map_has_the_file_hooked_and_resident(small_file):
    maps = pfstat.drive("--show-maps", "--pattern", "sequential", small_file)["maps"]
    measured, = of_kind(maps, "measured")
    assert measured["path"] == str(small_file) and measured["rights"] == "r--s"
    assert measured["bytes"] == measured["resident_bytes"] == 256 * pfstat.PAGE
    assert [line for line in maps["maps"] if line["hooked"]] == [measured]
    cpus = len(list((pfstat.DEBUGFS / "ring").iterdir()))
    assert len(of_kind(maps, "pfstat_ring")) == cpus
    assert len(of_kind(maps, "bpf")) >= 2       # what is read and what is written of the ring
    assert len(of_kind(maps, "thread_stack")) == 1      # the reader of the rings
    for kind in ("heap", "stack", "vdso", "vvar"):
        assert of_kind(maps, kind), kind
    assert any(line["path"] == maps["program"] for line in of_kind(maps, "text"))
    assert sum("libc.so" in (line["path"] or "") for line in of_kind(maps, "text")) == 1


def test_half_of_a_file_is_half_resident(small_file):
    maps = pfstat.drive("--show-maps", "--fault-around", "off", "--pattern", "sequential",
                        "--accesses", 128 * pfstat.PAGE, small_file)["maps"]
    measured, = of_kind(maps, "measured")
    # Where the file system has large folios, one fault maps a folio.
    assert 128 * pfstat.PAGE <= measured["resident_bytes"] < 256 * pfstat.PAGE


def test_maps_are_the_kernels():
    with subprocess.Popen(["sleep", "1000"]) as process:
        pfstat.wait_until(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith("/sleep"))
        pfstat.wait_until(lambda: "nanosleep" in
                          pathlib.Path(f"/proc/{process.pid}/wchan").read_text())
        maps = show_maps(process.pid)
        lines = pathlib.Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        process.kill()
    assert len(maps["maps"]) == len(lines)
    for line, shown in zip(lines, maps["maps"]):
        begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        assert int(shown["address"]) == int(begin, 16)
        assert shown["bytes"] == int(end, 16) - int(begin, 16)
        assert shown["rights"] == rights
        assert shown["explanation"] and shown["hooked"] is False
    resident = sum(line["resident_bytes"] for line in maps["maps"]
                   if line["kind"] not in ("vdso", "vvar", "vsyscall"))
    # What the kernel counts itself may be behind by some pages a CPU.
    counted = int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * KIB
    assert abs(resident - counted) <= 64 * 4 * pfstat.PAGE


def test_what_is_hooked_is_shown_until_it_is_not(small_file):
    with pfstat.Mapping(small_file) as mapping:
        with pfstat.Session(f"file {mapping.fd()}"):
            line, = [line for line in show_maps(os.getpid())["maps"] if line["hooked"]]
            assert line["path"] == str(small_file) and line["kind"] == "file"
            assert line["address"] == mapping.address
        assert not [line for line in show_maps(os.getpid())["maps"] if line["hooked"]]


def test_without_the_module_what_is_hooked_is_not_known():
    pfstat.unload()
    assert {line["hooked"] for line in show_maps(os.getpid())["maps"]} == {None}


@pytest.mark.parametrize("status, options, words", [
    (2, [], "no process was given"),
    (2, ["-p", "0"], "'0'"),
    (2, ["-p", "none"], "'none'"),
    (2, ["-p", "1", "2"], "'2'"),
    (2, ["-p", "1", "--format", "csv"], "table, json"),
    (1, ["-p", "4194304"], "no process 4194304"),
    (1, ["-p", "2"], "kernel thread"),
])
def test_show_maps_refuses(status, options, words):
    assert words in refused(status, "show-maps", *options)


def test_somebody_elses_map_is_refused():
    assert "no right" in refused(1, "show-maps", "-p", "1", user=65534, group=65534,
                                 extra_groups=[])

# SPDX-License-Identifier: GPL-2.0-only
"""Figures that do not concern faults, compared with other programs and with the kernel's own."""
import pathlib
import shutil

import pytest

import pfstat

HAVE_PMU = any(pathlib.Path("/sys/bus/event_source/devices", name).exists()
               for name in ("cpu", "cpu_core", "cpu_atom"))
KIB = 1024
RANDOMIZE = pathlib.Path("/proc/sys/kernel/randomize_va_space")


def usage(result, name):
    return result["usage"][name]


def check_reasons(result):
    """A difference without a reason is a bug in the instrument."""
    for name, line in result["usage"].items():
        if line["rusage"] is None or line["ebpf"] is None:
            assert line["difference"] is None, name
        else:
            assert line["difference"] == line["rusage"] - line["ebpf"], name
        assert line["reason"] != "unexplained", (name, line)


# getrusage compared with eBPF

def test_rusage_matches_the_ledger_and_ebpf(small_file):
    result = pfstat.drive("--with", "rusage", small_file)
    counts = {count["name"]: count["value"] for count in result["ledger"]["counts"]}
    for name in ("minflt", "majflt"):
        assert usage(result, name)["rusage"] == result["rusage"][name] == counts[name]
        assert usage(result, name)["difference"] == 0
    assert usage(result, "minflt")["rusage"] + usage(result, "majflt")["rusage"] == \
        result["faults"] > 0
    check_reasons(result)


def test_blocks_read_match_inblock_and_requests(small_file):
    result = pfstat.drive("--pattern", "sequential", small_file)
    assert usage(result, "inblock")["rusage"] == usage(result, "inblock")["ebpf"] == \
        256 * pfstat.PAGE // 512
    assert usage(result, "oublock")["rusage"] == usage(result, "oublock")["ebpf"] == 0
    warm = pfstat.drive("--cache", "warm", "--pattern", "sequential", small_file)
    assert usage(warm, "inblock")["rusage"] == usage(warm, "inblock")["ebpf"] == 0


@pytest.mark.deterministic
def test_switches_match_the_off_cpu_intervals(small_file):
    """A disk fault always sleeps only if CPUs do not wait for each other."""
    result = pfstat.drive("--pattern", "stride:64K", "--accesses", "256", small_file)
    voluntary, preempted = usage(result, "nvcsw"), usage(result, "nivcsw")
    # One switch may fall between the two starts or the two ends.
    assert abs(voluntary["difference"]) <= 1 and abs(preempted["difference"]) <= 2
    assert voluntary["ebpf"] + preempted["ebpf"] == result["off_cpu_count"]
    assert voluntary["ebpf"] > 0 and result["major"] > 0
    check_reasons(result)


def test_cpu_time_is_the_elapsed_time_less_off_cpu_time(small_file):
    result = pfstat.drive("--pattern", "sequential", small_file)
    cpu = usage(result, "cpu_us")
    assert 0 < cpu["ebpf"] <= result["elapsed_ns"] / 1000
    # 4 ms ticks at both ends.
    assert abs(cpu["difference"]) < 8000 + 0.2 * cpu["ebpf"]


def test_oublock_counts_dirty_pages_before_they_are_written(tmp_path):
    """oublock counts pages made dirty. They have not been written when the program ends."""
    target = pfstat.DISK / "written"
    target.unlink(missing_ok=True)
    result, _ = pfstat.record("dd", "if=/dev/zero", f"of={target}", "bs=64K", "count=16",
                              "status=none", options=["--with", "rusage"])
    line = usage(result, "oublock")
    assert line["rusage"] >= 16 * 128 and line["rusage"] % 8 == 0
    assert line["difference"] >= 16 * 128 and "dirty" in line["reason"]
    target.unlink()


def test_faults_agree_and_other_differences_have_reasons():
    result, _ = pfstat.record(pfstat.BUILD / "workload", "anon", "500",
                              options=["--with", "rusage"])
    assert usage(result, "minflt")["difference"] == usage(result, "majflt")["difference"] == 0
    assert usage(result, "minflt")["rusage"] >= 500
    assert usage(result, "cpu_us")["ebpf"] is None
    # The wait for the exec, and the last switch.
    assert 0 <= usage(result, "nvcsw")["difference"] <= 3
    check_reasons(result)


def test_values_of_ebpf_are_null_without_it(small_file):
    result = pfstat.drive("--no-bpf", "--with", "rusage,syscalls", small_file)
    assert all(line["ebpf"] is None for line in result["usage"].values())
    assert result["syscall_totals"] is None
    assert usage(result, "minflt")["rusage"] > 0


# System calls

def strace_counts(*command):
    """Calls and errors by name, from strace -c."""
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


@pytest.fixture(name="fixed_addresses")
def fixture_fixed_addresses():
    """If a page is smaller than the alignment of a library, the dynamic linker maps more, and
    unmaps what the address leaves over: one munmap() or two."""
    before = RANDOMIZE.read_text()
    RANDOMIZE.write_text("0")
    yield
    RANDOMIZE.write_text(before)


@pytest.mark.parametrize("command", [
    ["workload", "calls", "1000"], ["ls", "-lR", "/etc"], ["workload", "anon", "50"],
])
@pytest.mark.usefixtures("fixed_addresses")
def test_system_calls_match_the_counts_of_strace(command):
    path = shutil.which(command[0])
    counts = strace_counts(path, *command[1:])
    result, _ = pfstat.record(path, *command[1:], options=["--with", "syscalls"])
    totals = totals_of(result)
    assert totals == counts
    if command[1] == "calls":
        assert totals["getppid"] == (1000, 0)
        assert totals["close"][1] == 500    # of an invalid descriptor


def test_totals_are_the_sums_of_the_results(small_file):
    result = pfstat.drive("--with", "syscalls", small_file)
    assert sum(total["calls"] for total in result["syscall_totals"]) == \
        sum(row["count"] for row in result["syscalls"]) == usage(result, "syscalls")["ebpf"]
    assert sum(total["percent"] for total in result["syscall_totals"]) == pytest.approx(100)
    assert totals_of(result)["getrusage"] == (2, 0)


def test_table_has_the_format_of_strace():
    text = pfstat.run(pfstat.PFDRIVE, "record", "--with", "syscalls", "--",
                      pfstat.BUILD / "workload", "calls", "100").stdout
    table = text[text.index("% time"):].splitlines()
    assert table[0].split() == ["%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"]
    rows = {line.split()[-1]: line.split() for line in table[1:]}
    assert rows["getppid"][3] == "100" and len(rows["getppid"]) == 5
    assert rows["close"][4] == "50" and len(rows["close"]) == 6
    assert rows["total"][0] == "100.00"


@pytest.mark.deterministic
def test_cost_of_a_call_is_as_documented():
    """Documentation/user/measures.rst and the note above the table state it."""
    # The kernel detaches the programs of an earlier pfdrive some time after its end.
    pfstat.wait_until(lambda: "on_sys_enter" not in pfstat.run("bpftool", "prog", "show").stdout)
    lines = pfstat.run(pathlib.Path(__file__).parent / "progs/syscall_cost").stdout.splitlines()
    cost = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    assert cost["alone"] < cost["eBPF, not watched"] < cost["eBPF"] < cost["strace -c"]
    assert 1200 < cost["eBPF"] - cost["alone"] < 2400
    assert cost["eBPF, not watched"] - cost["alone"] < 1000
    event = cost["madvise, eBPF"] - cost["madvise, alone"] - (cost["eBPF"] - cost["alone"])
    assert 1600 < event < 4800
    assert cost["strace -c"] - cost["alone"] > 10 * (cost["eBPF"] - cost["alone"])


# The processor's counters

def counters_of(result):
    for cache in ("l1d", "dtlb"):
        for operation in ("read", "write", "prefetch"):
            for what in ("accesses", "misses"):
                yield result["counters"][cache][operation][what]


def test_counters_are_counted_or_not_available_and_never_0(small_file):
    result = pfstat.drive("--with", "hw", "--accesses", "100K", small_file)
    assert result["environment"]["pinned_cpu"] is not None
    counters = list(counters_of(result))
    for counter in counters:
        assert (counter["count"] is None) == (counter["missing"] is not None)
    if HAVE_PMU:
        assert result["counters"]["l1d"]["read"]["accesses"]["count"] >= 100 * KIB
    else:
        assert all("no PMU" in counter["missing"] for counter in counters)
    assert totals_of(result)["prctl"] == (2, 0)     # at switching on and off: only around the loop


def test_walk_covers_twice_the_size_of_l1d(small_file):
    result = pfstat.drive("--with", "hw", "--accesses", "10", small_file)
    size = None
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        # QEMU's arm64 machine states no sizes.
        if (index / "size").exists() and (index / "level").read_text() == "1\n" and \
                (index / "type").read_text() == "Data\n":
            size = int((index / "size").read_text().strip()[:-1]) * KIB
    assert result["counters"]["l1d_bytes"] == size
    assert result["counters"]["walked_bytes"] == (2 * size if size else 0)


def test_counters_add_no_fault(small_file):
    plain = pfstat.drive("--fault-around", "off", small_file)
    counted = pfstat.drive("--fault-around", "off", "--with", "hw", small_file)
    assert counted["faults"] == plain["faults"]
    assert counted["ledger"]["unexplained"] == 0


def test_several_runs_have_a_mean(small_file):
    result = pfstat.drive("--repeat", "2", "--with", "hw,rusage", "--pattern", "sequential",
                          small_file)
    runs = [usage(run, "inblock")["rusage"] for run in result["runs"]]
    sectors = small_file.stat().st_size // 512
    assert runs == [sectors, sectors]
    assert result["mean"]["usage"]["inblock"] == {"rusage": sectors, "ebpf": sectors}
    assert result["stddev"]["usage"]["inblock"] == {"rusage": 0, "ebpf": 0}
    if not HAVE_PMU:
        assert result["mean"]["counters"]["l1d"]["read"]["misses"] is None

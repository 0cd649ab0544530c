# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive study pressure: the effect of processes competing with a run for memory, and their
cleanup.

Tests depending on process scheduling need the instruction clock: on several emulated CPUs on a busy
host a run may end before the competitors were scheduled.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest

import pfstat
from test_pfdrive import unmounted

MIB = 1 << 20
CGROUP = pathlib.Path("/sys/fs/cgroup")
KHUGEPAGED = pathlib.Path("/sys/kernel/mm/transparent_hugepage/khugepaged")
FILE = pfstat.DISK / "contested"
SIZE = 12 * MIB
# Page by page, all of the file eight times: long enough for competitors to be scheduled.
ACCESSES = ("--pattern", "stride:4K", "--accesses", str(8 * SIZE // pfstat.PAGE),
            "--fault-around", "off")
VMSTAT = dict(line.split() for line in
              pathlib.Path("/proc/vmstat").read_text().splitlines())
NOT_HERE = {"swpin_zero", "swpout_zero"} - set(VMSTAT)
STUDY = ("study", "pressure")
LIMITED = ("--memory-limit", "16M")


def pressure(*options):
    """JSON from `pfdrive study pressure`."""
    return pfstat.drive(*options, command=STUDY)


@pytest.fixture(name="swap", scope="module")
def fixture_swap():
    """128 MiB on a separate null_blk, and a mounted cgroup v2."""
    if not (CGROUP / "cgroup.controllers").exists():
        pfstat.run("mount", "-t", "cgroup2", "none", CGROUP)
    with pfstat.swap_disk("competeswap"):
        pfstat.make_file(FILE, SIZE)
        yield
        FILE.unlink()


def groups():
    return list(CGROUP.glob("pfdrive-*"))


def words_of(folder):
    """A process's command line, as words."""
    with contextlib.suppress(OSError):
        return (folder / "cmdline").read_bytes().split(b"\0")
    return []


def others():
    """Processes started by a run and still existing."""
    return [words for words in map(words_of, pathlib.Path("/proc").glob("[0-9]*"))
            if words[1:3] in ([b"helper", b"competitor"], [b"helper", b"cgroup-reaper"])]


def nothing_is_left():
    pfstat.wait_until(lambda: not groups() and not others())
    assert not pfstat.PINS.exists()
    return True


def check_matrix(competition):
    """The matrix holds all pages read from swap, except those counted as not seen."""
    swapped = competition["swapped"]
    pages = sum(sum(row.values()) for row in swapped["evicted_by"].values())
    assert pages + swapped["not_seen"] == swapped["read"]
    figures = competition["with"]["figures"]
    assert figures["swap_read"] == swapped["read"] and figures["swap_evicted"] == swapped["evicted"]
    # The kernel counts at the same place. Between the two readings, pfdrive itself swaps: a fault
    # reads eight pages (page-cluster), and one run had 22 pages of 32 191.
    read = figures["pswpin"] + (figures["swpin_zero"] or 0)
    assert abs(read - swapped["read"]) <= 8 * 8
    return swapped


def check_side(side):
    for name, value in side["figures"].items():
        # Not all kernels report zero pages.
        assert value is None if name in NOT_HERE else value >= 0, name
    known = {name: faults for name, faults in side["faults"].items()
             if faults["count"] is not None}
    assert set(side["faults"]) - set(known) <= {"again"}    # only perf has that class
    for name, faults in known.items():
        assert 0 <= faults["major"] <= faults["count"], name
    majors = sum(faults["major"] for faults in known.values())
    # eBPF also counts swap-ins of pfdrive itself before the first and after the last getrusage().
    assert 0 <= majors - side["figures"]["majflt"] <= 16


@pytest.fixture(name="runs", scope="module")
def fixture_runs(swap):
    """Two runs over a file with two 10 MiB competitors in 16 MiB. The order is sequential, so each
    evicts the whole file between two rounds. With random order this would depend on chance.
    """
    pfstat.load()
    return pressure(*ACCESSES, *LIMITED, "--compete", "10M:sequential",
                        "--competitors", "2", "--repeat", "2", FILE)


@pytest.mark.deterministic
def test_every_figure_is_present_and_majflt_rises(runs):
    for run in runs["runs"]:
        competition = run["competition"]
        assert competition["bytes"] == 10 * MIB and competition["memory_limit"] == 16 * MIB
        assert competition["order"] == "sequential" and competition["swap_bytes"] > 127 * MIB
        alone, contested = competition["alone"], competition["with"]
        check_side(alone)
        check_side(contested)
        # Without competitors the file fits, and nothing is swapped.
        assert alone["figures"]["pswpin"] == alone["figures"]["swap_read"] == 0
        assert alone["figures"]["read_again"] == 0
        assert contested["figures"]["majflt"] > alone["figures"]["majflt"]
        assert contested["figures"]["read_again"] > 0
        assert contested["figures"]["pswpout"] > 0 and contested["figures"]["group_max"] > 0
        assert run["rusage"]["majflt"] == contested["figures"]["majflt"]
        assert run["ledger"]["unexplained"] == 0, run["ledger"]
    mean = runs["mean"]["competition"]["with"]["figures"]["majflt"]
    assert mean == sum(run["rusage"]["majflt"] for run in runs["runs"]) / 2
    assert runs["stddev"]["competition"]["alone"]["figures"]["pswpin"] == 0


@pytest.mark.deterministic
@pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB: a competitor of larger ones may lose none")
def test_competitors_fault_and_the_matrix_adds_up(runs):
    swapped_before = 0
    for run in runs["runs"]:
        competition = run["competition"]
        assert len(competition["competitors"]) == 2
        for figures in competition["competitors"]:
            assert figures["majflt"] > 0 and figures["accesses"] > figures["majflt"]
        # The whole cgroup: the competitors and the run. The kernel sums a CPU's counts once there
        # are 64, and majflt includes repeated faults, which pgmajfault does not. One run had 4214
        # major faults in the cgroup and 4112 in the processes. The reason is not known.
        majors = sum(figures["majflt"] for figures in competition["competitors"]) + \
            run["rusage"]["majflt"]
        assert majors // 2 <= competition["with"]["figures"]["group_pgmajfault"] <= \
            1.1 * majors + 64 * os.cpu_count()
        swapped = check_matrix(competition)
        assert list(swapped["evicted_by"]) == ["the run", "competitor 1", "competitor 2",
                                               "kswapd", "others"]
        # Another run may read pfdrive pages left in swap by one run.
        assert swapped["read"] > 0 and swapped["not_seen"] <= swapped_before
        swapped_before += swapped["evicted"] - swapped["read"]
        owned = [sum(row[f"competitor {n}"] for row in swapped["evicted_by"].values())
                 for n in (1, 2)]
        # Most pages belong to the competitors, which evict each other's pages.
        assert min(owned) > 0 and sum(owned) > 0.5 * swapped["read"], swapped
        assert swapped["evicted_by"]["competitor 1"]["competitor 2"] > 0
        # A process that reaches the limit reclaims memory itself, so kswapd evicts nothing.
        assert sum(swapped["evicted_by"]["kswapd"].values()) == 0


@pytest.mark.deterministic
def test_nothing_is_left_after_runs(runs):
    assert runs and nothing_is_left()


@pytest.mark.deterministic
def test_the_runs_own_memory_is_swapped_in_again(swap):
    result = pressure("--map", "anon+populate", "--size", "12M", "--write", "100%",
                          "--pattern", "stride:4K", "--accesses", "6000", *LIMITED,
                          "--compete", "0.75:sequential")
    competition = result["competition"]
    assert competition["bytes"] == 12 * MIB and competition["order"] == "sequential"
    check_side(competition["with"])
    swapped = check_matrix(competition)
    assert sum(row["the run"] for row in swapped["evicted_by"].values()) > 0
    swap_ins = competition["with"]["faults"]["swap"]
    assert swap_ins["major"] > 0 == competition["alone"]["faults"]["swap"]["count"]
    assert result["parts"]["classes"]["swap"]["count"] == swap_ins["count"]


@pytest.mark.long
def test_tables_have_all_figures(swap):
    text = pfstat.run(pfstat.PFDRIVE, *STUDY, *ACCESSES, *LIMITED, "--compete", "12M", FILE).stdout
    for words in ("Competition: 1 × 12.0 MiB, pages at random", "under a 16.0 MiB limit",
                  "Alone", "With competitors", "Counted by", "pgmajfault",
                  "the cgroup's memory.stat", "/proc/vmstat, the machine", "competitor 1",
                  "Pages swapped out and read again, by the process", "Read from swap:"):
        assert words in text, words
    assert "nan" not in text and "inf " not in text
    without = pfstat.run(pfstat.PFDRIVE, *STUDY, "--no-bpf", *ACCESSES, *LIMITED, "--compete",
                         "12M", FILE).stdout
    assert "Pages swapped out and read again: n/a" in without


def competitor_pids():
    return [int(folder.name) for folder in pathlib.Path("/proc").glob("[0-9]*")
            if words_of(folder)[1:3] == [b"helper", b"competitor"]]


@contextlib.contextmanager
def begun(accesses, ready):
    """Starts a long run and waits until it is ready. The run has ended afterwards."""
    process = subprocess.Popen([pfstat.PFDRIVE, *STUDY, "--pattern", "stride:4K", "--accesses",
                                accesses, *LIMITED, "--compete", "12M", "--repeat", "1000", FILE],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        pfstat.wait_until(lambda: ready(process.pid) or process.poll() is not None)
        assert process.poll() is None, process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()
    pfstat.wait_until(lambda: not groups() and not others())


def is_in_its_group(pid):
    """The run without competitors, which never ends."""
    return any(str(pid) in (group / "cgroup.procs").read_text().split() for group in groups())


def competes(_):
    """The run with competitors. The first run ends soon."""
    return competitor_pids()


ALONE, CONTESTED = ("100G", is_in_its_group), ("30000", competes)


@pytest.mark.long
@pytest.mark.parametrize("when, number, status", [
    (CONTESTED, signal.SIGINT, 130), (ALONE, signal.SIGTERM, 143),
    (ALONE, signal.SIGKILL, -9), (CONTESTED, signal.SIGKILL, -9),
])
def test_nothing_is_left_after_a_signal(swap, when, number, status):
    accesses, ready = when
    with begun(accesses, ready) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=pfstat.PATIENCE)
        assert (process.returncode, out, err) == (status, "", "")
    pfstat.wait_until(lambda: not pfstat.PINS.exists())


@pytest.mark.long
def test_a_killed_competitor_ends_it_with_one_message(swap):
    with begun("10M", competes) as process:
        os.kill(competitor_pids()[0], signal.SIGKILL)
        out, err = process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 1 and out == ""
    assert err == "pfdrive: competitor 1 was killed, probably because memory and swap " \
        "are full; add swap, or use a smaller --compete\n"
    assert nothing_is_left()


@pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB: page tables are a part of the sum")
def test_competitors_beyond_memory_and_swap_are_refused(swap):
    said = pfstat.refused(1, *STUDY, *LIMITED, "--compete", "10G", FILE)
    assert re.fullmatch(r"pfdrive: --compete: cannot fit 10281\.5 MiB of processes and 12\.0 MiB of "
                        r"file into 16\.0 MiB of memory and 1[12]\d\.\d MiB of free swap; add swap "
                        r"\(swapon\), or compete for less\n", said), said
    assert nothing_is_left()


def test_a_number_without_unit_is_explained_as_a_ratio(swap):
    said = pfstat.refused(1, *STUDY, *LIMITED, "--compete", "96:sequential", FILE)
    assert "--compete 96 is a ratio, 96 times the limit, and a size has a unit (96M)" in said


def test_swap_that_is_too_small_is_refused():
    with pfstat.swap_disk("smallswap", 4):
        pfstat.make_file(FILE, SIZE)
        said = pfstat.refused(1, *STUDY, *LIMITED, "--compete", "12M", FILE)
    assert "12.0 MiB of file into 16.0 MiB of memory and 4.0 MiB of free swap" in said
    assert nothing_is_left()


@pytest.mark.parametrize("size", ["0.5", "8M", "4M:sequential"])
def test_file_that_does_not_fit_is_refused_without_swap(size):
    """The kernel would evict the run's pages again and again."""
    pfstat.make_file(FILE, SIZE)
    with pfstat.without_swap():
        said = pfstat.refused(1, *STUDY, "--compete", size, *LIMITED, "--pattern",
                              "stride:4K", FILE)
    assert ("is a ratio" if size == "0.5" else "could evict only file pages") in said
    assert nothing_is_left()


# A process needs more memory than the buffer.
@pytest.mark.parametrize("options", [
    ("--compete", "1.5", *LIMITED, FILE),
    ("--memory-limit", "8M", "--compete", "1", "--map", "anon", "--size", "4K"),
    ("--memory-limit", "8M", "--compete", "7600K", "--map", "anon", "--size", "4K"),
    (*LIMITED, "--compete", "900K", "--competitors", "16", "--map", "anon", "--size", "4K"),
])
def test_too_many_processes_are_refused_without_swap(options):
    pfstat.make_file(FILE, SIZE)
    with pfstat.without_swap():
        said = pfstat.refused(1, *STUDY, *options)
    assert "--compete: cannot fit" in said and "0.0 MiB of free swap" in said
    assert nothing_is_left()


@pytest.fixture(name="busy_khugepaged")
def fixture_busy_khugepaged():
    """It looks for pages to merge all the time: such a merge must not fill the cgroup."""
    settings = {"scan_sleep_millisecs": "1", "pages_to_scan": "65536"}
    before = {name: (KHUGEPAGED / name).read_text() for name in settings}
    for name, value in settings.items():
        (KHUGEPAGED / name).write_text(value)
    yield
    for name, value in before.items():
        (KHUGEPAGED / name).write_text(value)


# The largest sizes that are accepted in 16 MiB without swap: the kernel must not kill a process.
@pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB: stacks and page tables are a part of it")
@pytest.mark.parametrize("size, number", [
    pytest.param("14700K", "1", marks=pytest.mark.long), ("3120K", "4"),
    pytest.param("204K", "16", marks=pytest.mark.long)])
def test_processes_that_fit_run_without_swap(busy_khugepaged, size, number):
    with pfstat.without_swap():
        result = pressure(*LIMITED, "--compete", size, "--competitors", number,
                              "--map", "anon", "--size", "4K", "--accesses", "100")
    assert all(row["accesses"] >= 0 for row in result["competition"]["competitors"])
    assert result["competition"]["with"]["figures"]["pswpout"] == 0


@pytest.mark.long
def test_missing_cgroup_v2_is_refused_unless_unsafe(swap):
    with unmounted(CGROUP, "cgroup2"):
        assert "cgroup v2 is not mounted" in pfstat.refused(1, *STUDY, "--compete", "12M", FILE)
        result = pressure(*ACCESSES, "--unsafe", "--compete", "12M", FILE)
    competition = result["competition"]
    assert competition["memory_limit"] is None
    # n/a, not 0.
    assert competition["with"]["figures"]["group_pgmajfault"] is None
    assert competition["with"]["figures"]["pswpin"] is not None
    assert nothing_is_left()


def test_missing_privilege_for_a_cgroup_is_refused(swap):
    pfstat.run("mount", "-o", "remount,ro", CGROUP)
    try:
        said = pfstat.refused(1, *STUDY, "--compete", "12M", FILE)
    finally:
        pfstat.run("mount", "-o", "remount,rw", CGROUP)
    assert "Read-only file system; run as root, or use --unsafe" in said

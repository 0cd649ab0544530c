# SPDX-License-Identifier: GPL-2.0-only
"""The commands watching a program with perf's events, and those reading such a recording."""
import csv
import io
import json
import os
import re

import pytest

import native
import perfetto
import pfstat

PAGES = 64
# faults-csv columns for which perf has no event.
UNKNOWN = ("write", "queue_ns", "device_ns", "foreign_ns", "blocked_ns",
           "handler_ns", "reclaim_ns", "read_bytes")


@pytest.fixture(name="recording")
def fixture_recording(caller):
    return caller.record_faults("fork", 2, PAGES)


@pytest.fixture(name="churn")
def fixture_churn(caller):
    """Two threads faulting until the end of the test."""
    with caller.started("native_faults", "churn", 2, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        yield program


def works(caller, source):
    """True if this source can be forced here."""
    return caller.run("record", "--source", source, "true", check=False).returncode == 0


def test_the_first_source_that_works_is_used_and_named(caller):
    first = next(source for source in ("module", "ebpf", "perf") if works(caller, source))
    out = caller.folder / "source.json"
    text = caller.run("record", "--json", out, "--", "/bin/true").stdout
    assert pfstat.report_of(out.read_text())["environment"]["source"] == first
    assert bool(re.search(r"^Source +perf: whole faults", text, re.MULTILINE)) == (first == "perf")


def test_the_record_command_states_the_faults_and_losses_of_perf(recording):
    count = recording.report()["parts"]["all"]["count"]
    assert f"pfdrive: {count} faults recorded" in recording.messages
    assert " 0 samples lost, in " in recording.messages


def test_a_report_has_the_same_counts_in_text_and_json(recording):
    result, text = recording.report(), recording.print()
    count = result["parts"]["all"]["count"]
    assert re.search(rf"^all faults +{count} ", text, re.MULTILINE)
    assert f"Counts: {count} faults, " in text
    not_seen = re.search(r"^Not seen +((?:.+\n)(?:  .+\n)*)", text, re.MULTILINE)[1]
    assert "file operation calls, disk requests" in not_seen
    assert ("system calls" in not_seen) == (recording.caller.sampling == "user")
    full = recording.print("--full")
    for name in ("Disk, short and long faults", "File operation calls", "Block requests",
                 "Pages read into the page cache", "System calls"):
        assert re.search(rf"^{name}: n/a", full, re.MULTILINE), name
    assert "LOST" not in full and "NOT KNOWN" not in full


def leaves(value):
    """All numbers, texts and nulls in a report part."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    else:
        yield value


def test_json_has_null_for_all_that_perf_does_not_report(recording):
    result = recording.report()
    parts = result["parts"]["all"]["parts"]
    unknown = {"blocked", "handler"} if result["waits"] is None else set()
    unknown |= {"reclaim"} if result["reclaims"] is None else set()
    assert {name for name, part in parts.items() if set(leaves(part)) == {None}} == \
        {"queue", "device", "completion", "foreign", "mm"} | unknown
    assert set(leaves(result["classes"])) == {None}
    for name in ("calls", "faults", "major", "retried", "unfinished", "late", "requests",
                 "readahead", "evictions", "syscalls"):
        assert result[name] is None, name


def test_what_getrusage_counts_more_than_perf_has_a_reason(recording):
    usage = recording.report()["usage"]
    for name in ("minflt", "majflt"):
        assert usage[name]["difference"] >= 0
        assert usage[name]["reason"] != "unexplained", usage[name]


def test_rows_of_faults_are_empty_where_perf_reports_nothing(recording):
    for row in recording.rows:
        assert {row[name] for name in UNKNOWN} == {""}, row
    for line in recording.print("--format", "faults-jsonl").splitlines():
        row = json.loads(line)
        assert {row[name] for name in UNKNOWN} == {None}, row


def test_every_format_of_a_report_is_printed(recording):
    def printed(*options):
        return recording.print("--format", *options)

    count = recording.report()["parts"]["all"]["count"]
    table = list(csv.DictReader(io.StringIO(printed("csv"))))
    assert {row["count"] for row in table} == {"n/a"}
    assert printed("folded", "--by", "code")
    assert len(printed("faults-jsonl").splitlines()) == count
    assert json.loads(printed("firefox"))
    profile, trace = recording.caller.folder / "pprof", recording.caller.folder / "pftrace"
    recording.print("--format", "pprof", "--output", profile)
    assert profile.stat().st_size
    recording.print("--format", "perfetto", "--output", trace)
    assert len(perfetto.read(trace).of("fault")) == count


@pytest.mark.parametrize("by", ["class", "file", "vma", "thread", "comm", "code"])
def test_every_table_of_places_is_printed(recording, by):
    result = recording.report("--by", by, "--top", 0)
    count = result["parts"]["all"]["count"]
    if by != "class":
        assert sum(row["faults"] for row in result["groups"]["rows"]) == count
    assert recording.print("--by", by)


def test_a_page_with_figures_is_written(recording):
    page = recording.caller.folder / "page.html"
    recording.print("--html", page)
    text = page.read_text()
    assert "<svg" in text
    assert "<dt>Disk faults</dt><dd>n/a</dd>" in text
    assert "<caption>The longest 10 of " in text and "<caption>Fault time percentiles" in text
    assert len(re.findall(r"\n<p class=\"note\">\d+\. [\d.]+ ms in thread ", text)) == 10


def test_a_recording_equals_itself_and_differs_from_one_with_more_faults(caller):
    recording = caller.record_faults("anon", PAGES)
    first = caller.folder / "first.pfs"
    recording.path.rename(first)
    same = caller.run("compare", "--threshold", 5, first, first)
    assert "no change" in same.stdout and "NOT KNOWN" not in same.stdout
    assert "Any row: not judged." in caller.run("compare", first, first).stdout
    more = caller.record_faults("anon", 100 * PAGES)
    changed = caller.run("compare", "--format", "json", "--threshold", 5, first, more.path,
                         check=False)
    assert changed.returncode == 3, changed.stderr
    assert json.loads(changed.stdout)


def test_doubled_faults_are_found_with_two_runs_on_each_side(caller):
    paths = []
    for number, pages in enumerate((2000, 2000, 2000, 2000, 4000, 4000)):
        paths.append(caller.record_faults("anon", pages).path.rename(
            caller.folder / f"{number}.pfs"))

    def verdict_of(*arguments):
        """The verdict on the number of anonymous faults, which does not depend on the machine."""
        result = caller.run("compare", "--format", "json", *arguments, check=False)
        row, = [row for row in json.loads(result.stdout)["rows"]
                if (row["class"], row["measure"]) == ("anon", "faults")]
        return result.returncode, row["verdict"]

    assert verdict_of(*paths[:2], "--", *paths[4:]) == (3, "change")
    assert verdict_of(*paths[:2], "--", *paths[2:4])[1] == "same"


def test_kept_limits_give_status_0_and_exceeded_ones_3(caller):
    path = caller.new_file("limits", PAGES)
    program = caller.program("native_faults")

    def check(*limits):
        result = caller.run("check", "--source", "perf", *limits, "--", program, "private", path,
                            check=False)
        words = [line.split()[0] for line in result.stdout.splitlines()
                 if line.startswith(("ok", "EXCEEDED", "NOT KNOWN"))]
        return result.returncode, words

    assert check("--max-fault-time", 3600_000, "--max-share", 100) == (0, ["ok", "ok"])
    assert check("--max-fault-time", 0, "--max-share", 100) == (3, ["EXCEEDED", "ok"])


def test_failed_faults_and_the_longest_one_have_limits(caller):
    def words(*limits):
        result = caller.run("check", "--source", "perf", *limits, "--",
                            caller.program("native_faults"), "denied", 7, check=False)
        return result.returncode, result.stdout

    status, text = words("--max-failed", 7, "--max-fault", 3600_000)
    assert status == 0, text
    assert "ok         failed faults: 7, at most 7" in text
    status, text = words("--max-failed", 6, "--max-fault", 0)
    assert status == 3, text
    assert "EXCEEDED   failed faults: 7, at most 6" in text
    assert "EXCEEDED   longest fault: " in text


def test_the_longest_fault_is_one_of_the_rows(recording):
    result = recording.report()
    longest = result["tail"]["longest"]
    rows = recording.rows
    assert longest["duration_ns"] == max(int(row["duration_ns"]) for row in rows)
    row = next(row for row in rows if int(row["duration_ns"]) == longest["duration_ns"])
    assert (longest["tid"], longest["class"]) == (int(row["tid"]), row["class"])
    assert longest["address"] == int(row["address"], 16)
    assert result["failed_faults"] == 0
    assert result["tail"]["count"] == sum(
        int(row["duration_ns"]) >= result["tail"]["at_least_ns"] for row in rows)


def test_the_slowest_faults_are_the_longest_rows(recording):
    # Among equal ones, any may be there.
    durations = sorted((int(row["duration_ns"]) for row in recording.rows), reverse=True)
    text = recording.caller.run("report", "--slowest", 3, recording.path).stdout
    assert f"The longest 3 of {len(durations)} faults: {sum(durations[:3]) / 1e6:.3f} ms" in text
    assert "n/a with perf; eBPF (as root) has: device requests" in text
    assert [float(ms) for ms in re.findall(r"^\d+\. ([\d.]+) ms in thread ", text, re.M)] == [
        round(duration / 1e6, 3) for duration in durations[:3]]
    for number, wanted in ((12, 12), (None, 10)):
        options = () if number is None else ("--slowest", number)
        report = json.loads(recording.caller.run("report", "--format", "json", *options,
                                                 recording.path).stdout)
        slowest = report["slowest"]["faults"]
        assert [fault["duration_ns"] for fault in slowest] == durations[:wanted]
        longest = report["tail"]["longest"]
        assert longest.items() <= slowest[0].items()
        for fault in slowest:
            assert any((fault["start_ns"], fault["tid"], fault["address"]) ==
                       (int(row["start_ns"]), int(row["tid"]), int(row["address"], 16))
                       for row in recording.rows)
            assert sum(ns or 0 for ns in fault["parts"].values()) == fault["duration_ns"]
            assert fault["requests"] is None and fault["calls"] is None


def test_slowest_refuses_options_of_other_outputs(recording):
    for options in (("--format", "csv"), ("--plot", "-"), ("--format", "faults-csv"),
                    ("--by", "file"), ("--with", "rusage"), ("--full",)):
        result = recording.caller.run("report", "--slowest", 3, *options, recording.path,
                                      check=False)
        assert result.returncode == 2 and "--slowest" in result.stderr
    for number in (0, 1001):
        result = recording.caller.run("report", "--slowest", number, recording.path, check=False)
        assert result.returncode == 2 and "--slowest" in result.stderr
    report = json.loads(recording.caller.run("report", "--slowest", 1, "--format", "json", "--by",
                                             "file", recording.path).stdout)
    assert len(report["slowest"]["faults"]) == 1 and report["groups"]["rows"]


def test_the_activity_of_threads_is_within_their_lives(recording):
    activity = recording.report()["activity"]
    assert activity["threads"] == len({(row["pid"], row["tid"]) for row in recording.rows})
    assert 0 < activity["active_min_ns"] <= activity["active_max_ns"] <= activity["life_ns"]
    stalled = activity["stalled"]
    assert not stalled or stalled["fault_ns"] == sum(
        int(row["duration_ns"]) for row in recording.rows if int(row["tid"]) == stalled["tid"])


def test_major_faults_are_counted_against_their_limit(caller):
    path = caller.new_file("majors", PAGES)
    for most, status in ((2 * PAGES, 0), (PAGES - 1, 3)):
        native.evict(path)
        result = caller.run("check", "--source", "perf", "--max-major", most, "--",
                            caller.program("native_faults"), "random", path, check=False)
        assert result.returncode == status, result.stdout


def test_savings_are_bounds_where_perf_does_not_show_the_accesses(caller):
    """A policy that maps fewer pages needs more faults than the replay has."""
    path = caller.new_file("advised", PAGES)
    native.evict(path)
    recording = caller.record_faults("random", path)
    result = json.loads(caller.run("advise", "-n", 1, "--file", path, "--format", "json",
                                   recording.path).stdout)
    assert result["hidden"] == {"around_pages": None, "populated": False}
    bounds = {row["advice"]: row["at_most"] for row in result["rows"]}
    assert bounds["random"] and not bounds["control"] and not bounds["populate_read"]
    assert not result["best"] or not bounds[result["best"]["advice"]]


def test_the_status_of_a_command_is_returned(caller):
    for command in (("record",), ("top",), ("check", "--max-major", 1000)):
        result = caller.run(command[0], "--source", "perf", *command[1:], "--", "/bin/sh", "-c",
                            "exit 5", check=False)
        assert result.returncode == 5, result.stderr


def test_each_view_of_top_counts_faults_and_states_what_is_not_known(caller, churn):
    text = caller.run("top", "--source", "perf", "-p", churn.pid, "-i", "0.2", "-n", 3).stdout
    blocks = text.strip().split("\n\n")
    assert len(blocks) == 3 and "\x1b" not in text
    # The program may have no CPU for a whole interval.
    assert max(float(rate) for rate in re.findall(r"([\d.]+) faults/s", text)) > 0
    for block in blocks:
        assert " 0 events" in block
        assert ("measured with perf: whole faults; their calls and disk requests are n/a" if
                caller.sampling == "all" else
                "measured with perf, without the faults in system calls; ") in block
        assert "Page faults were in progress" in block
        assert "(anonymous memory)" in block
    assert churn.poll() is None


def test_a_recording_is_readable_only_by_its_owner(recording):
    status = recording.path.stat()
    assert status.st_mode & 0o077 == 0
    assert status.st_uid == os.stat(recording.caller.folder).st_uid


def test_a_drive_names_its_file_and_its_thread(caller):
    path = caller.new_file("driven", PAGES)
    # Without a recording, too: no item tells the names later.
    text = caller.run("run", "--source", "perf", "--pattern", "sequential", path).stdout
    most, = re.findall(r"^Most of it: (.*\n(?:  .*\n)*)", text, re.MULTILINE)
    assert f"file {path} " in most, text
    assert re.search(r"thread\s+pfdrive\s+\(\d+\)", most), text


# Daemons are made like this. Each is an orphan when it ends, and the new parent is to wait for it.
DAEMONS = """
import os, pathlib, sys, time
for _ in range(200):
    child = os.fork()
    if not child:
        if not os.fork():
            os.close(1)
            bytearray(1 << 20)
        os._exit(0)
    os.waitpid(child, 0)
for _ in range(1000):
    left = 0            # daemons that run, or are zombies: both have this parent
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        left += int(parent) == os.getppid() and stat.parent.name != str(os.getpid())
    if not left:
        break
    time.sleep(0.01)
sys.exit(f"{left} daemons" if left else 0)
"""


def test_orphans_of_a_command_do_not_stay_zombies_while_it_is_recorded(caller):
    recording = caller.record(native.PYTHON, "-c", DAEMONS)
    usage = recording.report()["usage"]
    # Their faults are counted: each touches a MiB.
    assert usage["minflt"]["rusage"] > 200 * (1 << 20) // pfstat.PAGE, usage

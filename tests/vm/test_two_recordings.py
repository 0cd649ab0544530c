# SPDX-License-Identifier: GPL-2.0-only
"""Two real recordings: their comparison, and one of them as a trace."""
import json
import pathlib

import pytest

import perfetto
import pfstat

PAGES = 512
READ_ALL = """
import mmap
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    data.madvise(mmap.{advice})
    sum(data[page * mmap.PAGESIZE] for page in range({pages}))
"""


def record(recording, path, advice):
    """Reads every page in the file in order, with a cold cache."""
    pfstat.drop_cache()
    script = READ_ALL.format(path=path, advice=advice, pages=PAGES)
    pfstat.run(pfstat.PFDRIVE, "record", "-o", recording, "--file", path, "--",
               "python3", "-c", script)


def compare(*arguments):
    process = pfstat.run(pfstat.PFDRIVE, "compare", "--format", "json", *arguments, check=False)
    return process.returncode, json.loads(process.stdout)


def row(result, klass, measure):
    return next(r for r in result["rows"] if (r["class"], r["measure"]) == (klass, measure))


@pytest.fixture(name="recordings", scope="module")
def fixture_recordings():
    """One recording with read-ahead and one without, made once."""
    pfstat.load()
    path = pfstat.make_file(pfstat.DISK / "compare", PAGES * pfstat.PAGE, b"a")
    made = {}
    for name, advice in (("with", "MADV_NORMAL"), ("without", "MADV_RANDOM")):
        made[name] = f"/tmp/{name}.pfs"
        record(made[name], path, advice)
    return made


def test_same_recording_twice_has_no_change(recordings):
    status, result = compare("--threshold", "0", recordings["with"], recordings["with"])
    assert status == 0 and result["change"] is False
    judged = [r for r in result["rows"] if r["difference_percent"] is not None]
    assert judged and all(r["difference_percent"] == 0 for r in judged)


@pytest.mark.smoke
def test_reading_without_read_ahead_is_a_change(recordings):
    status, result = compare("--threshold", "5", recordings["with"], recordings["without"])
    assert status == 3 and result["change"] is True
    disk = row(result, "disk", "faults")
    assert disk["verdict"] == "change"
    # Each page is read separately, instead of many at a time.
    assert disk["b"] == PAGES and disk["a"] <= PAGES / 8
    assert row(result, "disk", "major")["b"] == PAGES


def tracks_of(trace):
    """The slices of each thread or lane, parents before their children."""
    tracks = {}
    for each in trace.slices:
        tracks.setdefault(each.thread, []).append(each)
    for slices in tracks.values():
        slices.sort(key=lambda each: each.start_ns)     # stable
    return tracks


def check_nesting(slices):
    """Perfetto drops a slice crossing the end of an open one."""
    stack = []
    for each in slices:
        while stack and stack[-1].end_ns <= each.start_ns:
            stack.pop()
        assert not stack or each.end_ns <= stack[-1].end_ns, (each, stack[-1])
        if each.category == "part":
            assert stack[-1].category == "fault"
        stack.append(each)


def has_open(tracks, arrow, category):
    return any(each.start_ns <= arrow.ns < each.end_ns and each.category == category
               for each in tracks[arrow.thread])


def time_of(slices):
    return sum(each.end_ns - each.start_ns for each in slices)


@pytest.mark.smoke
def test_trace_nests_and_its_arrows_meet(recordings):
    path = pathlib.Path("/tmp/run.pftrace")
    pfstat.run(pfstat.PFDRIVE, "report", recordings["without"], "--format", "perfetto", "-o", path)
    trace = perfetto.read(path)
    tracks = tracks_of(trace)
    for slices in tracks.values():
        check_nesting(slices)
    faults = trace.of("fault")
    assert len([each for each in faults if each.name == "disk"]) == PAGES
    # The parts fill their faults to the nanosecond.
    assert time_of(trace.of("part")) == time_of(
        each for each in faults if len(each.arguments.get("parts", ())) > 1)
    # A request completing before the thread sleeps has no arrow: a few requests, a tenth of them on
    # four emulated CPUs, most on the debug kernel.
    slept = [each for each in faults if "device_ns" in each.arguments.get("parts", ())]
    assert trace.starts.keys() == trace.ends.keys() and trace.starts
    assert len(trace.starts) + trace.end["arrows_left_out"] == len(slept)
    for ident, start in trace.starts.items():
        end = trace.ends[ident]
        assert start.ns <= end.ns
        assert has_open(tracks, start, "block")
        assert has_open(tracks, end, "fault")
    assert "damage" not in trace.end

# SPDX-License-Identifier: GPL-2.0-only
"""Two real recordings: their comparison, and one of them as a trace."""
import json

import pytest

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
    """Reads every page of the file in order, with a cold cache."""
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


def nanoseconds(us):
    return round(us * 1000)


def slices_of(events):
    """For each track its slices (start, end, event), parents before their children."""
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            start = nanoseconds(event["ts"])
            tracks.setdefault((event["pid"], event["tid"]), []).append(
                (start, start + nanoseconds(event["dur"]), event))
    for slices in tracks.values():
        slices.sort(key=lambda s: s[0])     # stable, so that parents stay before their children
    return tracks


def check_nesting(slices):
    """Perfetto drops a slice that crosses the end of an open one."""
    stack = []
    for start, end, event in slices:
        while stack and stack[-1][1] <= start:
            stack.pop()
        assert not stack or end <= stack[-1][1], (event, stack[-1][2])
        if event["cat"] == "part":
            assert stack[-1][2]["cat"] == "fault"
        stack.append((start, end, event))


def has_open(slices, ns, category):
    return any(start <= ns < end and event["cat"] == category for start, end, event in slices)


@pytest.mark.smoke
def test_trace_nests_and_its_arrows_meet(recordings):
    path = "/tmp/trace.json"
    pfstat.run(pfstat.PFDRIVE, "report", recordings["without"], "--format", "trace", "-o", path)
    with open(path) as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    tracks = slices_of(events)
    for slices in tracks.values():
        check_nesting(slices)
    disk = [e for e in events if e.get("cat") == "fault" and e["name"] == "disk"]
    assert len(disk) == PAGES
    # The parts fill their faults to the nanosecond.
    assert sum(nanoseconds(e["dur"]) for e in events if e.get("cat") == "part") == sum(
        nanoseconds(e["dur"]) for e in events
        if e.get("cat") == "fault" and len(e["args"].get("parts", ())) > 1)
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    # A request that completes before its thread sleeps has no arrow: a few requests, a tenth of
    # them on four emulated CPUs, most on the debug kernel.
    slept = [e for e in events
             if e.get("cat") == "fault" and "device_ns" in e["args"].get("parts", ())]
    assert starts.keys() == ends.keys() and starts
    assert len(starts) + trace["otherData"]["arrows_left_out"] == len(slept)
    for ident, start in starts.items():
        end = ends[ident]
        assert start["ts"] <= end["ts"]
        assert has_open(tracks[start["pid"], start["tid"]], nanoseconds(start["ts"]), "block")
        assert has_open(tracks[end["pid"], end["tid"]], nanoseconds(end["ts"]), "fault")
    assert trace["otherData"]["damage"] is None

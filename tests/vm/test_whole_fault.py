# SPDX-License-Identifier: GPL-2.0-only
"""eBPF records the whole of each fault: handle_mm_fault(), not only the calls in it."""
import collections
import subprocess

import pytest

import pfstat
from test_fault_sources import PROGRAM, dump

pytestmark = pytest.mark.no_module

FILE_PAGES = 1024
RETRY = 0x400


class Recording:
    """For PROGRAM, by eBPF alone."""

    def __init__(self, folder, program=PROGRAM):
        self.file = pfstat.make_file(pfstat.DISK / "whole", FILE_PAGES * pfstat.PAGE)
        recording = folder / "run.pfs"
        words = {"file": self.file, "workload": pfstat.BUILD / "workload",
                 "touch": pfstat.BUILD / "touch_pages", "rare": pfstat.BUILD / "rare_faults"}
        shell = subprocess.Popen(["sh", "-c", "read line;" + program], stdin=subprocess.PIPE,
                                 text=True, stdout=subprocess.DEVNULL,
                                 env={name: str(word) for name, word in words.items()})
        process = pfstat.begin_record("--source", "ebpf", "--ring-size", "16M", "-o", recording,
                                      "-p", shell.pid)
        assert process.poll() is None, process.communicate()
        shell.communicate("\n", timeout=pfstat.PATIENCE)
        _, errors = process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 0, errors
        self.report = pfstat.report(recording)
        self.records = dump(recording)
        self.events, self.totals = collections.defaultdict(list), {}
        lines = pfstat.run(pfstat.BUILD / "records_dump", recording, "faults").stdout
        for row in map(str.split, lines.splitlines()):
            if row[0] == "event":
                self.events[row[1]].append((int(row[6]), int(row[4]), int(row[5])))
            else:
                self.totals[tuple(row[1:4])] = int(row[4]), int(row[5])

    def spans(self):
        """(tid, start, end) for each handle_mm_fault() in a recorded file, by thread and time."""
        of_records = [(r["tid"], r["start_ns"] - r["before_ns"],
                       r["start_ns"] - r["before_ns"] + r["fault_ns"])
                      for r in self.records if r["fault_ns"]]
        return sorted(of_records + self.events["hooked"])

    def hooked(self):
        """The number and the time of these, as counted by eBPF."""
        rows = [total for key, total in self.totals.items() if key[0] == "hooked"]
        return tuple(map(sum, zip(*rows)))

    def without_time(self):
        """The number of records possibly without a fault time: the kernel skipped the program for
        the fault's end, after two calls at most."""
        return 2 * self.report["events_skipped"] if pfstat.may_skip() else 0


@pytest.fixture(name="recording", scope="module")
def fixture_recording(tmp_path_factory):
    recording = Recording(tmp_path_factory.mktemp("whole"))
    pfstat.assert_nothing_lost(recording.report)
    return recording


def end_of(record):
    return record["start_ns"] + record["duration_ns"]


def test_the_last_call_of_each_fault_has_its_time(recording):
    """Each fault's time is recorded once, in a record or in an event."""
    number, total = recording.hooked()
    spans = recording.spans()
    assert number > 2000
    assert (len(spans), sum(end - start for _, start, end in spans)) == (number, total)
    assert len(recording.events["hooked"]) < number / 10


def test_a_fault_encloses_its_calls_and_no_other_fault(recording):
    spans = recording.spans()
    for (tid, _, end), (next_tid, start, _) in zip(spans, spans[1:]):
        assert tid != next_tid or end <= start
    ends = {(tid, start): end for tid, start, end in spans}
    starts = collections.defaultdict(list)
    for tid, start, _ in spans:
        starts[tid].append(start)
    outside = []
    for record in recording.records:
        start = max((at for at in starts[record["tid"]] if at <= record["start_ns"]), default=None)
        if end_of(record) > ends.get((record["tid"], start), 0):
            outside.append(record)
    assert len(outside) <= recording.without_time(), outside[:3]


def test_only_a_call_that_another_one_follows_lacks_the_time(recording):
    calls = sorted(recording.records, key=lambda record: (record["tid"], record["start_ns"]))
    without = [(call, following) for call, following in zip(calls, calls[1:] + [None])
               if not call["fault_ns"]]
    assert len(without) > 100
    late = 0
    for call, following in without:
        if not following or following["tid"] != call["tid"] or \
                following["start_ns"] - following["before_ns"] > call["start_ns"]:
            late += 1
            continue
        assert following["address"] == call["address"]
        assert (call["op"], following["op"]) in (("map_pages", "fault"), ("fault", "page_mkwrite"))
    assert late <= recording.without_time()


def test_a_write_to_a_shared_page_is_one_of_user_mode(recording):
    writes = [record for record in recording.records if record["op"] == "page_mkwrite"]
    assert len(writes) > 200
    user, write, mkwrite = 0x40, 0x1, 0x2
    assert {record["flags"] & (user | write | mkwrite) for record in writes} == {user | write}


@pytest.mark.needs(pfstat.KERNEL >= (6, 4), "the lock of a VMA")
def test_a_fault_that_makes_no_call_leaves_an_event(tmp_path):
    """The first private write under a VMA lock is repeated if the lock of all mappings, which the
    write also needs, is not free."""
    recording = Recording(tmp_path, "$rare contended $file 1000")
    pfstat.assert_nothing_lost(recording.report)
    number, total = recording.hooked()
    spans = recording.spans()
    assert (len(spans), sum(end - start for _, start, end in spans)) == (number, total)
    retried = sum(count for key, (count, _) in recording.totals.items()
                  if key[0] == "hooked" and key[2] == "retry")
    calls = sum(record["result"] & RETRY != 0 for record in recording.records)
    assert retried - calls == len(recording.events["hooked"]) > 0

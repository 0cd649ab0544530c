# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive's callers on this machine, and the program native_faults' report about native_faults' own
faults."""
import collections
import contextlib
import csv
import ctypes
import functools
import io
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import complaints
import pfstat

# Debian's Python: another python may come first in PATH, and be a script.
PYTHON = pathlib.Path("/usr/bin/python3")
NOBODY = 65534
PROGRAMS = (pfstat.PFDRIVE, pfstat.PFBENCH, pfstat.BUILD / "native/native_faults",
            pfstat.BUILD / "native/first_touches", pfstat.BUILD / "overlapping_faults")
COMPLAINTS = pathlib.Path(__file__).parents[1] / "complaints"

Range = collections.namedtuple("Range", "name tid address pages minor major since")


def ranges_of(text):
    """The native_faults lines, with their fields in Range."""
    words = [line.split() for line in text.splitlines() if line.startswith("range ")]
    return [Range(name, int(tid), int(address, 16), *map(int, counts))
            for _, name, tid, address, *counts in words]


def folder_of_all():
    """A folder on a disk that every user can enter, with the programs."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pfstat-native-", dir="/var/tmp"))
    folder.chmod(0o755)
    for program in (*PROGRAMS, *(pfstat.BUILD / "complaints").iterdir(),
                    *COMPLAINTS.glob("*.py")):
        shutil.copy(program, folder)
    return folder


def is_in(row, touched):
    """Whether it is a fault in this range, and not in a mapping the loader had there."""
    return int(row["start_ns"]) >= touched.since and touched.address <= int(row["address"], 16) < \
        touched.address + touched.pages * pfstat.PAGE


def evict(path):
    """Makes the file cold. A test ends here on a file system that is in memory."""
    pfstat.evict(path)
    with pfstat.Mapping(path) as mapping:
        resident = ctypes.create_string_buffer(-(-mapping.size // pfstat.PAGE))
        assert not pfstat.LIBC.mincore(ctypes.c_void_p(mapping.address),
                                       ctypes.c_size_t(mapping.size), resident)
    if any(page & 1 for page in resident.raw):
        pytest.xfail("this file system keeps the pages of its files in memory")


class Recording:
    """A recording, the recorded program's output, and pfdrive's messages."""

    def __init__(self, caller, path, process=None):
        self.caller, self.path = caller, path
        self.ranges = ranges_of(process.stdout) if process else []
        self.messages = process.stderr if process else ""

    def print(self, *options):
        return self.caller.run("report", *options, self.path).stdout

    def report(self, *options):
        """JSON, checked against the schema."""
        return pfstat.report_of(self.print("--format", "json", *options))

    @functools.cached_property
    def rows(self):
        """The fields of all faults, as text."""
        return list(csv.DictReader(io.StringIO(self.print("--format", "faults-csv"))))

    def rows_of(self, touched):
        """The range's process's faults in the range."""
        pid, = {row["pid"] for row in self.rows if int(row["tid"]) == touched.tid}
        return [row for row in self.rows if row["pid"] == pid and is_in(row, touched)]


class Caller:
    """Root, or an ordinary user running pfdrive with perf's events in a folder of their own."""

    def __init__(self, name, folder):
        self.name, self.programs = name, folder
        self.is_root = name == "root"
        self.folder = folder / name
        # With sudo, pfdrive would run programs as the sudo user.
        self.options = {"cwd": self.folder, "env": {
            word: text for word, text in os.environ.items() if not word.startswith("SUDO_")}}
        self.folder.mkdir()
        if os.geteuid() == 0 and not self.is_root:
            os.chown(self.folder, NOBODY, NOBODY)
            self.options |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        # all: it also sees faults in system calls. user: it does not. Or the error's name.
        self.sampling = self.run_program("native_faults", "sampling").stdout.strip()

    def may_sample(self):
        return self.sampling in ("all", "user")

    def program(self, name):
        return self.programs / name

    def run_program(self, name, *words, **kwargs):
        return pfstat.run(self.program(name), *words, **self.options, **kwargs)

    def run(self, *words, **kwargs):
        return self.run_program("pfdrive", *words, **kwargs)

    def refused(self, status, *words):
        """pfdrive's only message. pfdrive prints nothing else and has this exit status."""
        return pfstat.refused(status, *words, program=self.program("pfdrive"), **self.options)

    @contextlib.contextmanager
    def started(self, name, *words, terminal=None):
        """A running program, killed at the end of the block unless it has ended. It has pipes, or a
        terminal for input and output."""
        ends = {"stdin": terminal or subprocess.PIPE, "stdout": terminal or subprocess.PIPE}
        process = subprocess.Popen([self.program(name), *map(str, words)], text=True,
                                   stderr=subprocess.PIPE, **ends, **self.options)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    @contextlib.contextmanager
    def recorder(self, *words):
        """A running `pfdrive record` that watches already, or has failed."""
        with self.started("pfdrive", "record", "--source", "perf", *words) as process:
            pfstat.wait_until(lambda: process.poll() is not None or pfstat.watches(process))
            yield process

    @contextlib.contextmanager
    def new_folder(self):
        """An empty folder owned by the caller."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            shutil.chown(name, self.folder.stat().st_uid, self.folder.stat().st_gid)
            yield pathlib.Path(name)

    def new_file(self, name, pages):
        """A file of the caller in the page cache, on the disk, with no two pages alike."""
        path = self.folder / name
        path.write_bytes(b"".join(page.to_bytes(8, "little") * (pfstat.PAGE // 8)
                                  for page in range(pages)))
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        shutil.chown(path, self.folder.stat().st_uid)
        return path

    def record(self, *command, options=()):
        """Records a program to the end."""
        path = self.folder / "run.pfs"
        path.unlink(missing_ok=True)
        process = self.run("record", "--source", "perf", "--output", path, *options, "--",
                           *command)
        return Recording(self, path, process)

    def record_variant(self, variant):
        """Records a variant of a case, and returns its complaints.Result."""
        path = self.folder / "run.pfs"
        path.unlink(missing_ok=True)
        return complaints.record(variant, self.folder, path, "perf", self.programs, self.options)

    def record_faults(self, *words, options=()):
        """Records native_faults."""
        return self.record(self.program("native_faults"), *words, options=options)


def ledger_of(result):
    """The ledger's counts, and the differences as {(left, right): {reason: amount}}."""
    ledger = result["ledger"]
    return ({row["name"]: row["value"] for row in ledger["counts"]},
            {(row["left"], row["right"]): {reason["name"]: reason["amount"]
                                           for reason in row["reasons"]}
             for row in ledger["differences"]})


def assert_complete(result, hidden=False):
    """Nothing is lost, every ledger difference has its reason, and getrusage() and perf are among
    the compared sources, unless perf does not show faults in system calls. hidden: the program
    takes faults in get_user_pages(), for which perf has no event."""
    assert result["environment"]["source"] == "perf"
    assert result["damage"] is None
    assert result["lost"] == result["events_lost"] == 0
    assert result["events_sent"] == result["events_received"]
    assert result["ledger"]["unexplained"] == 0 or hidden, result["ledger"]
    rows = {row["left"]: row for row in result["ledger"]["differences"]}
    assert not any(row["unexplained"] for left, row in rows.items()
                   if not hidden or left not in ("minflt", "majflt"))
    counts, differences = ledger_of(result)
    assert {("minflt", "minor-faults"), ("majflt", "major-faults")} <= differences.keys()
    solved = counts["faults, minor"] + counts["faults, major"]
    assert solved + counts["faults, failed"] == counts["page-faults"]
    for kind in ("minor", "major"):
        kernel = f"{kind[:3]}flt"
        if rows[kernel]["amount"] is not None:
            assert counts[kernel] - counts[f"faults, {kind}"] == rows[kernel]["unexplained"] + \
                sum(differences[kernel, f"{kind}-faults"].values())


def pages_of(rows, touched):
    return [(int(row["address"], 16) - touched.address) // pfstat.PAGE for row in rows]


def assert_each_page_once(rows, touched, fault_class):
    """Each page in the range has one fault of this class, in touch order."""
    assert pages_of(rows, touched) == list(range(touched.pages))
    assert {(row["class"], row["tid"]) for row in rows} == {(fault_class, str(touched.tid))}
    assert {row["solved"] for row in rows} == {"1"}

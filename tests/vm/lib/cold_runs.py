# SPDX-License-Identifier: GPL-2.0-only
"""Cold runs of programs whose files are on an ext4 file system with its own read_ahead_kb, and what
what-if predicts for them from one recording."""
import contextlib
import csv
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pfstat

PAGES = 16384
RECORDED_KIB = 128
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


class Disk:
    """The mounted file system. Its read-ahead can be set."""

    def __init__(self, folder, device):
        self.folder = folder
        self.data = folder / "data"
        self.libraries = folder / "lib"
        self.setting = pathlib.Path(f"/sys/block/{device.name}/queue/read_ahead_kb")

    def read_ahead(self, kib):
        self.setting.write_text(str(kib), encoding="ascii")

    def fill(self, pages=PAGES):
        self.data.write_bytes(os.urandom(pages * pfstat.PAGE))
        os.sync()

    def copy(self, program):
        """The program's copy, with its libraries."""
        path = pathlib.Path(shutil.which(program)).resolve()
        copy = self.folder / pathlib.Path(program).name
        shutil.copy(path, copy)
        self.libraries.mkdir(exist_ok=True)
        for library in re.findall(r"=> (/\S+)", pfstat.run("ldd", path).stdout):
            shutil.copy(library, self.libraries)
        os.sync()
        return copy

    def cold(self):
        for path in (*self.folder.glob("*"), *self.libraries.glob("*")):
            if path.is_file():
                pfstat.evict(path)

    def touch(self, pattern, *more):
        """The command. tests/vm/progs/cold_touches.c has the patterns."""
        return (pfstat.BUILD / "cold_touches", self.data, pattern, *more)

    def measured(self, *command):
        """Major faults and bytes read, of a cold run."""
        self.cold()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert not process.returncode
        return usage.ru_majflt, 512 * usage.ru_inblock

    def start(self, *command):
        """The command of a copied program."""
        return ("env", f"LD_LIBRARY_PATH={self.libraries}", *command)


@contextlib.contextmanager
def new_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pfstat-disk-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def loop_disk(folder, mebibytes):
    """An ext4 file system on a loop device. An AssertionError if there is none to be had."""
    image, mount = folder / "image", folder / "disk"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(mebibytes << 20)
    pfstat.run("mkfs.ext4", "-q", "-F", image)
    device = pathlib.Path(pfstat.run("losetup", "--show", "-f", image).stdout.strip())
    try:
        pfstat.run("mount", device, mount)
        try:
            yield Disk(mount, device)
        finally:
            pfstat.run("umount", mount)
    finally:
        pfstat.run("losetup", "-d", device)


def can_mount():
    """Root, and a loop device with ext4."""
    if os.geteuid():
        return False
    try:
        with new_folder() as folder, loop_disk(folder, 4):
            return True
    except (AssertionError, OSError):
        return False


@contextlib.contextmanager
def mounted(folder):
    """The disk that is mounted there, without huge pages: since 7.2 khugepaged collapses the pages
    of a mapped file in the middle of a run."""
    device, = [line.split()[0] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
               if line.split()[1] == str(folder)]
    before = re.search(r"\[(\w+)\]", HUGE_PAGES.read_text())[1]
    HUGE_PAGES.write_text("never")
    try:
        yield Disk(folder, pathlib.Path(device))
    finally:
        HUGE_PAGES.write_text(before)


RECORDING = pathlib.Path("/tmp/cold_run.pfs")


def record_cold(disk, command, source, kib, *options):
    disk.read_ahead(kib)
    disk.cold()
    pfstat.run(pfstat.PFDRIVE, "record", "--source", source, *options, "-o", RECORDING, "--",
               *command)


def predicted(disk, command, path, source, settings):
    """what-if's rows by read_ahead_kb, from a recording of a cold run with --exact."""
    record_cold(disk, command, source, RECORDED_KIB, "--exact")
    result = RECORDING.with_suffix(".json")
    pfstat.run(pfstat.PFDRIVE, "what-if", "--file", path, "--json", result, "--read-ahead",
               ",".join(f"{kib}K" for kib in settings), RECORDING)
    rows = pfstat.report_of(result.read_text(encoding="utf-8"), "pfdrive-what-if")["settings"]
    return {row["read_ahead_kb"]: row for row in rows[1:]}


def fault_ns(disk, command, path, source, kib):
    """The time of the faults on the path's files, in a cold run."""
    record_cold(disk, command, source, kib)
    rows = csv.DictReader(pfstat.run(pfstat.PFDRIVE, "report", "--format", "faults-csv",
                                     RECORDING).stdout.splitlines())
    return sum(int(row["duration_ns"]) for row in rows if row["file"].startswith(str(path)))

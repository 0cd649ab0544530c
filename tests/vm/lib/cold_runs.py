# SPDX-License-Identifier: GPL-2.0-only
"""Cold runs of programs whose files are on an ext4 file system with its own read_ahead_kb, and what
what-if predicts for them from one recording."""
import contextlib
import csv
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pfstat

PAGES = 16384
RECORDED_KIB = 128

# Reads a byte of pages of a file, and prints the major faults and the bytes read meanwhile.
TOUCH = """
import mmap, random, resource, sys, time
path, pattern, advice, wait = sys.argv[1:]
with open(path, "rb") as file:
    data = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
pages = len(data) // 4096
draw = random.Random(1)
order = {"sequence": lambda: range(pages),
         "stride": lambda: range(0, pages, 20),
         "random": lambda: [draw.randrange(pages) for _ in range(1500)],
         "runs": lambda: [page for first in [draw.randrange(pages) for _ in range(400)]
                          for page in range(first, min(pages, first + 1 + first % 24))],
         "backward": lambda: range(pages // 4, -1, -1),
         "lookups": lambda: [page for _ in range(700)
                             for page in (pages - 1 - draw.randrange(16),
                                          pages // 2 + draw.randrange(256),
                                          draw.randrange(pages // 2))]}[pattern]()
order = list(order)
if advice != "none":
    data.madvise(getattr(mmap, advice))
before = resource.getrusage(resource.RUSAGE_SELF)
for page in order:
    data[page * 4096]
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_majflt - before.ru_majflt, 512 * (after.ru_inblock - before.ru_inblock))
time.sleep(int(wait))
"""


class Disk:
    """The mounted file system. Its read-ahead can be set."""

    def __init__(self, folder, device):
        self.folder = folder
        self.data = folder / "data"
        self.libraries = folder / "lib"
        self.block = pathlib.Path(f"/sys/block/{device.name}")
        self.setting = self.block / "queue/read_ahead_kb"

    def read_ahead(self, kib):
        self.setting.write_text(str(kib), encoding="ascii")

    def bytes_read(self):
        return 512 * int((self.block / "stat").read_text(encoding="ascii").split()[2])

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

    def touch(self, pattern, advice="none", wait=0):
        """The command."""
        return (sys.executable, "-c", TOUCH, self.data, pattern, advice, str(wait))

    def measured(self, pattern, advice="none"):
        """Major faults and bytes read, of a cold run."""
        self.cold()
        return tuple(map(int, subprocess.run(self.touch(pattern, advice), capture_output=True,
                                             text=True, check=True).stdout.split()))

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


def lab_disk():
    """The lab's disk, with its file system as it is."""
    device, = [line.split()[0] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
               if line.split()[1] == str(pfstat.DISK)]
    return Disk(pfstat.DISK, pathlib.Path(device))


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


@dataclasses.dataclass(frozen=True)
class ColdRun:
    major: int
    bytes: int
    ns: int


def measured(disk, command, path, source, kib):
    """A cold run, recorded: the faults on the path's files, and the bytes read from the disk."""
    before = disk.bytes_read()
    record_cold(disk, command, source, kib)
    read = disk.bytes_read() - before
    rows = [row for row in csv.DictReader(
        pfstat.run(pfstat.PFDRIVE, "report", "--format", "faults-csv",
                   RECORDING).stdout.splitlines()) if row["file"].startswith(str(path))]
    return ColdRun(sum(row["major"] == "1" for row in rows), read,
                   sum(int(row["duration_ns"]) for row in rows))

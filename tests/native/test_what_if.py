# SPDX-License-Identifier: GPL-2.0-only
"""what-if: predictions from one recording, against cold runs on an ext4 file system with its own
read_ahead_kb, on a loop device."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import native
import pfstat

PAGE = 4096
PAGES = 16384
READ_AHEAD = (0, 32, 128, 512, 2048)

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
                          for page in range(first, min(pages, first + 1 + first % 24))]}[pattern]()
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
        self.python = folder / "python"
        self.setting = pathlib.Path(f"/sys/block/{device.name}/queue/read_ahead_kb")

    def read_ahead(self, kib):
        self.setting.write_text(str(kib), encoding="ascii")

    def fill(self):
        self.data.write_bytes(os.urandom(PAGES * PAGE))
        shutil.copy(native.PYTHON.resolve(), self.python)
        os.sync()

    def cold(self):
        native.evict(self.data)
        native.evict(self.python)

    def touch(self, pattern, advice="none", wait=0):
        """The command."""
        return (native.PYTHON, "-c", TOUCH, self.data, pattern, advice, str(wait))

    def measured(self, pattern, advice="none"):
        self.cold()
        return tuple(map(int, subprocess.run(self.touch(pattern, advice), capture_output=True,
                                             text=True, check=True).stdout.split()))


@contextlib.contextmanager
def mounted(folder, mebibytes):
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


@contextlib.contextmanager
def new_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pfstat-disk-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def can_mount():
    if os.geteuid():
        return False
    try:
        with new_folder() as folder, mounted(folder, 4):
            return True
    except (AssertionError, OSError):
        return False


pytestmark = [pytest.mark.parametrize("caller", ["root"], indirect=True),
              pytest.mark.needs(can_mount(), "root, and a loop device with ext4")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with new_folder() as folder, mounted(folder, 160) as disk:
        disk.fill()
        yield disk


@pytest.fixture(name="root")
def fixture_root(caller):
    return caller


def what_if(caller, recording, *options):
    """The settings by read_ahead_kb and advice, and the whole."""
    path = caller.folder / "what_if.json"
    caller.run("what-if", "--json", path, *options, recording.path)
    result = pfstat.report_of(path.read_text(encoding="utf-8"), "pfdrive-what-if")
    return {(row["read_ahead_kb"], row["advice"]): row for row in result["settings"][1:]}, result


def assert_close(predicted, measured, share, few):
    assert abs(predicted - measured) <= max(share * measured, few), (predicted, measured)


@pytest.mark.parametrize("pattern", ["sequence", "stride", "random", "runs"])
def test_prediction_equals_cold_runs(root, disk, pattern):
    disk.read_ahead(128)
    disk.cold()
    exact = root.record(*disk.touch(pattern), options=("--exact",))
    rows, result = what_if(root, exact, "--file", disk.data)
    assert result["exact"]
    for kib in READ_AHEAD:
        disk.read_ahead(kib)
        major, read = disk.measured(pattern)
        assert_close(rows[kib, None]["major_faults"], major, 0.02, 2)
        assert_close(rows[kib, None]["bytes_read"], read, 0.02, 0)
    disk.read_ahead(128)
    for advice in ("random", "sequential"):
        major, read = disk.measured(pattern, f"MADV_{advice.upper()}")
        assert_close(rows[128, advice]["major_faults"], major, 0.02, 2)
        assert_close(rows[128, advice]["bytes_read"], read, 0.02, 0)


def test_advice_of_the_program_is_that_of_the_recorded_setting(root, disk):
    """perf does not record madvise(2). pfdrive sees the advice after some reads."""
    disk.read_ahead(128)
    disk.cold()
    exact = root.record(*disk.touch("runs", "MADV_RANDOM", wait=3), options=("--exact",))
    rows, result = what_if(root, exact, "--file", disk.data, "--advice", "normal")
    major, read = disk.measured("runs", "MADV_RANDOM")
    assert_close(result["settings"][0]["major_faults"], major, 0.02, 2)
    assert_close(result["settings"][0]["bytes_read"], read, 0.02, 0)
    assert_close(next(iter(rows.values()))["major_faults"], disk.measured("runs")[0], 0.02, 2)
    text = root.run("what-if", "--file", disk.data, exact.path).stdout
    assert "the advice is that which pfdrive saw in mappings that were read much" in text


def test_prediction_equals_cold_starts_of_a_program(root, disk):
    start = (disk.python, "-S", "-c", "pass")
    disk.read_ahead(128)
    disk.cold()
    rows, result = what_if(root, root.record(*start, options=("--exact",)), "--file", disk.python)
    assert result["exact"]
    for kib in READ_AHEAD:
        disk.read_ahead(kib)
        disk.cold()
        _, ordinary = what_if(root, root.record(*start), "--file", disk.python)
        assert_close(rows[kib, None]["major_faults"], ordinary["major_faults"], 0.03, 2)


def test_ordinary_recording_cannot_tell_less_read_ahead(root, disk):
    disk.read_ahead(128)
    disk.cold()
    ordinary = root.record(*disk.touch("runs"))
    rows, result = what_if(root, ordinary, "--file", disk.data)
    assert not result["exact"]
    for key in ((0, None), (32, None), (128, "random"), (128, "sequential")):
        assert rows[key]["major_faults"] is None
        assert "fault-around hides accesses" in rows[key]["cannot"]
    text = root.run("what-if", "--file", disk.data, ordinary.path).stdout
    assert "Cannot predict 2 settings: fault-around hides accesses, and less read-ahead" in text
    disk.read_ahead(512)
    assert_close(rows[512, None]["major_faults"], disk.measured("runs")[0], 0.1, 2)


def test_warm_ordinary_recording_predicts_nothing(root, disk):
    disk.read_ahead(128)
    disk.measured("sequence")
    warm = root.record(*disk.touch("runs"))
    done = root.run("what-if", "--file", disk.data, warm.path, check=False)
    assert done.returncode == 1
    assert "its pages were cached before" in done.stderr

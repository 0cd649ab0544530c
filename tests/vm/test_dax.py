# SPDX-License-Identifier: GPL-2.0-only
"""DAX: the program maps device pages. The handler installs them itself, so a record has no frame.
Without a page cache there is nothing to wait for."""
import collections
import os

import pytest

import filesystems
import pfstat
from filesystems import touch, value_of
from pfstat import PAGE, Session

pytestmark = pytest.mark.needs(filesystems.has_persistent_memory(),
                               "memory that is taken for persistent: tools/lab run --pmem")

PAGES = 256
NOPAGE = 0x100


@pytest.fixture(scope="module", name="place")
def fixture_place():
    with filesystems.dax() as place:
        yield place


@pytest.fixture(name="path")
def fixture_path(place):
    path = place.folder / "file"
    path.write_bytes(b"".join(map(filesystems.page_of, range(PAGES))))
    return path


def check(touched, path, steps):
    """Each page has a fault of its own, with one record and without a frame."""
    assert touched.values() == {page: value_of(page) for page in steps}
    assert touched.head["lost"] == 0 and touched.head["records"] == len(touched.records)
    assert {r["inode"] for r in touched.records} == {os.stat(path).st_ino}
    faults = [r for r in touched.records if r["op"] == "fault"]
    assert [r["pgoff"] for r in faults] == list(steps)
    assert {r["class"] for r in faults} == {"long"}
    assert all(r["result"] & NOPAGE and r["pfn"] is pfstat.NO_PFN for r in faults)
    assert {r["class"] for r in touched.records if r["op"] == "huge_fault"} <= {"pass"}
    assert (touched.minor, touched.major) == (len(faults), 0)


def test_every_page_is_a_fault_without_a_frame(path):
    check(touch(path, "read", range(PAGES)), path, range(PAGES))


def test_fault_around_does_not_apply(path):
    check(touch(path, "read", range(PAGES), option="-a"), path, range(PAGES))


def test_shared_and_private_writes_are_recorded(path):
    touched = touch(path, "write", range(8))
    assert set(touched.values().values()) == {0xee}
    assert {r["class"] for r in touched.records} <= {"long", "mkwrite", "pass"}
    assert path.read_bytes()[::PAGE][:9] == bytes([0xee] * 8 + [value_of(8)])


def test_unmounts_at_once_after_stop(place, path):
    with Session("fault_around off") as session:
        with pfstat.Mapping(path) as mapping:
            session.command(f"file {mapping.fd()}")
            assert mapping.read(3) == value_of(3)
            session.command("stop")
            assert pfstat.hooked() == 0
        place.unmount()
    place.mount()


def test_huge_faults_are_recorded(place):
    """One fault for each 2 MiB that is aligned on the device, otherwise one for each page."""
    path = place.folder / "large"
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 4 << 20)
        file.write(bytes(4 << 20))
    touched = touch(path, "read", range(1024))
    kinds = collections.Counter((r["op"], r["class"]) for r in touched.records)
    huge = kinds["huge_fault", "long"]
    assert huge + kinds["huge_fault", "pass"] == 2
    assert kinds["fault", "long"] == (2 - huge) * 512
    assert touched.minor == huge + kinds["fault", "long"] and touched.major == 0
    path.unlink()


def test_pfdrive_counts_each_page_without_reads(path):
    result = pfstat.drive("--pattern", "random", path)
    assert result["environment"]["filesystem"] == "ext4"
    assert result["environment"]["device"] == "pmem0"
    assert result["classes"]["long"]["count"] == result["pages_touched"] == PAGES
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    assert result["requests"]["reads"] == result["readahead"]["read"] == 0

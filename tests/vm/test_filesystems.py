# SPDX-License-Identifier: GPL-2.0-only
"""Every supported file system: the records cover all calls of the handler, the counts add up, the
program sees the same as without pfstat, and nothing is held afterwards. Unsupported file systems
are refused or skipped."""
import mmap
import os
import pathlib
import random
import signal

import pytest

import filesystems
import pfstat
from filesystems import make_cold, touch, value_of
from pfstat import PAGE, Mapping, Session, mapped_by

PAGES = 256
ERROR_RESULT = 0x2      # VM_FAULT_SIGBUS
MAJOR, RETRY = 0x4, 0x400
TRIED = 0x20
BUS_ADRERR = 2
SEQUENTIAL = list(range(PAGES))
RANDOM = random.Random(7).sample(SEQUENTIAL, PAGES)


# Those with the test's own device, and among them those reporting their block addresses.
WITH_DEVICE = [name for name in filesystems.here() if name != "nfs"]
SAY_WHERE = [name for name in WITH_DEVICE if name in ("ext4", "xfs")]


@pytest.fixture(scope="module", name="place", params=filesystems.here())
def fixture_place(request):
    with filesystems.mounted(request.param) as place:
        yield place


@pytest.fixture(name="cold")
def fixture_cold(place):
    return place.file("file", PAGES)


def mkwrites_alone(records):
    """The calls forming a fault of their own, because the page was mapped for reading before."""
    return [r for before, r in zip([None] + records, records) if r["op"] == "page_mkwrite"
            and not (before and before["op"] == "fault" and before["pgoff"] == r["pgoff"])]


def closes(touched, path):
    """Checks the identities valid on any file system. Returns the solved faults."""
    head, records = touched.head, touched.records
    assert head == {"records": len(records), "here": len(records), "lost": 0}
    assert touched.stats["calls"] == len(records)
    assert {r["inode"] for r in records} == {os.stat(path).st_ino}
    # These calls returned without the page. Others mapped it.
    retried = [r for r in records if r["result"] & RETRY]
    assert {r["class"] for r in retried} <= {"disk", "wait", "readahead", "lock"}
    apart = pfstat.classes(records)
    solved = [r for r in records if not r["result"] & RETRY
              and r["class"] not in ("pass", "error", "mkwrite")]
    assert len(retried) + len(solved) + apart["pass"] + apart["error"] + apart["mkwrite"] == \
        len(records)
    assert {r["earlier_ns"] for r in records} - {0} <= {r["start_ns"] for r in records}
    # The kernel's own count for the same faults, and the kernel's major fault count.
    major = [r for r in solved if r["result"] & MAJOR or r["flags"] & TRIED]
    minor = len(solved) - len(major) + len(mkwrites_alone(records))
    assert (touched.minor, touched.major) == (minor, len(major))
    return solved


@pytest.mark.parametrize("steps", [SEQUENTIAL, RANDOM], ids=["sequential", "random"])
def test_counts_of_a_cold_file_add_up(place, cold, steps):
    touched = touch(cold, "read", steps)
    assert touched.values() == {page: value_of(page) for page in steps}
    solved = closes(touched, cold)
    assert pfstat.classes(touched.records)["disk"] >= 1
    # The kernel first tries a huge page on xfs, except on 6.1. xfs has none.
    assert {r["op"] for r in touched.records if r["class"] != "pass"} == {"fault"}
    # Every page was mapped by the page's own fault or with another page's folio, none twice.
    assert sorted(page for r in solved for page in mapped_by(r)) == SEQUENTIAL
    assert pfstat.hooked() == 0
    assert filesystems.resident(cold) == PAGES


def test_a_record_has_the_pages_that_its_fault_mapped(place, cold):
    """Checked against the page tables: one page, or a whole large folio."""
    there = set()
    pfstat.warm(cold)       # read in order, so that the folios become as large as possible
    with Mapping(cold) as mapping, Session("fault_around off") as session:
        session.command(f"file {mapping.fd()}")
        for number, page in enumerate(RANDOM[:64]):
            mapping.read(page)
            now = filesystems.present(mapping, PAGES)
            records = [r for r in pfstat.log()[1] if r["class"] in ("long", "short")]
            if page in there:
                continue
            assert now - there == set(mapped_by(records[-1])), (number, records[-1])
            there = now


def test_counts_with_fault_around_add_up(place, cold):
    touched = touch(cold, "read", SEQUENTIAL, option="-a")
    solved = closes(touched, cold)
    assert "map_pages" in {r["op"] for r in solved}
    assert len(solved) < PAGES


def test_a_warm_file_is_not_read(place, cold):
    pfstat.warm(cold)
    touched = touch(cold, "read", RANDOM)
    solved = closes(touched, cold)
    # The kernel first tries a huge page on XFS if the mapping has space for one: see below.
    assert len(solved) == len([r for r in touched.records if r["op"] != "huge_fault"])
    assert touched.major == 0


def test_unmounts_at_once_after_stop(place, cold):
    """The file, the file system and the file system module are not held."""
    with Session("fault_around off") as session:
        with Mapping(cold) as mapping:
            session.command(f"file {mapping.fd()}")
            assert pfstat.hooked() == 1
            assert mapping.read(3) == value_of(3)
            session.command("stop")
            assert pfstat.hooked() == 0
        place.unmount()
    place.mount()
    assert closes(touch(cold, "read", [0, 1, 2]), cold)


def test_shared_writes_are_recorded(place, cold):
    touched = touch(cold, "write", range(8))
    assert set(touched.values().values()) == {0xee}
    closes(touched, cold)
    ops = pfstat.classes(touched.records)
    # If a whole folio is mapped for writing, the file system is called once.
    assert ops["mkwrite"] == 8 or any("f" in r["facts"] for r in touched.records)
    assert all(r["op"] == "page_mkwrite" for r in touched.records if r["class"] == "mkwrite")
    with open(cold, "rb") as file:
        assert [file.read(PAGE)[:2] for _ in range(9)] == \
            [bytes([0xee, value_of(page)]) for page in range(8)] + [bytes([value_of(8)] * 2)]


def test_a_write_after_a_read_is_only_a_mkwrite(place, cold):
    pfstat.warm(cold)
    with Mapping(cold, write=True) as mapping, Session("fault_around off") as session:
        session.command(f"file {mapping.fd()}")
        mapping.read(3)
        mapping.write(3)
    # 7.2 also tries a huge page on XFS here.
    assert [r["op"] for r in pfstat.log()[1] if r["class"] != "pass"] == ["fault", "page_mkwrite"]


def test_private_writes_do_not_change_the_file(place, cold):
    touched = touch(cold, "private", range(8))
    solved = closes(touched, cold)
    assert len(solved) == 8 and all("c" in r["facts"] for r in solved)
    assert cold.read_bytes()[:8 * PAGE] == b"".join(map(filesystems.page_of, range(8)))


def test_a_file_truncated_while_mapped_gives_sigbus(place):
    """SIGBUS reaches the program as without pfstat, and a record reports it."""
    steps = [0, 5, 9, "cut=5", 0, 4, 5, 9]
    seen = {}
    for option in (None, "-p", "-a"):
        path = place.file("shrinking", 16)
        touched = touch(path, "read", steps, option)
        seen[option] = touched.lines
        if option:
            closes(touched, path)
            errors = [r for r in touched.records if r["class"] == "error"]
            assert [(r["op"], r["pgoff"]) for r in errors] == [("fault", 5), ("fault", 9)]
            assert all(r["result"] & ERROR_RESULT and r["pfn"] is pfstat.NO_PFN for r in errors)
    assert seen["-p"] == seen["-a"] == seen[None]
    assert touched.signals() == [(page, signal.SIGBUS, BUS_ADRERR, page) for page in (5, 9)]


def test_holes_read_as_zeros_and_are_filled_by_writes(place):
    path = place.folder / "sparse"
    path.unlink(missing_ok=True)
    with open(path, "wb") as file:
        for page in (0, 100, 200):
            file.seek(page * PAGE)
            file.write(filesystems.page_of(page))
        file.truncate(PAGES * PAGE)
    make_cold(path)
    touched = touch(path, "read", RANDOM)
    assert touched.values() == {page: value_of(page) if page in (0, 100, 200) else 0
                                for page in SEQUENTIAL}
    solved = closes(touched, path)
    assert sorted(page for r in solved for page in mapped_by(r)) == SEQUENTIAL
    written = touch(path, "write", [50, 100, 150])
    assert set(written.values().values()) == {0xee}
    closes(written, path)
    content = path.read_bytes()
    assert [content[page * PAGE] for page in (49, 50, 100, 150, 200)] == \
        [0, 0xee, 0xee, 0xee, value_of(200)]


@pytest.mark.parametrize("place", WITH_DEVICE, indirect=True, scope="module")
def test_device_errors_are_recorded_and_passed_on(place, cold):
    """Cached pages still work, others give SIGBUS, as without pfstat. Afterwards all pages work
    again."""
    with open(cold, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        assert os.pread(file.fileno(), 1, 0)[0] == value_of(0)
    with place.failing():
        plain = touch(cold, "read", [0, 100], option=None)
        touched = touch(cold, "read", [0, 200])
        recorded, _ = pfstat.record(pfstat.BUILD / "touch_pages", cold, "read", 0, 150)
    assert plain.signals() == [(100, signal.SIGBUS, BUS_ADRERR, 100)]
    assert touched.signals() == [(200, signal.SIGBUS, BUS_ADRERR, 200)]
    assert touched.values() == plain.values() == {0: value_of(0)}
    closes(touched, cold)
    errors = [r for r in touched.records if r["class"] == "error"]
    assert [r["pgoff"] for r in errors] == [200]
    assert errors[0]["result"] & ERROR_RESULT and errors[0]["pfn"] is pfstat.NO_PFN
    assert touched.stats["error"] == 1
    assert recorded["classes"]["error"]["count"] == 1
    assert recorded["ledger"]["unexplained"] == 0, recorded["ledger"]
    again = touch(cold, "read", RANDOM)
    assert again.values() == {page: value_of(page) for page in RANDOM}
    closes(again, cold)


@pytest.mark.parametrize("place", WITH_DEVICE, indirect=True, scope="module")
def test_page_whose_first_read_failed_is_a_disk_fault(place, cold):
    """ext4 keeps the page in the cache, not up to date. The next fault reads it, without MAJOR."""
    with place.failing():
        assert touch(cold, "read", [200]).signals()
    again = touch(cold, "read", [200])
    assert again.values() == {200: value_of(200)}
    closes(again, cold)
    records = [r for r in again.records if r["class"] != "pass"]
    assert [r["class"] for r in records] == ["disk", "short"]
    assert place.name != "ext4" or not records[0]["result"] & MAJOR


@pytest.mark.parametrize("place", SAY_WHERE, indirect=True, scope="module")
def test_one_bad_page_does_not_affect_others(place, cold):
    """The neighbours' read fails with it and is repeated for each folio."""
    with place.failing(*filesystems.blocks_of(cold, 70)):
        touched = touch(cold, "read", SEQUENTIAL)
    bad = [page for page, *_ in touched.signals()]
    assert touched.signals() == [(page, signal.SIGBUS, BUS_ADRERR, page) for page in bad]
    begins = [(70 // size * size, size) for size in (1, 2, 4, 8, 16, 32, 64)]
    assert bad in [list(range(begin, begin + size)) for begin, size in begins]
    assert touched.values() == {page: value_of(page) for page in SEQUENTIAL if page not in bad}
    closes(touched, cold)
    assert [r["pgoff"] for r in touched.records if r["class"] == "error"] == bad


@pytest.mark.parametrize("place", WITH_DEVICE, indirect=True, scope="module")
def test_pfdrive_reports_a_failing_device(place, cold):
    with place.failing():
        result = pfstat.run(pfstat.PFDRIVE, cold, check=False)
    assert result.returncode == 1 and result.stdout == ""
    assert "the disk fails" in result.stderr and result.stderr.count("\n") == 1


def test_processes_that_map_a_file_are_found(cold):
    """The kernel's mappings are compared, since stat(2) reports another device number on btrfs."""
    options = ("record", "--no-bpf", "--file", cold, "--duration", "0.1")
    assert "no process maps" in pfstat.refused(1, *options)
    with open(cold, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        pfstat.run(pfstat.PFDRIVE, *options)


def readahead_of(place):
    """From sysfs. btrfs has its own read-ahead, NFS has no device."""
    if place.name == "overlay":
        return None
    if place.name == "btrfs":
        return 4 << 20
    if place.device:
        path = f"/sys/block/{place.device.path.name}/queue/read_ahead_kb"
    else:
        path = f"/sys/class/bdi/{filesystems.device_of(place.folder)}/read_ahead_kb"
    return 1024 * int(pathlib.Path(path).read_text())


@pytest.mark.parametrize("around", ["off", pytest.param("keep", marks=pytest.mark.long)])
def test_pfdrive_works_from_end_to_end(place, cold, around):
    result = pfstat.drive("--pattern", "random", "--fault-around", around, cold)
    environment = result["environment"]
    assert environment["filesystem"] == {"nfs": "nfs4"}.get(place.name, place.name)
    assert environment["file"] == str(cold)
    assert environment["resident_pages"] == 0
    has_device = place.name not in ("overlay", "nfs")
    assert environment["device"] == (place.device.path.name if has_device else None)
    assert environment["readahead_bytes"] == readahead_of(place)
    pfstat.assert_nothing_lost(result)
    assert result["pages_touched"] == PAGES
    assert result["calls"] == sum(c["count"] for c in result["classes"].values())
    assert result["rusage"]["minflt"] + result["rusage"]["majflt"] == result["faults"]
    if around == "off":     # the number of pages mapped by fault-around is not reported
        assert sum(c["pages"] or 0 for c in result["parts"]["classes"].values()) == PAGES


def test_huge_faults_are_passed_on(place):
    """The kernel first tries a huge page on XFS, which has none. 6.1 and other file systems do not
    try.
    """
    path = place.file("large", 1024)
    pfstat.warm(path)
    touched = touch(path, "read", range(0, 1024, 64))
    closes(touched, path)
    huge = [r for r in touched.records if r["op"] == "huge_fault"]
    assert {r["class"] for r in huge} <= {"pass"}
    assert not huge or place.name == "xfs"
    # With pages of 16 KiB, a huge page has 32 MiB, and another mapping may be in the same.
    if place.name == "xfs" and pfstat.PAGE == 4096:
        assert bool(huge) == (pfstat.KERNEL > (6, 1))
    path.unlink()

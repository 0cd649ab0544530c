# SPDX-License-Identifier: GPL-2.0-only
"""overlayfs: a mapping belongs to the lower file, with the lower file's vm_ops, and after a copy-up
to another file. test_filesystems.py tests the behaviour shared by all file systems."""
import os

import pytest

import filesystems
import pfstat
from filesystems import touch, value_of
from pfstat import PAGE, Mapping, Session


@pytest.fixture(scope="module", name="place")
def fixture_place():
    with filesystems.overlay() as place:
        yield place


def merge(place, pages):
    """A lower folder's file: the path in the overlay, there, and after a copy-up."""
    below = filesystems.Place("ext4", place.below / "lower", None)
    path = place.folder / "from-below"
    path.unlink(missing_ok=True)
    lower = below.file("from-below", pages)
    place.unmount()     # drops overlayfs's cached data for the lower folder
    (place.below / "upper/from-below").unlink(missing_ok=True)
    place.mount()
    return path, lower, place.below / "upper/from-below"


@pytest.fixture(name="merged")
def fixture_merged(place):
    return merge(place, 16)


def test_a_mapping_of_an_overlay_belongs_to_the_lower_file(merged):
    path, lower, _ = merged
    touched = touch(path, "read", range(16))
    assert touched.values() == {page: value_of(page) for page in range(16)}
    assert touched.head["records"] == len(touched.records) > 0
    assert {(r["dev"], r["inode"]) for r in touched.records} == \
        {(filesystems.device_of(lower), os.stat(lower).st_ino)}


def test_a_copied_up_file_is_another_file(merged):
    """A mapping from before keeps the lower file. A later open gets the upper one."""
    path, lower, upper = merged
    with Mapping(path) as before, Mapping(path, write=True) as after:
        assert upper.exists()
        with Session("fault_around off", f"pid {os.getpid()} now"):
            after.write(3, 77)
            assert before.read(3) == value_of(3)
        _, records = pfstat.log()
    assert [(r["op"], r["pgoff"]) for r in pfstat.of_file(records, upper)
            if r["class"] in ("long", "short", "mkwrite")] == \
        [("fault", 3), ("page_mkwrite", 3)]
    assert {r["pgoff"] for r in pfstat.of_file(records, lower)} == {3}
    assert upper.read_bytes()[3 * PAGE] == 77 and lower.read_bytes()[3 * PAGE] == value_of(3)


def test_a_descriptor_from_before_the_copy_up_names_the_file(merged):
    path, lower, _ = merged
    with Mapping(path) as before:
        with open(path, "r+b"):
            pass
        with Session("fault_around off", f"file {before.fd()}"):
            assert pfstat.hooked() == 1
            before.read(2)
    assert {r["pgoff"] for r in pfstat.of_file(pfstat.log()[1], lower)} == {2}


def test_record_has_the_reads_of_a_copy_up(place):
    """eBPF events carry the mapped inode, not the stat(2) one."""
    path, _, upper = merge(place, 512)
    with open(path, "r+b"):
        pass
    assert os.stat(upper).st_ino != os.stat(path).st_ino
    pfstat.drop_cache()
    result, _ = pfstat.record(pfstat.BUILD / "workload", "now", path,
                              options=("--fault-around", "off", "--file", path))
    assert 16 < result["faults"] <= 512     # later kernels map a large folio at once
    # When the first request ends, nothing is known yet to belong to the file.
    assert 512 - 64 <= result["readahead"]["mapped"] < 512, result["readahead"]


def test_only_selects_the_lower_file_and_its_copy(merged):
    """`only` selects by the overlay's file, whichever file is mapped for it."""
    path, lower, upper = merged
    with open(path, "rb") as named, Mapping(path) as before, Session() as session:
        session.command(f"only {named.fileno()}")
        session.command("fault_around off")
        session.command(f"pid {os.getpid()}")
        with Mapping(path, write=True) as after:
            before.read(2)
            after.write(3)
        _, records = pfstat.log()
    assert {r["pgoff"] for r in pfstat.of_file(records, lower)} == {2}
    assert {r["pgoff"] for r in pfstat.of_file(records, upper)} == {3}
    assert {r["inode"] for r in records} == {os.stat(lower).st_ino, os.stat(upper).st_ino}

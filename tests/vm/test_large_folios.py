# SPDX-License-Identifier: GPL-2.0-only
"""Faults mapping many pages: a common ext4, with large folios if the kernel's ext4 has them. Page
counts add up with and without them."""
import pytest

import pfstat
from pfstat import PAGE, Mapping, Session, mapped_by

# Smaller than a huge page: if a mapping has room for one, khugepaged of 7.2 unmaps all pages within
# 10 s to collapse them, and they fault again.
PAGES = 256


@pytest.fixture(name="plain_file")
def fixture_plain_file():
    with pfstat.mounted_disk("plain", 100_000, features=()) as folder:
        path = pfstat.make_file(folder / "file", PAGES * PAGE)
        pfstat.drop_cache()
        yield path


def touched_in_order(path):
    """The records of a process reading each page once, and the page frames."""
    with Mapping(path) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}"):
            for page in range(PAGES):
                mapping.read(page)
        frames = [pfstat.pagemap_pfn(mapping.address + page * PAGE) for page in range(PAGES)]
    return pfstat.log()[1], frames


def test_the_disk_of_the_other_tests_has_single_pages(small_file):
    pfstat.warm(small_file)
    records, _ = touched_in_order(pfstat.make_file(pfstat.DISK / "single", PAGES * PAGE))
    assert {r["order"] for r in records} == {0}
    assert len([r for r in records if r["pfn"] is not pfstat.NO_PFN]) == PAGES


def test_records_have_the_touched_page_and_its_folio_size(plain_file):
    pfstat.warm(plain_file)
    records, frames = touched_in_order(plain_file)
    assert {r["class"] for r in records} == {"long"}
    for record in records:
        assert record["pfn"] == frames[record["pgoff"]]
        # A folio's pages are contiguous.
        for page in mapped_by(record):
            assert frames[page] - frames[record["pgoff"]] == page - record["pgoff"]


def test_every_page_is_mapped_by_one_fault_or_with_its_folio(plain_file):
    """A folio is mapped in several pieces at most, and no page lacks a fault reporting it."""
    pfstat.warm(plain_file)
    records, _ = touched_in_order(plain_file)
    assert {page for record in records for page in mapped_by(record)} == set(range(PAGES))
    if not any(record["order"] for record in records):
        assert len(records) == PAGES
    else:
        assert len(records) < PAGES


def test_page_counts_of_the_driver_add_up(plain_file):
    result = pfstat.drive("--pattern", "sequential", "--fault-around", "off", plain_file)
    assert result["lost"] == 0
    assert result["pages_touched"] == PAGES
    assert result["readahead"]["read"] == result["readahead"]["mapped"] == PAGES
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    rusage = result["rusage"]
    assert rusage["minflt"] + rusage["majflt"] == result["faults"] <= PAGES

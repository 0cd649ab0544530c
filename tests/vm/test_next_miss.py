# SPDX-License-Identifier: GPL-2.0-only
"""Which kernels and file systems have the defect in Documentation/internals/next_miss.rst: a large
folio makes page_cache_next_miss() report a wrong page, so read-ahead stops or leaves a hole."""
import contextlib
import pathlib
import resource

import pytest

import filesystems
import pfstat
from pfstat import PAGE

LARGE_FOLIOS_SINCE = {"ext4": (6, 16), "xfs": (5, 18)}
WINDOW = 8
# Pages. Together smaller than a huge page: khugepaged of 7.2 would collapse the file's pages.
STREAM = 250
ORDINARY = ("100", "102", "104"), ["96-103", "104-111", "112-119"]
INTERLEAVED = ("100", "102", "400", "104")

pytestmark = [pytest.mark.no_module, pytest.mark.deterministic]


@contextlib.contextmanager
def file_on(name, *options):
    """A file on a new file system whose read-ahead window is small."""
    folder = pathlib.Path("/mnt/next_miss")
    folder.mkdir(exist_ok=True)
    with pfstat.null_disk("next_miss", filesystems.MEGABYTES[name], 0) as device:
        setting = pathlib.Path(f"/sys/block/{device.name}/queue/read_ahead_kb")
        setting.write_text(str(WINDOW * PAGE >> 10), encoding="ascii")
        pfstat.run(*filesystems.MKFS[name], *options, device)
        pfstat.run("mount", device, folder)
        try:
            yield pfstat.make_file(folder / "file", 2 * STREAM * PAGE)
        finally:
            pfstat.run("umount", folder)


def pages_read(path, touched):
    """What each touch read, as next_miss prints it."""
    pfstat.evict(path)
    lines = pfstat.run(pfstat.BUILD / "next_miss", path, *touched).stdout.splitlines()
    assert tuple(line.partition(":")[0] for line in lines) == touched
    return [line.partition(":")[2].strip() for line in lines]


def misses_of_two_streams(path):
    """Touches a page of each half in turn. Returns the major faults."""
    pfstat.evict(path)
    with pfstat.Mapping(path) as mapping:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        for page in range(STREAM):
            mapping.read(page)
            mapping.read(STREAM + page)
        return resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before


def has_large_folios(name):
    return pfstat.KERNEL >= LARGE_FOLIOS_SINCE[name]


def test_streams_in_single_pages_continue():
    with file_on("ext4", *pfstat.SINGLE_PAGES) as path:
        assert pages_read(path, ORDINARY[0]) == ORDINARY[1]
        assert pages_read(path, INTERLEAVED) == ["96-103", "104-111", "396-403", "112-119"]
        assert misses_of_two_streams(path) == 2


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[
        pytest.mark.needs(name in filesystems.here(), name),
        pytest.mark.needs(has_large_folios(name), f"large folios of {name}")])
    for name in LARGE_FOLIOS_SINCE])
def test_large_folios_end_read_ahead_or_leave_holes(name):
    with file_on(name) as path:
        if pfstat.KERNEL >= (6, 16):
            assert pages_read(path, ORDINARY[0]) == ORDINARY[1]
            assert pages_read(path, INTERLEAVED) == ["96-103", "104-111", "396-403", ""]
            assert pages_read(path, ("102", "104", "400", "106")) == \
                ["98-105", "106-111", "396-403", "113-119"]
            assert pages_read(path, ("100", "102", "105")) == ["96-103", "104-111", ""]
            assert misses_of_two_streams(path) > 10
        else:
            # The first window has folios of 4 pages, too. Three pages are left out.
            assert pages_read(path, ("100", "102", "104")) == ["96-103", "107-114", "104-106"]

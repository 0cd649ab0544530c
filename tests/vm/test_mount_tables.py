# SPDX-License-Identifier: GPL-2.0-only
"""Each source knows the file system of a file, and the verdict names the server that has its
pages."""
import os
import sys

import pytest

import filesystems
import pfstat
from pfstat import PFDRIVE

PAGES = 256
# In order, so read-ahead fetches most pages, and the thread waits for a page and not for a read.
READS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print(sum(data[::mmap.PAGESIZE]))
"""
SOURCES = [pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")),
           "ebpf", "perf"]
each_source = pytest.mark.parametrize("source", SOURCES)


def report_of(source, path, folder):
    filesystems.make_cold(path)
    recording = folder / "run.pfs"
    recording.unlink(missing_ok=True)
    pfstat.run(PFDRIVE, "record", "--source", source, "-o", recording, "--", sys.executable, "-c",
               READS, path)
    return pfstat.report_of(pfstat.run(PFDRIVE, "report", "--format", "json", "--by", "file",
                                       "--top", "0", recording).stdout)


def mount_of(report, path):
    """The file with this inode."""
    row = max((row for row in report["groups"]["rows"] if row["inode"] == os.stat(path).st_ino),
              key=lambda row: row["faults"])
    return row["filesystem"], row["mount_source"]


def server_causes(report):
    return [cause["text"] for cause in report["verdict"]["causes"]
            if cause["rule"] == "remote-server"]


@pytest.fixture(scope="module", name="place", params=filesystems.here())
def fixture_place(request):
    with filesystems.mounted(request.param) as place:
        yield place


@each_source
def test_file_has_type_and_source_of_its_mount(place, source, tmp_path):
    path = place.file("mounted", PAGES)
    found = mount_of(report_of(source, path, tmp_path), path)
    if place.name == "nfs":
        assert found == ("nfs4", "10.213.7.2:/")
    elif place.name == "overlay":
        # The file below has the pages. perf has its number only on some kernels.
        below = "ext4", str(place.device.path)
        assert found == below or (source == "perf" and found == ("overlay", "overlay"))
    else:
        assert found == (place.name, str(place.device.path))


# A cause is a share of the time, which a busy host changes.
@pytest.mark.deterministic
@each_source
def test_reads_through_fuse_wait_for_the_server_and_others_do_not(source, tmp_path):
    with filesystems.fuse() as fuse:
        below = fuse.below / "mounted"
        below.write_bytes(os.urandom(16 * PAGES * pfstat.PAGE))
        path = fuse.folder / "mounted"
        report = report_of(source, path, tmp_path)
        assert mount_of(report, path) == ("fuse", "pfstat")
        text, = server_causes(report)
        assert f"waited for the FUSE server: {path} is on fuse (pfstat)." in text
        report = report_of(source, below, tmp_path)
        assert mount_of(report, below)[0] == "ext4"
        assert not server_causes(report)

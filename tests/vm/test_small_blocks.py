# SPDX-License-Identifier: GPL-2.0-only
"""A file system whose blocks are smaller than pages, as ext4 on a kernel with pages of 16 KiB: a page
may lie in several places on the disk, and then needs several requests."""
import pytest

import pfstat
from pfstat import PAGE

PAGES = 128
BLOCK = PAGE // 4
# At these pages, two pieces of the file meet at the page's third block.
CUT = range(8, PAGES, 8)


pytestmark = pytest.mark.needs(PAGE > 4096, "pages that are larger than 4 KiB")


@pytest.fixture(name="in_pieces", params=[128, 0], ids=["read_ahead", "single_pages"])
def fixture_in_pieces(request):
    """The file, and the disk's read-ahead in KiB."""
    with pfstat.mounted_disk("in_pieces", 100_000, request.param, block_bytes=BLOCK) as folder:
        path = pfstat.make_file(folder / "file", PAGES * PAGE + len(CUT) * BLOCK)
        for page in CUT:
            pfstat.run("fallocate", "--collapse-range", "--offset", page * PAGE + 2 * BLOCK,
                       "--length", BLOCK, path)
        assert path.stat().st_size == PAGES * PAGE
        pfstat.drive("--accesses", "10", path)      # from now on, pfdrive itself is in the cache
        yield path, request.param


def places_on_disk(path):
    """[(first block in the file, blocks)] for each piece of a file."""
    lines = pfstat.run("filefrag", "-v", f"-b{BLOCK}", path).stdout.splitlines()
    pieces = [line.split(":") for line in lines if line.split(":")[0].strip().isdigit()]
    return [(int(words[1].split("..")[0]), int(words[3])) for words in pieces]


def test_the_file_has_pieces_that_meet_within_pages(in_pieces):
    path, _ = in_pieces
    assert {4 * page + 2 for page in CUT} <= {first for first, _ in places_on_disk(path)}


@pytest.mark.parametrize("source", ("module", "ebpf"))
def test_each_page_is_read_once(in_pieces, source):
    """No wait is foreign, since each request is known to be for the page a fault waits for."""
    path, read_ahead = in_pieces
    result = pfstat.drive("--source", source, "--pattern", f"stride:{PAGE}", "--accesses", PAGES,
                          "--cache", "cold", path)
    figures = result["readahead"]
    # With read-ahead, a fault may map the pages around a partly read one. The analysis takes this
    # page for mapped, and the other part for another read.
    assert 0 <= figures["read"] - PAGES <= (len(CUT) if read_ahead else 0)
    assert (figures["mapped"], figures["evicted_unused"]) == (figures["read"], 0)
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    disk = result["parts"]["classes"]["disk"]
    assert disk["parts"]["foreign"]["total_ns"] == 0
    if not read_ahead:
        assert disk["count"] == PAGES

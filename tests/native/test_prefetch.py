# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive prefetch make: the pages that an exact recording touched, and no others."""
import pytest

import pfstat

PAGES = 4096
STEP = 3577  # of first_touches
MEBIBYTE = 256  # pages: an extent ends there


@pytest.fixture(name="file")
def fixture_file(caller):
    path = caller.new_file("prefetch.data", PAGES)
    yield path
    path.unlink()


def touch(caller, file, *options):
    return caller.record(caller.program("first_touches"), file, options=options)


def make(caller, recording):
    """What make prints, and the listed pages of each file."""
    path = caller.folder / "start.list"
    text = caller.run("prefetch", "make", recording.path, "-o", path).stdout
    return text, pfstat.listed_pages(path)


def touched_pages(recording):
    """The pages that faulted, by path."""
    pages = {}
    for row in recording.rows:
        if row["file"].startswith("/") and row["solved"] == "1":
            pages.setdefault(row["file"], set()).add(int(row["page"]))
    return pages


def test_the_list_of_an_exact_recording_has_the_touched_pages_in_order(caller, file):
    recording = touch(caller, file, "--exact")
    text, listed = make(caller, recording)
    assert "Exact recordings: 1 of 1\n" in text
    assert "Recordings by perf" not in text and "Mapped around" not in text
    first = {}
    for touch_number in range(PAGES):
        first.setdefault(touch_number * STEP % PAGES // MEBIBYTE, touch_number)
    extents = sorted(first, key=first.get)
    assert listed[str(file)] == [page for extent in extents for page in
                                 range(extent * MEBIBYTE, (extent + 1) * MEBIBYTE)]
    for path, pages in touched_pages(recording).items():
        assert "pfdrive-exact" in path or len(listed[path]) == len(pages) and \
            set(listed[path]) == pages, path
    assert "pfdrive-exact" not in "".join(listed) + recording.messages


def test_an_exact_recording_that_missed_a_program_is_an_ordinary_one(caller):
    recording = caller.record("env", "-i", "/bin/sh", "-c", "/bin/true", options=("--exact",))
    process = caller.run("prefetch", "make", recording.path, "-o", caller.folder / "start.list")
    assert "is taken for an ordinary recording" in process.stderr
    assert "Exact recordings: 0 of 1\n" in process.stdout
    assert "Recordings by perf: 1." in process.stdout

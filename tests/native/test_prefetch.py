# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive prefetch make: the pages that an exact recording touched, and no others."""
import json

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


def export(caller, path, *options):
    to = caller.folder / "nydus.json"
    text = caller.run("prefetch", "export", path, *options, "-o", to).stdout
    return text, json.loads(to.read_text(encoding="utf-8"))


def test_the_export_for_nydus_has_the_extents_of_the_files_below_the_root(caller, file):
    """The format is in docs/nydusify.md of Nydus: [offset, size] are the ranges of a file."""
    _, listed = make(caller, touch(caller, file, "--exact"))
    _, exported = export(caller, caller.folder / "start.list")
    assert exported["version"] == "v1" and exported.keys() == {"version", "files"}
    assert [entry["path"] for entry in exported["files"]] == list(listed)
    for entry in exported["files"]:
        assert entry.keys() == {"path", "ranges"}
        assert [page for offset, size in entry["ranges"] for page in
                range(offset // pfstat.PAGE, -(-(offset + size) // pfstat.PAGE))] == \
            listed[entry["path"]]
    text, exported = export(caller, caller.folder / "start.list", "--root", caller.folder)
    assert [entry["path"] for entry in exported["files"]] == ["/" + file.name]
    assert f"left out: {len(listed) - 1} files" in text


def test_an_export_without_a_file_below_the_root_fails(caller, file, empty):
    make(caller, touch(caller, file, "--exact"))
    message = caller.refused(1, "prefetch", "export", caller.folder / "start.list", "--root", empty,
                             "-o", caller.folder / "nydus.json")
    assert "no file of it is below" in message

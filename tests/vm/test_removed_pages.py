# SPDX-License-Identifier: GPL-2.0-only
"""Pages leave memory, and the program needs them again. The report names the process that removed
them, and its call. Memory is too small only if nothing requested the removal. The cause depends on
the time of swap-ins beside that of first touches, which a busy host makes long."""
import re

import pytest

import pfstat

PROGRAM = pfstat.BUILD / "removed_pages"
MIB = 1 << 20
BYTES = 12 * MIB
PAGES = BYTES // pfstat.PAGE

pytestmark = pytest.mark.needs(pfstat.KERNEL >= (6, 1), "memory.reclaim")


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")), "ebpf"])
def fixture_source(request):
    return request.param


@pytest.fixture(name="group")
def fixture_group():
    group = pfstat.cgroup("removed", "memory")
    yield group
    group.rmdir()


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with pfstat.mounted_disk("removed", 100_000) as disk:
        pfstat.make_file(disk / "file", BYTES)
        yield disk


@pytest.fixture(name="file")
def fixture_file(disk):
    pfstat.evict(disk / "file")
    return disk / "file"


def record(source, *words, group=None):
    enter = f"echo 0 >{group}/cgroup.procs; " if group else ""
    result, _ = pfstat.record("sh", "-c", enter + 'exec "$@"', "sh", PROGRAM, *words,
                              options=("--source", source))
    pfstat.assert_nothing_lost(result)
    return result


def check(result, reason, call, evictor, anon):
    """Most pages were removed for this reason. Returns the text of all causes."""
    rows = [row for row in result["evictions"]["blame"] if row["anon"] == anon]
    most = max(rows, key=lambda row: row["pages"])
    assert (most["reason"], most["call"], most["evictor_name"]) == (reason, call, evictor), rows
    assert most["pages"] > PAGES * 0.8, rows
    text = "\n".join(cause["text"] for cause in result["verdict"]["causes"])
    assert (reason == "reclaimed") == bool(re.search("memory was too small|limit", text)), text
    return text


@pytest.mark.deterministic
def test_memory_that_the_program_pages_out(source):
    result = record(source, "anon", "pageout")
    text = check(result, "dropped", "madvise", "removed_pages", True)
    assert "the program itself dropped pages with madvise(), and" in text, text


@pytest.mark.deterministic
def test_memory_that_another_process_has_reclaimed(source, group):
    # The whole group: the program and the agent, whose own pages are few.
    agent = f"echo {2 * BYTES} >{group}/memory.reclaim; true"
    result = record(source, "anon", agent, group=group)
    text = check(result, "proactive", "write", "sh", True)
    assert "requested reclaim (a write to memory.reclaim)" in text, text


@pytest.mark.deterministic
def test_memory_that_a_limit_swaps_out(source, group):
    (group / "memory.max").write_text(str(BYTES // 2))
    result = record(source, "anon", "true", group=group)
    check(result, "reclaimed", None, "removed_pages", True)


@pytest.mark.parametrize("command,call,evictor", [
    ("fadvise", "fadvise64", "removed_pages"),
    ("echo 1 >/proc/sys/vm/drop_caches", "write", "sh")])
def test_a_file_that_a_call_drops(source, file, command, call, evictor):
    result = record(source, file, command)
    check(result, "dropped", call, evictor, False)


def test_a_file_in_a_group_that_is_reclaimed(source, file, group):
    result = record(source, file, f"echo {2 * BYTES} >{group}/memory.reclaim; true", group=group)
    check(result, "proactive", "write", "sh", False)

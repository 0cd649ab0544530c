# SPDX-License-Identifier: GPL-2.0-only
"""The kernels differing in one reclaim decision (tools/kernels/policy.patch): one activates a page
found in use again, the other evicts it."""
import os
import pathlib
import sys

import pytest

import pfstat

READAHEAD = pathlib.Path("/sys/block/nullb0/queue/read_ahead_kb")
LRU_GEN = pathlib.Path("/sys/kernel/mm/lru_gen/enabled")
HOT_PAGES, COLD_PAGES, ROUNDS = 512, 8192, 4
# Cold pages between two accesses of the hot ones: these are used more often than all memory turns
# over.
STEP = COLD_PAGES // 16
PROGRAM = f"""
import mmap, os, resource, sys
def map_file(path):
    return mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)
def majflt():
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
# Used by two mappings: reclaim asks no more, also where a TLB keeps the second use from it.
hot, also, cold = map_file(sys.argv[1]), map_file(sys.argv[1]), map_file(sys.argv[2])
again = 0
for step in range({COLD_PAGES * ROUNDS} // {STEP}):
    before = majflt()
    for page in range({HOT_PAGES}):
        hot[page * {pfstat.PAGE}], also[page * {pfstat.PAGE}]
    again += majflt() - before if step else 0
    for page in range({STEP}):
        cold[(step * {STEP} + page) % {COLD_PAGES} * {pfstat.PAGE}]
print(again)
"""


@pytest.fixture
def two_lists():
    """Like the study's kernel, with an active and an inactive list. A fault reads one page."""
    before = {path: path.read_text() for path in (LRU_GEN, READAHEAD)}
    for path in before:
        path.write_text("0")
    yield
    for path, text in before.items():
        path.write_text(text)


def compete():
    """(hot pages read again, pages activated) for a program limited to 16 MiB."""
    hot = pfstat.make_file(pfstat.DISK / "hot", HOT_PAGES * pfstat.PAGE)
    cold = pfstat.make_file(pfstat.DISK / "cold", COLD_PAGES * pfstat.PAGE)
    pfstat.drop_cache()
    group = pfstat.cgroup("policy", "memory")
    (group / "memory.max").write_text(str(16 << 20))
    result = pfstat.run("sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh",
                        sys.executable, "-c", PROGRAM, hot, cold)
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    group.rmdir()
    return int(result.stdout), int(stat["pgactivate"])


def test_kernels_keep_or_evict_pages_in_use(two_lists):
    again, activated = compete()
    print(f"{os.uname().release}: {again} hot pages read again, {activated} pages activated")
    if os.uname().release.endswith("-policy"):
        assert activated < HOT_PAGES // 10 and again > HOT_PAGES
    else:
        assert activated >= HOT_PAGES // 2 and again < HOT_PAGES // 2

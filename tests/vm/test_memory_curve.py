# SPDX-License-Identifier: GPL-2.0-only
"""How many faults more memory avoids: predicted from one recording, and measured with more."""
import pathlib
import re

import pytest

import pfstat

MIB = 1 << 20
LIMIT = 8 * MIB
MORE = (2 * MIB, 4 * MIB)
FILE = 16 * MIB
ACCESSES = 24000
PATTERNS = ("random", "loop", "hot-and-cold", "skewed", "two processes")
PROGRAM = pfstat.BUILD / "accesses"
LRU_GEN = pathlib.Path("/sys/kernel/mm/lru_gen/enabled")
# For the major faults: the limit also holds page tables, and the order of two processes differs.
TOLERANCE = 0.05
# Of the major faults at the limit, with the memory that avoids all.
FEW = 0.02

pytestmark = [pytest.mark.long, pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with pfstat.mounted_disk("curve", 20_000) as disk:
        for name in ("file", "second"):
            pfstat.make_file(disk / name, FILE)
        yield disk


@pytest.fixture(params=("y", "n"), ids=("generations", "two lists"), scope="module", name="lru")
def fixture_lru(request):
    """Which of the kernel's two LRUs reclaims."""
    if not LRU_GEN.exists():
        pytest.skip("this kernel has one LRU only")
    before = LRU_GEN.read_text()
    LRU_GEN.write_text(request.param)
    yield request.param
    LRU_GEN.write_text(str(int(before, 16) & 1))


def accesses(disk, pattern, memory="anonymous"):
    """The command. disk: the disk with the files; None: access memory."""
    if not disk and pattern == "two processes":
        return f"{PROGRAM} turns random {ACCESSES // 2} anonymous {FILE // 2}"
    if not disk:
        return f"{PROGRAM} {pattern} {ACCESSES} {memory} {FILE}"
    one = f"{PROGRAM} {{}} {ACCESSES} {disk}/{{}}"
    if pattern == "two processes":
        return f"{one.format('random', 'file')} & {one.format('skewed', 'second')}; wait"
    return one.format(pattern, "file")


def majors_of(disk, pattern, limit, record=(), memory="anonymous"):
    """The programs' major faults in a cgroup of their own."""
    group = pfstat.cgroup("curve", "memory")
    try:
        (group / "memory.max").write_text(str(limit))
        for name in ("file", "second") if disk else ():
            pfstat.evict(disk / name)
        output = pfstat.run(*record, "sh", "-c",
                            f"echo 0 >{group}/cgroup.procs; {accesses(disk, pattern, memory)}").stdout
    finally:
        group.rmdir()
    return sum(map(int, re.findall(r"majors=(\d+)", output)))


def point_at(curve, more):
    return min(curve["points"], key=lambda point: abs(point["bytes"] - more))


def record_curve(disk, pattern, memory="anonymous"):
    """The major faults at the limit, and the report's curve."""
    recording = pathlib.Path("/tmp/curve.pfs")
    measured = majors_of(disk, pattern, LIMIT,
                         (pfstat.PFDRIVE, "record", "--source", "ebpf", "-o", recording, "--"),
                         memory)
    report = pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "report", "--format", "json",
                                         recording).stdout)
    return measured, report["evictions"]["more_memory"]


def check_prediction(disk, pattern, lru):
    """Measures with more memory what the recording at the limit predicts. Returns the curve."""
    measured, curve = record_curve(disk, pattern)
    assert curve["regular"] == (pattern == "loop") and not curve["shared"] and curve["one_of"] == 1
    found = {}
    for more in MORE:
        point = point_at(curve, more)
        # The points are MiB apart from the limits by less than one step.
        real = majors_of(disk, pattern, LIMIT + point["bytes"] // pfstat.PAGE * pfstat.PAGE)
        least, most = (measured - curve["faults"] * point[f"faults_{bound}"]
                       for bound in ("most", "least"))
        found[more] = (lru, measured, curve["faults"], least, real, most)
        print(pattern, found[more])
    for _, _, _, least, real, most in found.values():
        assert least * (1 - TOLERANCE) <= real <= most * (1 + TOLERANCE), found
    real = majors_of(disk, pattern, LIMIT + curve["points"][-1]["bytes"])
    found["all"] = (lru, measured, curve["faults"], curve["points"][-1]["bytes"] / MIB, real)
    print(pattern, found["all"])
    assert real <= measured - curve["faults"] + FEW * measured, found
    return curve


@pytest.mark.parametrize("pattern", PATTERNS)
def test_faults_with_more_memory_are_as_predicted(disk, lru, pattern):
    assert check_prediction(disk, pattern, lru)["swap_ins"] == 0


# Without generations, the kernel killed the program of a run at its limit.
@pytest.mark.deterministic
@pytest.mark.parametrize("lru", ["y"], ids=["generations"], indirect=True)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_swap_ins_with_more_memory_are_as_predicted(lru, pattern):
    """From the lab's zram: swap on a disk is read ahead, which no model has."""
    curve = check_prediction(None, pattern, lru)
    assert 0.99 * curve["faults"] <= curve["swap_ins"] <= curve["faults"]
    assert curve["swap_ins_unknown"] < 0.01 * curve["swap_ins"]


@pytest.mark.deterministic
@pytest.mark.parametrize("lru", ["y"], ids=["generations"], indirect=True)
@pytest.mark.parametrize("memory, out", [("pieces", 0), ("inherited", FILE - LIMIT)])
def test_swap_ins_are_in_the_curve(lru, memory, out):
    """A program has a mapping for each page, or memory from an ended process. In the second case,
    only pages that were out at the end of this process return as unknown swap-ins."""
    measured, curve = record_curve(None, "random", memory)
    found = (lru, memory, measured, curve["swap_ins"], curve["swap_ins_unknown"])
    assert curve["swap_ins_unknown"] <= 1.2 * out // pfstat.PAGE + 0.01 * measured, found
    assert 0.99 * measured <= curve["swap_ins"] + curve["swap_ins_unknown"], found


def test_remedy_names_the_memory_that_avoids_all_faults(disk):
    """A loop over a file larger than the memory: half the file does not help."""
    recording = pathlib.Path("/tmp/curve.pfs")
    majors_of(disk, "loop", LIMIT,
              (pfstat.PFDRIVE, "record", "--source", "ebpf", "-o", recording, "--"))
    text = pfstat.run(pfstat.PFDRIVE, "report", recording).stdout
    found = re.search(r"raise the limit: ([\d.]+) MiB more avoid these faults",
                      " ".join(text.split()))
    assert found, text
    more = int(float(found[1]) * MIB)
    assert FILE - LIMIT - MIB <= more <= FILE - LIMIT + 3 * MIB
    assert majors_of(disk, "loop", LIMIT + more) < 1.02 * FILE // pfstat.PAGE

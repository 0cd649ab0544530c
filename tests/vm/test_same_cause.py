# SPDX-License-Identifier: GPL-2.0-only
"""The module, eBPF and perf name the same cause for the same program. So does perf for an ordinary
user who may see the kernel (kernel.perf_event_paranoid 1), where no tracepoint is needed."""
import contextlib
import dataclasses
import pathlib
import shutil

import pytest

import pfstat
import places
import users

PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
EXAMPLE = pathlib.Path(__file__).parents[2] / "Documentation/examples/scan.py"
# With perf, pfdrive looks at the mapping after some reads, on a busy host later.
AND_WAIT = "import sys, time; del sys.argv[0]; exec(open(sys.argv[0]).read()); time.sleep(3)"
MIB = 1 << 20
MODULE = pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module"))

pytestmark = [pytest.mark.one_kernel, pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB")]


@dataclasses.dataclass(frozen=True)
class Program:
    command: tuple              # the first word: a file in the folder of built programs
    rule: str
    place: tuple = ("nothing", {})
    wait: str = None            # what most of the sleeps in faults were for
    user: bool = True           # the user's report names it, too


PROGRAMS = {
    "example": Program(("python3", "-c", AND_WAIT, EXAMPLE, "{file}"), "no-read-ahead", ("file", {})),
    "throttled_writer": Program(
        ("complaints/block_store", "{file}"), "writeback-throttle",
        ("slow_disk", {"megabytes": 16, "dirty_bytes": MIB, "latency_us": 4000}),
        "writeback, because too many pages are dirty"),
    "memory_limit": Program(("complaints/grow", "40"), "reclaim", ("cgroup", {"max": 16 * MIB}),
                            user=False),
    "memory_high": Program(("complaints/grow", "9"), "memory-throttle",
                           ("cgroup", {"high": 8 * MIB, "swap": False}), user=False),
    "mmap_lock": Program(("lock_holder", "protect"), "mmap-lock"),
    "swap": Program(("complaints/near_misses", "pageout", "6", "3072"), "swap"),
}


def each(names):
    """The shares of the time, and so the causes, are the same on a busy host under the instruction
    clock. Only a wait for a lock needs several CPUs."""
    return pytest.mark.parametrize("name", [
        pytest.param(name, marks=() if name == "mmap_lock" else pytest.mark.deterministic)
        for name in names])


@contextlib.contextmanager
def folder_of_user():
    """The programs, for the user."""
    before = PARANOID.read_text()
    PARANOID.write_text("1")
    try:
        with users.user() as home:
            for program in (pfstat.PFDRIVE, EXAMPLE):
                shutil.copy(program, home)
            for program in {program.command[0] for program in PROGRAMS.values()} - {"python3"}:
                (home / program).parent.mkdir(exist_ok=True)
                shutil.copy(pfstat.BUILD / program, home / program)
            yield home
    finally:
        PARANOID.write_text(before)


def assert_named(program, source, folder, pfdrive, recording, **options):
    """The first certain cause of a recording is the program's, and so is the reason of its sleeps.
    """
    name, words = program.place
    with getattr(places, name)(pfstat.DISK, **words) as place:
        if "file" in place.words and place.words["file"].exists():
            place.words["file"].chmod(0o666)
        first, *rest = (str(word).format(**place.words) for word in program.command)
        start = [first] if first == "python3" else [folder / first]
        pathlib.Path(shutil.which(start[0])).read_bytes()       # warm
        pfstat.run(pfdrive, "record", "-o", recording, "--source", source, "--", *place.prefix,
                   *start, *rest, **options)
    result = pfstat.report(recording)
    assert result["lost"] == 0 and result["environment"]["source"] == source
    causes = [cause for cause in result["verdict"]["causes"] if cause["certain"]]
    assert causes and causes[0]["rule"] == program.rule, result["verdict"]
    if program.wait:
        most = max(result["waits"]["stacks"], key=lambda stack: stack["total_ns"])
        assert most["cause"] == program.wait


@pytest.mark.parametrize("source", [MODULE, "ebpf", "perf"])
@each(PROGRAMS)
def test_root_is_told_the_same_cause_by_each_source(name, source, tmp_path):
    assert_named(PROGRAMS[name], source, pfstat.BUILD, pfstat.PFDRIVE, tmp_path / "run.pfs")


@each(name for name, program in PROGRAMS.items() if program.user)
def test_a_user_is_told_the_same_cause(name):
    with folder_of_user() as home:
        assert_named(PROGRAMS[name], "perf", home, home / "pfdrive", home / "run.pfs",
                     user=users.UID, group=users.GID, extra_groups=[])

# SPDX-License-Identifier: GPL-2.0-only
"""Lab d: a program stalls on page faults; its plan.c decides advice, order and prefetching."""
import json
import os
import pathlib
import random
import shutil

from grader.page_cache import evict
from grader.questions import Lab, Wrong

LAB = Lab("d", "make_it_fast", "Make it fast", ("plan.c",))

HERE = pathlib.Path(__file__).parent
TABLE = pathlib.Path("/mnt/disk/table")
TABLE_BYTES = 96 << 20
SECTOR = 512
SECONDS = 10
# The time of the reference plan, by the instruction clock. tests/vm/course_solutions.py checks it.
REFERENCE = json.loads((HERE / "reference.json").read_text(encoding="ascii"))


def make_table(seed):
    """A file with other contents for each seed, so that no sum is known beforehand."""
    if not TABLE.exists():
        content = random.Random(seed).randbytes(1 << 20)
        with TABLE.open("wb") as file:
            for number in range(TABLE_BYTES >> 20):
                file.write(number.to_bytes(8, "little") + content[8:])


def build(box, name, plan):
    """Builds lookups with the grader's own main(), so that only plan.c is the student's."""
    for file in ("lookups.c", "plan.h"):
        shutil.copy(HERE / "skeleton" / file, box.home / file)
    shutil.copy(plan, box.home / f"{name}_plan.c")
    box.compile(name, "lookups.c", f"{name}_plan.c")


def disk_bytes():
    """Bytes that the disk below the table has read so far."""
    device = os.stat(TABLE).st_dev
    path = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
    return int(pathlib.Path(path).read_text(encoding="ascii").split()[2]) * SECTOR


def cold_run(box, name, seed):
    """(the printed sum, seconds, bytes read from the disk) with nothing of the table in memory."""
    # A warm run brings its program and libraries into memory, which are not measured.
    box.must_run(f"./{name}", TABLE, seed, seconds=SECONDS)
    evict(TABLE)
    before = disk_bytes()
    ended = box.must_run(f"./{name}", TABLE, seed, seconds=SECONDS)
    return ended.out, ended.seconds, disk_bytes() - before


def both_runs(box, seed):
    """The runs of the skeleton and of the submission."""
    make_table(seed)
    build(box, "stalled", HERE / "skeleton/plan.c")
    build(box, "submitted", box.home / "plan.c")
    return cold_run(box, "stalled", seed), cold_run(box, "submitted", seed)


def require_same_sum(stalled, submitted):
    if submitted[0] != stalled[0]:
        raise Wrong("it prints another sum than the skeleton: a lookup is missing or wrong")


@LAB.question("speed", 12, "as fast as the reference")
def speed(marks, box, seed):
    stalled, submitted = both_runs(box, seed)
    require_same_sum(stalled, submitted)
    milliseconds = submitted[1] * 1e3
    for factor in (4, 2, 1.5, 1.15):
        limit = REFERENCE["milliseconds"] * factor
        marks.check(3, milliseconds <= limit,
                    f"it takes {milliseconds:.1f} ms, more than {limit:.1f} "
                    f"({factor} times the reference; the skeleton takes {stalled[1] * 1e3:.1f})")


@LAB.question("memory", 4, "reads little that it does not use")
def memory(marks, box, seed):
    stalled, submitted = both_runs(box, seed)
    require_same_sum(stalled, submitted)
    if submitted[1] > stalled[1] * 0.9:
        raise Wrong("it is not faster than the skeleton")
    for factor in (8, 3):
        marks.check(2, submitted[2] <= stalled[2] * factor,
                    f"it reads {submitted[2] >> 10} KiB from the disk, more than {factor} times "
                    f"the {stalled[2] >> 10} that it uses")

# SPDX-License-Identifier: GPL-2.0-only
"""Lab a: accesses of a mapped file, a model of their faults, and statistics.

pfstat counts what the submission's program really did, and it makes the walks that the model must
predict.
"""
import csv
import functools
import json
import os
import pathlib
import random
import re
import statistics
import subprocess

from grader.page_cache import evict
from grader.questions import Lab, Wrong
from grader.report import grade_report

LAB = Lab("a", "page_faults", "Where do page faults go?",
          ("walk.c", "predict.py", "summary.py", "measured.csv", "report.rst"))

HERE = pathlib.Path(__file__).parent
FILE = pathlib.Path("/mnt/disk/study")
RECORDING = pathlib.Path("/run/walk.pfs")
PAGE = 4096
SECONDS = 60
# Name, pattern and cache of each experiment of the page-fault study.
EXPERIMENTS = {"random-cold": ("random", "cold"), "random-warm": ("random", "warm"),
               "sequential": ("sequential", "cold"), "stride-4K": ("stride:4K", "cold"),
               "stride-256K": ("stride:256K", "cold")}
# Half-widths by Student's t for 95 %, by degrees of freedom (any table of the distribution).
STUDENT_T = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262}


def pages_of(seed):
    """The size of the file in pages, which differs from year to year."""
    return 4096 + 512 * (seed % 9)


def make_file(pages):
    FILE.write_bytes(random.Random(pages).randbytes(PAGE) * pages)


def load_pfstat():
    if not pathlib.Path("/sys/module/pfstat").exists():
        subprocess.run(["insmod", os.environ["PFSTAT_KO"]], check=True)


def read_ahead_pages():
    device = FILE.stat().st_dev
    path = pathlib.Path(f"/sys/class/bdi/{device >> 8}:{device & 255}/read_ahead_kb")
    return int(path.read_text(encoding="ascii")) * 1024 // PAGE


def order_of(pattern, pages, seed):
    """The walk of a pattern."""
    if pattern == "random":
        return random.Random(seed).sample(range(pages), pages)
    step = int(pattern.partition(":")[2] or 1)
    return [page for first in range(step) for page in range(first, pages, step)]


def recorded(run, *command):
    """What RUN returns for COMMAND below pfdrive record, and the rows of its faults on FILE."""
    evict(FILE)
    ended = run(*command, wrapper=["pfdrive", "record", "--user", "nobody", "--file", FILE,
                                   "--fault-around", "off", "-o", RECORDING, "--"])
    text = subprocess.run(["pfdrive", "report", "--format", "faults-csv", RECORDING], check=True,
                          text=True, capture_output=True).stdout
    return ended, list(csv.DictReader(text.splitlines()))


def majors(rows):
    return sum(row["major"] == "1" for row in rows)


def walk_of(box, pattern, pages, seed):
    """((major, minor) as printed, the same as counted, pages in the order of their faults)"""
    ended, rows = recorded(functools.partial(box.must_run, seconds=SECONDS), "./walk", FILE,
                           pattern, seed)
    match = re.fullmatch(r"\s*(\d+)\s+(\d+)\s*", ended.out)
    if not match:
        raise Wrong(f"walk {pattern} prints {ended.out[:40]!r} instead of two numbers")
    return (int(match[1]), int(match[2])), (majors(rows), len(rows) - majors(rows)), \
        [int(row["page"]) for row in rows]


@LAB.question("walk", 8, "walks a mapping, and counts its faults")
def walk(marks, box, seed):
    pages = pages_of(seed)
    make_file(pages)
    load_pfstat()
    box.compile("walk", "walk.c")
    orders = []
    for pattern in ("sequential", "stride:64", "random", "random"):
        printed, counted, order = walk_of(box, pattern, pages, seed + len(orders))
        orders.append(order)
        if pattern == "random" and len(orders) == 4:
            break
        right = sorted(order) == list(range(pages)) if pattern == "random" else \
            order == order_of(pattern, pages, seed)
        marks.check(1, right, f"walk {pattern} does not read each page once, in that order")
        marks.check(1, printed == counted, f"walk {pattern} prints {printed[0]} major and "
                    f"{printed[1]} minor faults; there were {counted[0]} and {counted[1]}")
    marks.check(2, orders[2] != orders[3] and orders[2] != sorted(orders[2]),
                "walk random has the same order for two seeds")


def real_reads(box, order):
    """The faults of a walk in this order that start a read and wait for it."""
    program = pathlib.Path("/run/touch_order")
    if not program.exists():
        subprocess.run(["gcc", "-O2", "-o", program, HERE / "touch_order.c"], check=True)
    (box.home / "order").write_text("".join(f"{page}\n" for page in order), encoding="ascii")
    _, rows = recorded(functools.partial(box.must_run, seconds=SECONDS), program, FILE,
                       box.home / "order")
    return sum(row["class"] == "disk" for row in rows)


@LAB.question("predict", 8, "a model of read-ahead predicts the faults that read")
def predict(marks, box, seed):
    pages = pages_of(seed + 1)
    make_file(pages)
    load_pfstat()
    near = random.Random(seed).sample(range(512), 300)
    for name, order in (("sequential", order_of("sequential", pages, seed)),
                        ("stride", order_of(f"stride:{16 + seed % 48}", pages, seed)),
                        ("random", order_of("random", pages, seed)), ("random-near", near)):
        real = real_reads(box, order)
        ended = box.must_run("sh", "-c", f"python3 predict.py {pages} {read_ahead_pages()} <order",
                             seconds=SECONDS)
        if not ended.out.strip().isdigit():
            raise Wrong(f"predict.py prints {ended.out[:40]!r} instead of a number")
        guess = int(ended.out)
        for points, share in ((1, 0.1), (1, 0.01)):
            marks.check(points, abs(guess - real) <= max(share * real, 0.5),
                        f"{name}: it predicts {guess} faults that read, there were {real}: "
                        f"more than {share:.0%} apart")


def summary_of(values):
    """The four figures, None for one that cannot be computed."""
    mean = statistics.fmean(values) if values else None
    if len(values) < 2:
        return mean, None, statistics.median(values) if values else None, None
    deviation = statistics.stdev(values)
    return mean, deviation, statistics.median(values), \
        STUDENT_T[len(values) - 1] * deviation / len(values) ** 0.5


@LAB.question("statistics", 4, "mean, standard deviation, median, confidence")
def figures(marks, box, seed):
    numbers = random.Random(seed)
    for values in ([numbers.gauss(100, 7) for _ in range(10)],
                   [1e9 + numbers.random() for _ in range(5)], [5, 5, 500], [42]):
        (box.home / "values").write_text("".join(f"{value!r}\n" for value in values))
        out = box.must_run("sh", "-c", "python3 summary.py <values", seconds=SECONDS).out.split()
        wanted = summary_of(values)
        right = len(out) == 4 and all(
            word == "n/a" if value is None else _is_near(word, value)
            for word, value in zip(out, wanted))
        marks.check(1, right, f"of {' '.join(f'{value:.6g}' for value in values)} it prints "
                    f"{' '.join(out)[:60] or 'nothing'}; right is "
                    + " ".join("n/a" if value is None else f"{value:.6g}" for value in wanted))


def _is_near(word, value):
    try:
        return abs(float(word) - value) <= 1e-3 * abs(value) + 1e-9
    except ValueError:
        return False


@LAB.question("measure", 5, "the five experiments of the study")
def measure(marks, box, seed):
    make_file(pages_of(seed))
    load_pfstat()
    rows = {row.get("experiment"): row
            for row in csv.DictReader((box.home / "measured.csv").read_text().splitlines())}
    for name, (pattern, cache) in EXPERIMENTS.items():
        text = subprocess.run(["pfdrive", "--pattern", pattern, "--cache", cache, "--fault-around",
                               "off", "--format", "json", FILE], check=True, text=True,
                              capture_output=True).stdout
        real = json.loads(text)["rusage"]
        row = rows.get(name, {})
        right = all(str(row.get(key)).isdigit() and
                    abs(int(row[key]) - real[count]) <= max(0.02 * real[count], 2)
                    for key, count in (("major", "majflt"), ("minor", "minflt")))
        marks.check(1, right, f"{name}: measured.csv has {row.get('major')} major and "
                    f"{row.get('minor')} minor faults; there are {real['majflt']} and "
                    f"{real['minflt']}")


@LAB.question("report", 3, "the report is complete")
def report(marks, box, _seed):
    grade_report(marks, box, 3, EXPERIMENTS)

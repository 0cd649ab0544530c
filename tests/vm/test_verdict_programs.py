# SPDX-License-Identifier: GPL-2.0-only
"""The verdict names the cause that each recipe shows, and names no false cause for ordinary
programs, with an empty page cache and with a full one."""
import importlib.util
import json
import pathlib
import shutil

import pytest

import pfstat
from pfstat import PFDRIVE, record, run

# The rule, and words from the rule's sentence.
RECIPES = {
    "event_loop": ("cpu-wait", "batch_job"),
    "interpreter_start": ("cold-file", "not in the page cache"),
    "kernel_upgrade": ("refaults", "were evicted and read again"),
    "linker_output": ("file-holes", "the file is new or has holes"),
    "lmdb_readahead": ("read-around", "data.mdb was read at random"),
    "memory_limit": ("swap", "The limit is that of its cgroup"),
    "model_advice": ("no-read-ahead", "read-ahead is off, by madvise(MADV_RANDOM)"),
    "slow_requests": ("slow-tail", "class disk (started a read) of /mnt/archive/records"),
    "sqlite_mmap": ("read-around", "data.sqlite was read at random"),
}
NEEDS = {
    # Earlier kernels keep the pages in spite of the advice.
    "kernel_upgrade": pytest.mark.needs(pfstat.KERNEL >= (6, 3), "Linux 6.3"),
    # tools/lab --packages python3-lmdb
    "lmdb_readahead": pytest.mark.needs(importlib.util.find_spec("lmdb"), "python3-lmdb"),
}

SOURCES = "{tree}/user"
PROGRAMS = {
    "awk": "awk {{sum+=$1}}END{{print(sum)}} {folder}/lines",
    "dd": "dd if={folder}/random of={folder}/copy bs=64K",
    "find": "find " + SOURCES + " -name *.c",
    "gcc": "gcc -O2 -c -o {folder}/object.o {folder}/program.c",
    "grep": "grep -rc read-ahead " + SOURCES,
    "gzip": "gzip -kf {folder}/lines",
    "python": "python3 -c import\tdecimal,json,ssl",
    "sha256sum": "sha256sum {folder}/random",
    "sort": "sort -o {folder}/sorted {folder}/lines",
    "sqlite": "sqlite3 {folder}/database select\tcount(*),max(b)\tfrom\tt\twhere\ta%3=1",
    "tar": "tar cf {folder}/archive.tar " + SOURCES,
}
# The causes an ordinary program may have. A certain one is true by the cause's own numbers.
# execve() of a program not in the page cache faults in the kernel.
CAUSES = {"cold": {"nothing-wrong", "cold-file", "device-queue", "first-touch", "huge-pages",
                   "kernel-mode", "slow-tail"},
          "warm": {"nothing-wrong", "first-touch", "huge-pages", "kernel-mode", "slow-tail"}}

TABLE = """create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 10000)
insert into t select x, hex(randomblob(40)) from c;"""

PROGRAM = "#include <stdio.h>\n" + "".join(
    f"int f{i}(int a) {{ for (int i = 0; i < a; i++) a ^= i * {i + 3}; return a; }}\n"
    for i in range(40)) + 'int main(void) { return printf("%d", f7(9)); }\n'

pytestmark = [pytest.mark.deterministic, pytest.mark.long]


@pytest.fixture(scope="module", name="folder")
def fixture_folder():
    folder = pfstat.DISK / "programs"
    folder.mkdir()
    lines = (f"{i * 7919 % 1000003} some text of a line\n" for i in range(30000))
    (folder / "lines").write_text("".join(lines))
    run("dd", "if=/dev/urandom", f"of={folder}/random", "bs=1M", "count=8")
    (folder / "program.c").write_text(PROGRAM)
    run("sqlite3", folder / "database", TABLE)
    yield folder
    shutil.rmtree(folder)


def empty_page_cache():
    """Afterwards only pfdrive is in the page cache, so that a recording has no wait for it."""
    run("sync")
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
    record("true")


def command_of(name, folder):
    tree = pathlib.Path(__file__).parents[2]
    return [word.replace("\t", " ") for word in
            PROGRAMS[name].format(folder=folder, tree=tree).split(" ")]


@pytest.mark.parametrize("name", [pytest.param(name, marks=NEEDS.get(name, ()))
                                  for name in RECIPES])
def test_verdict_names_the_cause_of_the_recipe(name):
    folder = pfstat.DISK / name
    folder.mkdir()
    try:
        script = pathlib.Path(__file__).parents[2] / f"Documentation/recipes/{name}.sh"
        recording = run("sh", script, folder).stdout.splitlines()[-1]
        report = json.loads(run(PFDRIVE, "report", "--format", "json", recording).stdout)
    finally:
        shutil.rmtree(folder)
    cause = report["verdict"]["causes"][0]
    rule, words = RECIPES[name]
    assert cause["rule"] == rule and cause["certain"], report["verdict"]
    assert words in cause["text"]


@pytest.mark.parametrize("cache", CAUSES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_ordinary_program_gets_no_false_cause(name, cache, folder):
    command = command_of(name, folder)
    if cache == "cold":
        empty_page_cache()
    else:
        run(*command)
    verdict = record(*command)[0]["verdict"]
    for cause in verdict["causes"]:
        assert not cause["certain"] or cause["rule"] in CAUSES[cache], verdict
    first = verdict["causes"][0]
    if verdict["share"] < 0.05:         # a program that only waits may have a cause
        assert first["rule"] in ("nothing-wrong", "slow-tail") or not first["certain"], verdict
    else:
        assert first["rule"] != "nothing-wrong", verdict

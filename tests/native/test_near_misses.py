# SPDX-License-Identifier: GPL-2.0-only
"""Programs that leave nearly the same evidence: each gets its own cause, or both as possible."""
import dataclasses
import re

import pytest


@dataclasses.dataclass(frozen=True)
class Case:
    """near_misses with these words. {file}: 1000 pages in memory; {folder}: 1000 small files;
    {empty}: a new file.

    rule, certain, text, remedy: those of the first cause, as regular expressions. never: in no
    cause's text, nor in a certain cause's remedy.
    """
    words: str
    rule: str
    certain: bool
    text: str
    remedy: str
    never: str


KEEP = "keep the mapping"
RETURNS = "gives memory back"
CASES = (
    Case("unwritten 65536", "first-touch", False, "zero page", "munmap", RETURNS + "|TUNABLES"),
    Case("again 40 1000", "touched-again", True, RETURNS, KEEP, "TUNABLES|zero page|in the first"),
    Case("grow 40000", "touched-again|first-touch", None, "again|given back later",
         "reserve the final size|munmap", "TUNABLES"),
    Case("drop 40 1000", "faulted-again", False, "given back with madvise", "madvise",
         "first touch|after a read|swap"),
    Case("failed 40 1000 400", "faulted-again", False, "given back with madvise", "madvise",
         "first touch|after a read|swap"),
    Case("start 30000 600", "first-touch", True, r"in the first [\d.]+ ms of the run", "keep",
         RETURNS),
    Case("windows 10 {file}", "cached-pages", True, r"before, in another mapping\. .*1.0 of these",
         "one mapping", "POPULATE"),
    Case("files 1000 {folder}", "cached-pages", True, "1.0 of these faults", r"read\(\)",
         "POPULATE"),
    Case("load 20 {file}", "cached-pages|first-touch", True, "in memory|first touches",
         "mapping|reuse", RETURNS),
    Case("append 40 {empty}", "cached-pages", False, "fills a new page", "eBPF",
         "that were in memory"),
    Case("aliases 1000 {file}", "cached-pages", True, "before, in another mapping", "one mapping",
         "POPULATE|unmap"),
)


def many_files(folder):
    """1000 files of a page."""
    for number in range(1000):
        (folder / str(number)).write_bytes(bytes(4096))
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words.split(" {")[0])
def test_a_cause_is_that_of_its_program_and_not_of_one_that_looks_alike(caller, case):
    places = {"{empty}": lambda: caller.new_file("log", 0),
              "{file}": lambda: caller.new_file("data", 1000),
              "{folder}": lambda: many_files(caller.folder)}
    words = [str(places.get(word, lambda word=word: word)()) for word in case.words.split()]
    verdict = caller.record(caller.program("near_misses"), *words).report()["verdict"]
    causes = verdict["causes"]
    said = "\n".join(cause["text"] + " " + cause["remedy"] * cause["certain"] for cause in causes)
    assert re.fullmatch(case.rule, causes[0]["rule"]), said
    assert case.certain in (None, causes[0]["certain"]), said
    assert re.search(case.text, causes[0]["text"]), said
    assert re.search(case.remedy, causes[0]["remedy"]), said
    assert not re.search(case.never, said), said

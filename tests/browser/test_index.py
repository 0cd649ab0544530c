# SPDX-License-Identifier: GPL-2.0-only
"""The index page of the demo in a browser: run, rule and study in one table."""
import json

import pytest
from selenium.webdriver.common.by import By

from conftest import pfdrive
from test_page import DESKTOP, PHONE, show

PAGES = 11264
# Name: pattern, cache, and the counts of Linux 6.12: waited for the disk, met a mark, long.
RUNS = {
    "random-cold": ("random", "cold", 5168, 260, 5836),
    "random-warm": ("random", "warm", 0, 0, PAGES),
    "sequential": ("sequential", "cold", 1, 352, 10911),
    "stride-4K": ("stride:4K", "cold", 1, 352, 10911),
    "stride-256K": ("stride:256K", "cold", 304, 354, 10606),
}


def run_of(name, waits=0):
    pattern, cache, disk, marks, longs = RUNS[name]
    classes = {"disk": disk, "wait": waits, "readahead": marks, "long": longs - waits}
    study = {"disk": disk + marks + waits, "long": longs - waits}
    counts = [{key: {"count": count} for key, count in group.items()} for group in (study, classes)]
    return {
        "environment": {
            "pattern": pattern, "cache": cache, "seed": 1, "file_pages": PAGES,
            "file_bytes": PAGES * 4096, "accesses": PAGES * 4096, "readahead_bytes": 131072,
            "fault_around": "off", "kernel": "6.12.118-amd64", "machine": "<b>machine</b>",
            "started": "2026-11-25T10:00:00Z"},
        "study": counts[0], "classes": counts[1], "faults": PAGES, "lost": 0}


@pytest.fixture(name="runs")
def fixture_runs(tmp_path):
    for name in RUNS:
        (tmp_path / f"{name}.json").write_text(json.dumps(run_of(name)))
    return tmp_path


def index_of(runs):
    page = runs / "index.html"
    page.write_text(pfdrive("faults", runs, program="pfbench")[0])
    return page


def rows_of(browser):
    return [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
            for row in browser.find_elements(By.CSS_SELECTOR, "#experiments tbody tr")]


def test_each_experiment_has_study_run_and_rule(browser, runs):
    browser.get_log("browser")
    show(browser, index_of(runs))
    assert browser.get_log("browser") == []
    assert rows_of(browser) == [
        ["random, cold", "1", "6198", "5428", "5428", "5101", "5836", "5836", "equal"],
        ["random, warm", "3", "0", "0", "0", "9412", "11264", "11264", "equal"],
        ["sequential, cold", "5", "1", "353", "353", "11299", "10911", "10911", "equal"],
        ["stride:4K, cold", "7", "58", "353", "353", "11242", "10911", "10911", "equal"],
        ["stride:256K, cold", "9", "7224", "658", "658", "4075", "10606", "10606", "equal"]]
    assert [link.get_attribute("href").rsplit("/", 1)[1] for link in
            browser.find_elements(By.CSS_SELECTOR, "#experiments tbody a")] == \
        [f"{name}.html" for name in RUNS]


def test_verdict_is_first_and_explains_the_largest_difference(browser, runs):
    show(browser, index_of(runs))
    first = browser.find_element(By.CSS_SELECTOR, "main > *")
    assert first.get_attribute("class") == "verdict"
    assert "In all five experiments this run counts exactly" in first.text
    assert "7224" in first.text and "658" in first.text
    text = browser.find_element(By.ID, "differences").text
    assert "later, it hits the pages that the sweep before read around: 308 misses" in text
    assert "Misses of this run: 1. The other 352 calls met a mark." in text
    assert not browser.find_elements(By.TAG_NAME, "b")[0].text == "machine"


def test_difference_is_stated_with_its_reason(browser, runs):
    (runs / "stride-4K.json").write_text(json.dumps(run_of("stride-4K", waits=3)))
    strange = run_of("random-warm")
    strange["study"]["long"]["count"] += 5
    (runs / "random-warm.json").write_text(json.dumps(strange))
    late = run_of("stride-256K")
    late["classes"]["readahead"]["count"] -= 2
    late["classes"]["wait"]["count"] += 2
    (runs / "stride-256K.json").write_text(json.dumps(late))
    show(browser, index_of(runs))
    assert "In 2 of five experiments" in browser.find_element(By.CLASS_NAME, "verdict").text
    agreement = [row[-1] for row in rows_of(browser)]
    assert agreement[3].startswith("differ by +3 disk and -3 long: 3 faults met a page")
    assert agreement[4].startswith("differ by -2 calls at a mark: 2 faults met a page")
    assert agreement[1] == "differ by +0 disk and +5 long: not explained"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_index_fits_into_the_window(browser, runs, width, dark):
    show(browser, index_of(runs), width, dark)
    scroll, client = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert client == width and scroll <= client
    assert browser.execute_script(
        "return [...document.querySelectorAll('th')].every(th => th.scope)")


def test_missing_run_is_an_error(runs):
    (runs / "sequential.json").unlink()
    _, error = pfdrive("faults", runs, program="pfbench", status=1)
    assert "sequential.json: No such file or directory; run make demo" in error

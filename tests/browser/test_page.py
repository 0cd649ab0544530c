# SPDX-License-Identifier: GPL-2.0-only
"""The report page in a browser: on a desktop and a phone, in light and dark themes, by keyboard."""
import base64
import csv
import io
import json

import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from conftest import pfdrive

FIGURES = ("order", "cost", "latency", "cumulative", "parts", "heat", "readahead", "timeline",
           "evictions", "more_memory")
# No page in the small recording was reclaimed.
SMALL = FIGURES[:-1]
# In these figures each data row is one mark.
MARKED = ("order", "cost", "parts", "heat", "readahead", "timeline", "evictions")
DESKTOP, PHONE = 1280, 360


def show(browser, page, width=DESKTOP, dark=False):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get(page.as_uri())


def rows_of(made, name):
    with open(made.plots / f"{name}.csv", encoding="utf-8", newline="") as data:
        return list(csv.DictReader(data))


def region(browser, name):
    """A figure's drawing as an image."""
    box = browser.execute_script(
        "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [b.x + scrollX, b.y + scrollY, b.width, b.height]", f"#{name} .plot")
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {
        "captureBeyondViewport": True,
        "clip": {"x": box[0], "y": box[1], "width": box[2], "height": box[3], "scale": 1}})
    return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")


def content(image):
    """(number of colours, the background colour, share of the other pixels)"""
    colours = image.getcolors(image.width * image.height)
    paper = max(colours)
    return len(colours), paper[1], 1 - paper[0] / (image.width * image.height)


@pytest.mark.parametrize("name", ["small", "bare", "large"])
def test_page_causes_no_console_message_and_no_request(browser, request, name):
    page = request.getfixturevalue(name).page
    browser.get_log("performance")
    browser.get_log("browser")
    show(browser, page)
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events
             if event["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in asked
    assert [url for url in asked if url != page.as_uri() and not url.startswith("data:")] == []
    assert browser.get_log("browser") == []


def series(browser, name):
    """Number of marks in each drawn series: gnuplot's groups without the sample in the key."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(g => g.querySelectorAll('use, polygon').length - 1)",
        f"#{name} [id^='{name}-gnuplot_plot_']")


@pytest.mark.parametrize("name", MARKED)
def test_each_row_of_data_is_a_mark(browser, small, name):
    show(browser, small.page)
    rows = rows_of(small, name)
    assert rows and sum(series(browser, name)) == len(rows)


def test_as_many_marks_of_a_class_as_calls(browser, small):
    """876 calls, none merged: 110 from disk, the others from the page cache."""
    show(browser, small.page)
    for name in ("order", "cost"):
        assert sorted(series(browser, name)) == [110, 766]
        assert sum(int(row["calls"]) for row in rows_of(small, name)) == 876


@pytest.mark.parametrize("name", ["latency", "cumulative"])
def test_each_class_has_a_line(browser, small, name):
    show(browser, small.page)
    classes = {row["class"] for row in rows_of(small, name)}
    assert classes == {"disk", "long"}
    assert len(series(browser, name)) == len(classes)


def test_figures_agree_with_the_json(small):
    run = json.loads(pfdrive("report", small.recording, "--format", "json")[0])
    assert sum(int(row["faults"]) for row in rows_of(small, "heat")) == \
        run["parts"]["all"]["count"]
    assert sum(int(row["faults"]) for row in rows_of(small, "latency")) == \
        run["parts"]["all"]["count"]
    boxes = rows_of(small, "readahead")
    for column, key in (("read", "read"), ("mapped", "mapped"),
                        ("evicted_unused", "evicted_unused"), ("never_used", "idle")):
        assert sum(int(row[column]) for row in boxes) == run["readahead"][key], column
    assert sum(int(row["pages"]) for row in rows_of(small, "evictions")) == \
        sum(row["pages"] for row in run["evictions"]["blame"])
    in_parts = sum(float(row["ms"]) for row in rows_of(small, "parts"))
    assert in_parts == pytest.approx(run["parts"]["all"]["total_ns"] / 1e6)


def test_readings_are_computed(browser, small):
    show(browser, small.page)
    text = browser.find_element(By.CSS_SELECTOR, "#readahead .reading").text
    # 110 requests with 8 pages each read 880 pages. 4 pages of the file are never touched.
    assert text.startswith("880 pages were read, and 99.5 % of them mapped by a fault later.")
    assert "covered 87.4 % of the mapped pages; 110 disk faults started a read." in text
    assert "100.0 % of these after another process had evicted them" in \
        browser.find_element(By.CSS_SELECTOR, "#evictions .reading").text


def test_missing_figures_state_the_reason(browser, bare):
    show(browser, bare.page)
    missing = {figure.get_attribute("id"): figure.text
               for figure in browser.find_elements(By.TAG_NAME, "figure")
               if not figure.find_elements(By.TAG_NAME, "svg")}
    assert set(missing) == {"parts", "readahead", "evictions", "more_memory"}
    assert "no block I/O was traced" in missing["readahead"]
    assert "there was no eBPF" in missing["parts"]


def test_names_are_escaped(browser, small):
    show(browser, small.page)
    assert browser.execute_script(
        "return document.querySelectorAll('script, img, iframe, object, b, [onerror]').length") == 0
    assert "<img src=x onerror=alert(2)> \ufffd & \"more\"" in browser.title
    assert "/tmp/<script>alert(1)</script>&\"'`rm -rf x`" in \
        browser.find_element(By.CSS_SELECTOR, "#order .reading").text
    # gnuplot scripts do not even contain executable text.
    scripts = "".join(path.read_text() for path in small.plots.glob("*.gnuplot"))
    assert "`" not in scripts and "$(id)" not in scripts and "system" not in scripts


@pytest.mark.parametrize("width", [PHONE, 768, DESKTOP])
@pytest.mark.parametrize("name", ["small", "large"])
def test_no_page_is_wider_than_the_window(browser, request, name, width):
    show(browser, request.getfixturevalue(name).page, width)
    scroll, client = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert client == width and scroll <= client


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_screenshots_have_content(browser, small, width, dark):
    show(browser, small.page, width, dark)
    for name in SMALL:
        image = region(browser, name)
        colours, paper, inked = content(image)
        assert (sum(paper) < 3 * 64) == dark, name
        assert 0.005 < inked < 0.95, (name, inked)
        assert colours > 8, name
        # The figure uses the full width without the page's margins, and is high enough to be read.
        assert image.width <= width and image.width >= min(width, 992) - 40, name
        assert image.height >= 80, name


def test_light_and_dark_themes_show_the_same(browser, small):
    inked = {}
    for dark in (False, True):
        show(browser, small.page, DESKTOP, dark)
        inked[dark] = [content(region(browser, name))[2] for name in SMALL]
    # Blended edges may differ, but not the marks.
    assert inked[True] == pytest.approx(inked[False], rel=0.05, abs=0.005)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_enough_contrast(browser, small, dark):
    """WCAG 2.1: a 4.5 to 1 contrast."""
    def luminance(text):
        parts = [int(part) / 255 for part in text[text.index("(") + 1:-1].split(",")[:3]]
        red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
                            for part in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    show(browser, small.page, DESKTOP, dark)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    for selector in ("body", ".quiet", ".amount", "nav a", "summary", "td", "caption"):
        ink = browser.execute_script(
            "return getComputedStyle(document.querySelector(arguments[0])).color", selector)
        light, low = sorted((luminance(paper), luminance(ink)), reverse=True)
        assert (light + 0.05) / (low + 0.05) >= 4.5, selector


def test_drawings_have_descriptions_for_screen_readers(browser, small):
    show(browser, small.page)
    drawings = browser.find_elements(By.CSS_SELECTOR, "figure svg")
    assert len(drawings) == len(SMALL)
    told = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(svg => [svg.getAttribute('role'),"
        "...svg.getAttribute('aria-labelledby').split(' ').map("
        "id => document.getElementById(id).textContent.length)])")
    assert all(role == "img" and title > 5 and long > 40 for role, title, long in told)
    assert browser.execute_script(
        "return [...document.querySelectorAll('th')].every(th => th.scope)")
    assert browser.execute_script(
        "return [...document.querySelectorAll('[tabindex]')].every("
        "e => e.getAttribute('role') == 'region' && e.getAttribute('aria-label'))")
    assert browser.execute_script("return document.documentElement.lang") == "en"
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_page_works_with_the_keyboard_only(browser, small):
    show(browser, small.page, PHONE)
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.get_attribute("class") == "skip"
    assert browser.execute_script(
        "return document.activeElement.getBoundingClientRect().left") >= 0
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.current_url.endswith("#main")
    summary = browser.find_element(By.CSS_SELECTOR, "#order summary")
    summary.send_keys(Keys.ENTER)
    assert browser.find_element(By.CSS_SELECTOR, "#order details").get_attribute("open")
    plot = browser.find_element(By.CSS_SELECTOR, "#order .plot")
    assert browser.execute_script(
        "arguments[0].focus(); return document.activeElement == arguments[0] &&"
        "arguments[0].scrollWidth > arguments[0].clientWidth", plot)


def test_printed_page_is_light(browser, small):
    """Whatever the theme is. Closed parts, which cannot be opened on paper, are not printed."""
    show(browser, small.page, DESKTOP, dark=True)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        assert browser.execute_script(
            "return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert browser.execute_script(
            "return [...document.querySelectorAll('details, nav, .skip')].every("
            "e => getComputedStyle(e).display == 'none')")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")


def test_page_of_many_faults_is_small(browser, large):
    assert large.page.stat().st_size < 5_000_000
    show(browser, large.page)
    for name in ("order", "cost"):
        assert sum(series(browser, name)) == len(rows_of(large, name)) <= 8000
    # The page states the number of calls not drawn.
    drawn = sum(int(row["calls"]) for row in rows_of(large, "order"))
    text = browser.find_element(By.CSS_SELECTOR, "#order .amount").text
    assert f"{drawn} calls in " in text
    assert f"{2_000_000 - drawn} calls for other files and memory are not drawn" in text
    assert sum(int(row["calls"]) for row in rows_of(large, "cost")) == 2_000_000


def test_page_of_two_runs_shows_the_comparison(browser, folder, small, large):
    page, plots = folder / "compare.html", folder / "compare.plots"
    pfdrive("compare", "--threshold", "5", small.recording, large.recording, "--html", page,
            "--plot", plots, status=3)
    show(browser, page, PHONE)
    assert browser.get_log("browser") == []
    with open(plots / "comparison.csv", encoding="utf-8", newline="") as data:
        rows = list(csv.DictReader(data))
    change = sum(row["change"] == "1" for row in rows)
    # Bars for changed and unchanged rows, and a point for each.
    assert sorted(series(browser, "comparison")) == sorted([change, len(rows) - change, len(rows)])
    assert all(float(row["low_times"]) <= float(row["times"]) <= float(row["high_times"])
               for row in rows)
    scroll, client = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= client


def test_tables_name_classes_and_parts_in_words_first(browser, small):
    show(browser, small.page)
    told = {cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#tables th")}
    assert {"started a read (disk)", "in the cache (long)", "CPU, before any wait (cpu_before)",
            "asleep, request at the device (device)"} <= told
    assert not told & {"disk", "long", "cpu_before", "runqueue"}

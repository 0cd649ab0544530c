# SPDX-License-Identifier: GPL-2.0-only
"""Each figure is compared with the data, for 1 to 12 classes, one fault to a million, and times
over up to nine decades."""
import itertools
import re

import pytest

from conftest import Made, pfdrive
from drawn import Drawn, collect
from test_page import FIGURES, show

# classes, faults, decades of their times, run length in ms
RUNS = [(1, 1, 0, 10), (1, 1000, 3, 0.001), (2, 2, 9, 1), (3, 60, 2, 86400e3 * 30),
        (4, 4000, 5, 900), (5, 5, 1, 0.01), (6, 3000, 6, 12000), (7, 700, 4, 20),
        (8, 1_000_000, 6, 1e8), (9, 900, 3, 1000), (10, 1000, 8, 3.6e6), (11, 1100, 2, 5),
        (12, 1_000_000, 9, 1000)]
PIXEL = 1.0
# The middle of a label is near the tic.
NEAR = 2.5
CLASSES = ("latency", "cumulative", "order", "cost")


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[0]}-classes-{run[1]}-faults")
def drawn(request, browser, folder):
    name = f"classes-{request.param[0]}-{request.param[1]}"
    show(browser, Made(folder, name, "make_classes", *map(str, request.param), plot=False).page)
    return collect(browser)


def short_name(title):
    return re.search(r"\((\w+)\)$", title)[1]


def present(drawn, *names):
    return [drawn[name] for name in names or FIGURES if isinstance(drawn[name], Drawn)]


def test_figures_are_drawn_or_state_the_reason(drawn):
    assert set(drawn) == set(FIGURES)
    for name in FIGURES:
        if not isinstance(drawn[name], Drawn):
            assert name in ("readahead", "evictions", "more_memory")
            assert re.match("Not drawn: .{10,}\\.$", drawn[name])


def test_no_number_is_missing_or_in_exponential_form(drawn):
    for figure in present(drawn):
        told = [figure.told] + [text["text"] for text in figure.texts]
        for text in told:
            assert not re.search(r"\d[eE][-+]?\d|\bnan\b|\binf\b", text, re.IGNORECASE), text
        for series in figure.series:
            for numbers in [mark["at"] for mark in series["marks"]] + \
                    [box["at"] for box in series["boxes"]]:
                assert all(number == number for number in numbers), series["title"]
            assert not any(re.search("nan|inf", line["d"], re.I) for line in series["lines"])


def check_texts(figure):
    for text in figure.texts:
        where = (figure.name, text)
        assert text["left"] >= -1 and text["right"] <= figure.width + 1, where
        assert text["top"] >= -1 and text["bottom"] <= figure.height + 1, where
        assert text["size"] >= 12, where
        inside = text["left"] < figure.right and text["right"] > figure.left and \
            text["top"] < figure.bottom and text["bottom"] > figure.top + 1
        assert not inside, where
    for one, other in itertools.combinations(figure.texts, 2):
        # Lines in one label touch.
        assert one["left"] + 1 > other["right"] or other["left"] + 1 > one["right"] or \
            one["top"] + 4 > other["bottom"] or other["top"] + 4 > one["bottom"], \
            (figure.name, one["text"], other["text"])


def test_texts_are_whole_readable_and_do_not_overlap(drawn):
    for figure in present(drawn):
        check_texts(figure)


def test_tics_differ_and_lie_at_the_axes(drawn):
    for figure in present(drawn):
        for tics in (figure.x_tics, figure.y_tics):
            labels = [tic["text"] for tic in tics]
            assert len(labels) >= 1, figure.name
            if figure.name not in ("parts", "timeline"):
                assert len(labels) == len(set(labels)), (figure.name, labels)


def look(series):
    """What distinguishes a series in the key."""
    if series["marks"]:
        mark = series["marks"][0]
        return mark["href"], mark["color"]
    if series["boxes"]:
        return series["boxes"][0]["fill"]
    return series["lines"][0]["stroke"], series["lines"][0]["dash"]


def test_key_has_each_series_once_with_a_look_of_its_own(drawn):
    for figure in present(drawn):
        titles = [series["title"] for series in figure.series]
        assert all(titles) and len(titles) == len(set(titles)), (figure.name, titles)
        looks = [look(series) for series in figure.series]
        assert len(looks) == len(set(looks)), (figure.name, looks)
        for series in figure.series:
            if series["marks"]:
                assert len(figure.marks(series)[0]) == 1, (figure.name, series["title"])
            elif series["boxes"]:
                assert len(figure.boxes(series)[0]) == 1, (figure.name, series["title"])


def test_each_class_of_the_data_is_a_series(drawn):
    for figure in present(drawn, *CLASSES):
        assert {short_name(series["title"]) for series in figure.series} == \
            {row["class"] for row in figure.rows}, figure.name
    for figure in present(drawn, "parts"):
        assert {short_name(series["title"]) for series in figure.series} == \
            {row["part"] for row in figure.rows}


def test_lines_are_not_filled_and_lie_within_the_axes(drawn):
    for figure in present(drawn, "latency", "cumulative"):
        for series in figure.series:
            assert not series["boxes"], (figure.name, series["title"])
            assert all(line["fill"] == "none" and line["stroke"] != "none"
                       for line in series["lines"])
            sample, points = figure.points(series)
            assert len(sample) == 2 and sample[0][1] < figure.top
            for x, y in points:
                assert figure.left - PIXEL <= x <= figure.right + PIXEL
                assert figure.top - PIXEL <= y <= figure.bottom + PIXEL


def test_steps_have_the_height_of_their_bins(drawn):
    figure = drawn["latency"]
    x, y = figure.x(), figure.y()
    for series in figure.series:
        _, points = figure.points(series)
        level = [(one, other) for one, other in zip(points, points[1:])
                 if abs(one[1] - other[1]) < 0.01 and one[0] != other[0]]
        for row in figure.rows:
            if row["class"] != short_name(series["title"]) or row["faults"] == "0":
                continue
            left, right = x(float(row["from_us"])), x(float(row["to_us"]))
            middle = (left + right) / 2
            heights = [one[1] for one, other in level if one[0] <= middle <= other[0]]
            assert len(heights) == 1, (series["title"], row)
            assert abs(heights[0] - y(int(row["faults"]))) < NEAR, (series["title"], row)


def test_cumulative_lines_go_through_each_row(drawn):
    figure = drawn["cumulative"]
    x, y = figure.x(), figure.y()
    for series in figure.series:
        rows = [row for row in figure.rows if row["class"] == short_name(series["title"])]
        _, points = figure.points(series)
        wanted = [(x(float(row["up_to_us"])), y(float(row["percent"]))) for row in rows]
        # gnuplot omits points on top of another.
        for point in points:
            assert any(abs(point[0] - at[0]) < NEAR and abs(point[1] - at[1]) < NEAR
                       for at in wanted), (series["title"], point)
        assert len(points) <= len(wanted)
        assert abs(points[0][0] - wanted[0][0]) < NEAR and points[0][1] == figure.bottom
        assert abs(points[-1][0] - wanted[-1][0]) < NEAR and abs(points[-1][1] - figure.top) < 1


@pytest.mark.parametrize("name, column", [("order", "mean_page"), ("cost", "mean_us")])
def test_each_mark_is_at_its_call(drawn, name, column):
    figure = drawn[name]
    x, y = figure.x(), figure.y()
    for series in figure.series:
        _, marks = figure.marks(series)
        rows = [row for row in figure.rows if row["class"] == short_name(series["title"])]
        wanted = sorted((x(float(row["mean_call"])), y(float(row[column]))) for row in rows)
        assert len(marks) == len(wanted), series["title"]
        for mark in marks:
            assert figure.left - PIXEL <= mark["at"][0] <= figure.right + PIXEL
            assert figure.top - PIXEL <= mark["at"][1] <= figure.bottom + PIXEL
        # Sorted by x only, because the y of two marks in one column may be close.
        for mark, at in zip(sorted(mark["at"][0] for mark in marks), wanted):
            assert abs(mark - at[0]) < NEAR
        for mark, at in zip(sorted(mark["at"][1] for mark in marks),
                            sorted(at[1] for at in wanted)):
            assert abs(mark - at) < NEAR


def expected_boxes(figure):
    """{series number: boxes in the series' rows}"""
    x = figure.x()
    last = max((int(row["row"]) for row in figure.rows), default=0) if "row" in figure.rows[0] \
        else 0
    rows_y, per_ms = figure.rows_y(last), figure.unit() and 1000 / figure.unit()
    names = [short_name(series["title"]) for series in figure.series] \
        if figure.name == "parts" else []
    kinds = sorted({row[kind] for row in figure.rows for kind in ("level", "kind", "sort")
                    if kind in row})
    boxes = {}
    for row in figure.rows:
        if figure.name == "parts":
            at, number = int(row["row"]), names.index(row["part"])
            box = x(float(row["from_percent"])), rows_y(at + .36), \
                x(float(row["to_percent"])), rows_y(at - .36)
        elif figure.name == "timeline":
            at, number = int(row["row"]) - .4, int(row["state"])
            box = x(per_ms * float(row["from_ms"])), rows_y(at + .008 * float(row["to_percent"])), \
                x(per_ms * float(row["to_ms"])), rows_y(at + .008 * float(row["from_percent"]))
        elif figure.name == "evictions":
            at, number = int(row["row"]), kinds.index(row["sort"])
            box = x(0), None, x(int(row["pages"])), None
        else:
            y, first, last = figure.y(), int(row["first_page"]), int(row["last_page"]) + 1
            number = kinds.index(row.get("level") or row.get("kind"))
            box = x(per_ms * float(row["from_ms"])), y(last), x(per_ms * float(row["to_ms"])), \
                y(first)
            # No box is too narrow to be seen.
            box = box[0], box[1], max(box[2], box[0] + .004 * (figure.right - figure.left)), box[3]
            if figure.name == "readahead":
                # The height shows the kind, too.
                middle, half = (box[1] + box[3]) / 2, (box[3] - box[1]) * (.5, .35, .2)[
                    int(row["kind"])]
                box = box[0], middle - half, box[2], middle + half
        boxes.setdefault(number, []).append(box)
    return boxes


@pytest.mark.parametrize("name", ["parts", "heat", "readahead", "timeline", "evictions"])
def test_each_box_is_at_its_row(drawn, name):
    for figure in present(drawn, name):
        wanted = expected_boxes(figure)
        if name == "heat":
            # A key level without a box.
            used = [number for number, series in enumerate(figure.series)
                    if figure.boxes(series)[1]]
            wanted = dict(zip(used, (wanted[number] for number in sorted(wanted))))
        for number, series in enumerate(figure.series):
            boxes = [box["place"] for box in figure.boxes(series)[1]]
            rows = wanted.get(number, [])
            assert len(boxes) == len(rows), (name, series["title"])
            for box in boxes:
                assert figure.left - PIXEL <= box[0] <= box[2] <= figure.right + 3
                assert figure.top - PIXEL <= box[1] <= box[3] <= figure.bottom + PIXEL
                assert name not in ("heat", "readahead") or box[2] - box[0] > 2
            for side in range(4):
                sides = [row[side] for row in rows]
                if None in sides:
                    continue
                for one, other in zip(sorted(box[side] for box in boxes), sorted(sides)):
                    assert abs(one - other) < NEAR, (name, series["title"], side)


@pytest.mark.parametrize("one, other", [(RUNS[3], RUNS[3]), (RUNS[6], RUNS[9]), (RUNS[9], RUNS[6]),
                                        (RUNS[4], RUNS[5]), (RUNS[4], RUNS[4])],
                         ids=lambda run: str(run[1]))
def test_differences_are_at_their_ratios(browser, folder, one, other):
    page = folder / "compared.html"
    files = [Made(folder, f"compared-{run[0]}", "make_classes", *map(str, run),
                  plot=False).recording for run in (one, other)]
    status = 3 if one != other else 0
    pfdrive("compare", "--threshold", "5", *files, "--html", page, status=status)
    show(browser, page)
    figure = collect(browser)["comparison"]
    x, rows = figure.x(), figure.rows
    rows_y = figure.rows_y(len(rows), 0.2)
    for tic in figure.x_tics:
        assert figure.left - 1 <= (tic["left"] + tic["right"]) / 2 <= figure.right + 1
    # The equality and threshold lines are in the plot.
    for path in figure.frames:
        if len(path) == 4 and path[0] == path[2] and abs(path[1] - path[3]) > 30:
            assert figure.left <= path[0] <= figure.right
    unchanged, changed, measured = figure.series
    for change, series, half in ("0", unchanged, .15), ("1", changed, .3):
        boxes = sorted(box["place"] for box in figure.boxes(series)[1])
        wanted = sorted((x(float(row["low_times"]) * .995), rows_y(int(row["row"]) + half),
                         x(float(row["high_times"]) * 1.005), rows_y(int(row["row"]) - half))
                        for row in rows if row["change"] == change)
        assert len(boxes) == len(wanted)
        for box in boxes:
            assert figure.left - PIXEL <= box[0] <= box[2] <= figure.right + PIXEL
        for side in range(4):
            for box, at in zip(sorted(box[side] for box in boxes),
                               sorted(at[side] for at in wanted)):
                assert abs(box - at) < NEAR, side
    marks = sorted(mark["at"][0] for mark in figure.marks(measured)[1])
    assert marks == pytest.approx(sorted(x(float(row["times"])) for row in rows), abs=NEAR)
    labels = [text["text"] for text in figure.y_tics]
    assert len(labels) == len(set(labels)) == len(rows)
    check_texts(figure)

# SPDX-License-Identifier: GPL-2.0-only
"""The Documentation/recipes/fleet.rst queries: DuckDB and Spark give the same, correct answers."""
import contextlib
import decimal
import pathlib
import re
import subprocess
import textwrap

import duckdb
import pytest

import pfstat
from conftest import BUILD
from test_module import csv_of, json_of

PAGE = pathlib.Path(__file__).parents[2] / "Documentation/recipes/fleet.rst"
BLOCK = re.compile(r"^\.\. code-block:: \w+\n    :name: ([\w-]+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)
TEXTS = {name: textwrap.dedent(text)
         for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8") + "\n")}
QUERIES = {name: text for name, text in TEXTS.items()
           if not name.endswith("-views") and not name.startswith("perfetto-")}


class Fleet:
    """A dataset with hosts a and b, with two releases of a service, and c, with a cut recording."""

    def __init__(self, folder):
        self.folder = folder
        self.run, self.classes, self.cut = (folder / f"{name}.pfs" for name in ("run", "classes", "cut"))
        subprocess.run([BUILD / "make_run", self.run], check=True)
        subprocess.run([BUILD / "make_classes", self.classes, "8", "2000", "3", "50"], check=True)
        self.cut.write_bytes(self.run.read_bytes()[:-100])
        data = folder / "dataset"
        for host, recording, service, release in (
                ("a", self.run, "search", "2.0"), ("a", self.classes, "search", "2.1"),
                ("b", self.classes, "search", "2.0"), ("b", self.run, "search", "2.1"),
                ("c", self.cut, "batch", "1")):
            pfstat.to_parquet(data, recording, host=host, service=service, release=release)


@pytest.fixture(name="fleet", scope="session")
def fixture_fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("fleet"))


@pytest.fixture(name="duck", scope="session")
def fixture_duck(fleet):
    """Runs a query with DuckDB as the page does: (column names, rows)."""
    with contextlib.chdir(fleet.folder):
        duckdb.sql(TEXTS["duckdb-views"])

    def run(query):
        with contextlib.chdir(fleet.folder):
            found = duckdb.sql(query)
            return found.columns, found.fetchall()
    return run


@pytest.fixture(name="spark", scope="session")
def fixture_spark(fleet):
    """The same with Spark on this machine, without Spark's web server."""
    scope = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(fleet.folder):
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.ui.enabled=false pyspark-shell")
        exec(TEXTS["spark-views"], scope)   # pylint: disable=exec-used
    session = scope["spark"]
    session.sparkContext.setLogLevel("ERROR")
    session.conf.set("spark.sql.shuffle.partitions", "2")

    def run(query):
        found = session.sql(query)
        return found.columns, [tuple(row) for row in found.collect()]
    yield run
    session.stop()


def is_same(one, other):
    """Sums are exact in both engines, means and percentiles nearly."""
    if isinstance(one, (float, decimal.Decimal)):
        return float(one) == pytest.approx(float(other), abs=0.011)
    return one == other


@pytest.mark.parametrize("name", QUERIES)
def test_both_engines_answer_alike(duck, spark, name):
    columns, rows = duck(QUERIES[name])
    spark_columns, spark_rows = spark(QUERIES[name])
    assert spark_columns == columns
    assert len(spark_rows) == len(rows) >= 1
    for one, other in zip(rows, spark_rows):
        assert all(map(is_same, one, other)), (one, other)


def answer(duck, name):
    columns, rows = duck(QUERIES[name])
    return [dict(zip(columns, row)) for row in rows]


def test_the_page_has_ten_questions():
    assert len(QUERIES) == 10


def test_hosts_have_the_faults_of_their_recordings(duck, fleet):
    reports = {path: json_of(path) for path in (fleet.run, fleet.classes)}
    both = sum(report["parts"]["all"]["count"] for report in reports.values())
    found = {row["host"]: row for row in answer(duck, "hosts")}
    assert found["a"]["faults"] == found["b"]["faults"] == both
    busy_ns = sum(report["verdict"]["busy_ns"] for report in reports.values())
    assert found["a"]["busy_ms"] == pytest.approx(busy_ns / 1e6, abs=0.001)


def test_files_have_the_time_of_all_hosts(duck, fleet):
    times = {}
    for path, copies in ((fleet.run, 2), (fleet.classes, 2), (fleet.cut, 1)):
        for row in csv_of(path):
            if row["file"]:
                times[row["file"]] = times.get(row["file"], 0) + copies * int(row["duration_ns"])
    first = answer(duck, "files")[0]
    assert first["fault_ms"] == pytest.approx(max(times.values()) / 1e6, abs=0.001)


def test_devices_have_the_slowest_read(duck, fleet):
    slowest = max(int(row["duration_ns"]) for row in csv_of(fleet.run, "requests")
                  if row["write"] == "0")
    assert answer(duck, "devices")[0]["max_us"] == pytest.approx(slowest / 1e3, abs=0.01)


def test_a_roll_out_is_judged_on_the_hosts_with_both_releases(duck):
    before, after = answer(duck, "rollout")
    assert {before["host"], after["host"]} == {"a", "b"}
    assert before["before_percent"] == after["after_percent"]


def test_a_cut_recording_is_incomplete(duck):
    row, = answer(duck, "incomplete")
    assert row["host"] == "c" and row["damage"]


def test_services_have_the_time_of_each_release(duck, fleet):
    times = {path: sum(int(row["duration_ns"]) for row in csv_of(path)) / 1e6
             for path in (fleet.run, fleet.classes, fleet.cut)}
    both = pytest.approx(times[fleet.run] + times[fleet.classes], abs=0.001)
    found = {(row["service"], row["release"]): row["fault_ms"] for row in answer(duck, "services")}
    assert found == {("search", "2.0"): both, ("search", "2.1"): both,
                     ("batch", "1"): pytest.approx(times[fleet.cut], abs=0.001)}


def pages_read_at_the_start(path):
    rows = csv_of(path)
    begun_ns = min(int(row["start_ns"]) for row in rows)
    return {(row["file"], row["page"]) for row in rows if row["major"] == "1" and row["file"]
            and int(row["start_ns"]) < begun_ns + 10 ** 10}


def test_a_prefetch_list_has_the_pages_of_files_that_all_hosts_read(duck, fleet):
    run, classes, cut = map(pages_read_at_the_start, (fleet.run, fleet.classes, fleet.cut))
    pages = run | classes | cut
    on_all = {file for file, _ in run | classes} & {file for file, _ in cut}
    assert on_all
    assert {row["file"]: row["pages"] for row in answer(duck, "prefetch")} == \
        {file: len({page for name, page in pages if name == file}) for file in on_all}


def test_the_trace_processor_agrees_with_the_rows(fleet, trace_processor):
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    trace = fleet.folder / "run.pftrace"
    subprocess.run([BUILD / "pfdrive", "report", "--format", "perfetto", "-o", trace, fleet.run],
                   check=True)
    rows = csv_of(fleet.run)
    with TraceProcessor(trace=str(trace), config=TraceProcessorConfig(bin_path=trace_processor)) as of:
        classes = {row.__dict__["class"]: row.ns for row in of.query(TEXTS["perfetto-classes"])}
        files = {row.file: row.faults for row in of.query(TEXTS["perfetto-files"])}
        longest = [row.ns for row in of.query(TEXTS["perfetto-slowest"])]
    for name, total_ns in classes.items():
        assert total_ns == sum(int(row["duration_ns"]) for row in rows if row["class"] == name)
    assert sum(files.values()) == len(rows)
    assert longest == sorted((int(row["duration_ns"]) for row in rows), reverse=True)[:10]

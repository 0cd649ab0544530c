# SPDX-License-Identifier: GPL-2.0-only
"""The Prometheus rules, the Grafana dashboard and the pages name what the exporter writes."""
import functools
import json
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
import yaml

import pfstat
import promql

TOP = pathlib.Path(__file__).parents[2]
MONITORING = TOP / "packaging" / "monitoring"
RULES = MONITORING / "pfstat.rules.yml"
SERIES = pathlib.Path(__file__).parent / "pfstat.rules.test.yml"
MAN = TOP / "Documentation" / "man" / "pfdrive-export.1.rst"
PAGES = [MAN, TOP / "NEWS.md", *TOP.glob("Documentation/user/*.rst"),
         *TOP.glob("Documentation/recipes/*.rst"), *TOP.glob("packaging/*.service")]
SAMPLE = re.compile(r"(\w+)\{(.*)\} \S+")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Reads single pages in a cold file, so the verdict has a cause.
READ_ALL = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
for _ in range(20):
    data.madvise(mmap.MADV_DONTNEED)
    sum(data[page] for page in range(0, len(data), mmap.PAGESIZE))
"""


@functools.lru_cache(maxsize=None)
def samples_of(caller):
    """The labels in each sample pfdrive writes about a command, and their values."""
    path, data = caller.folder / "pfstat.prom", caller.new_file("read", 512)
    caller.run("export", "--source", "perf", "--openmetrics", path, "--", "/usr/bin/python3", "-c",
               READ_ALL, data)
    families, values = {}, {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            name, text = SAMPLE.fullmatch(line).groups()
            labels = dict(LABEL.findall(text))
            assert labels.pop("command") == "/usr/bin/python3"
            for label, value in labels.items():
                values.setdefault(label, set()).add(value)
            # The units watch cgroups.
            known = labels.keys() | {"cgroup"}
            assert families.setdefault(name, known) == known
    return families, values


def rules():
    return yaml.safe_load(RULES.read_text())["groups"]


def dashboard():
    return json.loads((MONITORING / "pfstat.dashboard.json").read_text())


def test_rules_name_metrics_and_labels_of_the_exporter(caller):
    assert promql.rule_errors(rules(), *samples_of(caller)) == []


def test_the_dashboard_names_metrics_and_labels_of_the_exporter(caller):
    assert promql.dashboard_errors(dashboard(), *samples_of(caller)) == []


def test_the_dashboard_has_each_metric_of_the_exporter(caller):
    text = json.dumps(dashboard())
    families = samples_of(caller)[0].keys()
    hidden = {"pfstat_exporter_peak_resident_bytes"}
    assert {name for name in families if name not in text} == hidden


def test_pages_name_metrics_of_the_exporter(caller):
    known = samples_of(caller)[0].keys()
    # The manual page means both metrics about the exporter itself.
    assert {name for name in known if name.startswith("pfstat_exporter_")}
    named = {(page.name, name) for page in PAGES
             for name in re.findall(r"\bpfstat_[a-z_]+_(?:total|ratio|bytes|seconds)\b",
                                    page.read_text(encoding="utf-8"))}
    assert {entry for entry in named if entry[1] not in known} == set()
    assert {name for page, name in named if page == MAN.name} == known


def faults_in(path):
    """The sum over all classes, or None before the first file."""
    if not path.exists():
        return None
    lines = path.read_text().splitlines()
    assert lines[-1] == "# EOF"
    return sum(float(line.split()[-1]) for line in lines if line.startswith("pfstat_faults_total{"))


def test_counters_of_a_running_process_grow(caller, empty):
    path = empty / "pfstat.prom"
    with caller.started("native_faults", "churn", 2, 64) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        with caller.started("pfdrive", "export", "--source", "perf", "--openmetrics", path, "-i",
                            "0.2", "-p", program.pid) as process:
            pfstat.wait_until(lambda: process.poll() is not None or faults_in(path))
            first = faults_in(path)
            pfstat.wait_until(lambda: process.poll() is not None or faults_in(path) > first)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=pfstat.PATIENCE) == 0
    assert f'{{pid="{program.pid}"' in path.read_text()
    # The node exporter's collector is another user.
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(empty.iterdir()) == [path]


def test_counters_by_cgroup_require_a_cgroup(caller, empty):
    assert "--by-cgroup requires --cgroup PATH" in caller.refused(
        2, "export", "--openmetrics", empty / "x", "--by-cgroup", "--", "true")


def test_a_file_that_cannot_be_written_ends_the_export(caller, empty):
    path = empty / "absent" / "pfstat.prom"
    process = caller.run("export", "--source", "perf", "--openmetrics", path, "--", "true",
                         check=False)
    assert process.returncode == 1
    assert f"cannot write {path}: No such file or directory" in process.stderr


@pytest.mark.parametrize("expression, wrong", [
    ("rate(pfstat_fault_total[5m])", "no metric pfstat_fault_total"),
    ("sum by (clas) (rate(pfstat_faults_total[5m]))", "label clas"),
    ('pfstat_faults_total{part="device"}', "pfstat_faults_total has no label part"),
    ('pfstat_faults_total{class="files"}', "label class has no value files"),
    ("pfstat_faults_total / on (cause) pfstat_stalled_seconds_total", "label cause"),
    ("time() - 5", "no metric in"),
])
def test_a_wrong_name_is_found(caller, expression, wrong):
    families, values = samples_of(caller)
    found = promql.errors(expression, families, values)
    assert len(found) == 1 and wrong in found[0]
    rule = {"rules": [{"record": "x", "expr": expression}]}
    assert promql.rule_errors([rule], families, values) == found
    panel = {"panels": [{"targets": [{"expr": expression, "legendFormat": ""}]}],
             "templating": {"list": []}}
    assert promql.dashboard_errors(panel, families, values) == found


def test_a_wrong_label_of_a_text_is_found(caller):
    families, _ = samples_of(caller)
    labels = promql.result_labels("sum by (class) (rate(pfstat_faults_total[5m]))", families)
    assert promql.text_errors("{{class}} {{ $labels.instance }}", labels) == []
    assert len(promql.text_errors("{{cgroup}} {{ $labels.part }}", labels)) == 2


@pytest.mark.needs(shutil.which("promtool"), "promtool (Debian's package prometheus)")
@pytest.mark.parametrize("words", [("check", "rules", RULES), ("test", "rules", SERIES)],
                         ids=["check", "test"])
def test_prometheus_accepts_the_rules_and_fires_the_alerts(words):
    done = subprocess.run([shutil.which("promtool"), *words], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr

# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive export while a program faults: the file that a monitoring system reads."""
import re
import signal
import subprocess

import pytest

import pfstat

PAGES = 256
READ_ALL = """
import mmap
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    data.madvise(mmap.MADV_RANDOM)
    sum(data[page * mmap.PAGESIZE] for page in range({pages}))
"""
# The exporter reads the cgroup of a process while the process exists.
UNTIL_EXPORTED = """
import os, time
DISK = 'pfstat_faults_total{{cgroup="{group}",class="disk"}} '
while True:
    text = open("{metrics}").read() if os.path.exists("{metrics}") else ""
    if int((text.partition(DISK)[2] or "0").split()[0]) >= {pages}:
        break
    time.sleep(0.05)
"""
SAMPLE = re.compile(r'([a-z_]+)\{([a-z]+)="((?:[^"\\\n]|\\.)*)"(?:,([a-z]+)="([a-z_-]+)")?\} (\S+)')


def parse(text, wanted=None):
    """
    The samples for a target, or for the only one, by name and second label. Each sample in the file
    has a family before it, and is there once.
    """
    lines = text.splitlines()
    assert lines[-1] == "# EOF" and text.endswith("\n")
    types, samples, seen = {}, {}, set()
    for line in lines[:-1]:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types
            types[name] = kind
        elif not line.startswith("# HELP "):
            name, label, target, _, value, number = SAMPLE.fullmatch(line).groups()
            family = name.removesuffix("_total")
            assert types[family] == ("counter" if family != name else "gauge")
            assert (target, name, value) not in seen
            seen.add((target, name, value))
            if target == (wanted or target):
                samples[name, value] = float(number)
                assert samples.setdefault("target", (label, target)) == (label, target)
    return samples


def total(samples, name):
    return sum(number for key, number in samples.items() if key[0] == name)


@pytest.mark.smoke
def test_the_last_file_has_all_faults_of_a_command(tmp_path):
    path = pfstat.make_file(pfstat.DISK / "export", PAGES * pfstat.PAGE, b"a")
    pfstat.drop_cache()
    metrics = tmp_path / "pfstat.prom"
    pfstat.run(pfstat.PFDRIVE, "export", "--openmetrics", metrics, "--", "python3", "-c",
               READ_ALL.format(path=path, pages=PAGES))
    samples = parse(metrics.read_text())
    assert samples["target"] == ("command", "python3")
    assert samples["pfstat_lost_records_total", None] == 0
    assert samples["pfstat_lost_events_total", None] == 0, metrics.read_text()
    assert samples["pfstat_faults_total", "disk"] >= PAGES
    assert samples["pfstat_major_faults_total", "disk"] == samples["pfstat_faults_total", "disk"]
    # A time is summed up by class and by part, to the nanosecond.
    assert total(samples, "pfstat_fault_seconds_total") == pytest.approx(
        total(samples, "pfstat_fault_part_seconds_total"), abs=1e-6), metrics.read_text()
    assert samples["pfstat_fault_part_seconds_total", "device"] > 0
    assert 0 < samples["pfstat_stalled_seconds_total", None] <= samples[
        "pfstat_watched_seconds_total", None]
    assert samples["pfstat_exporter_cpu_seconds_total", None] > 0
    # The node exporter's collector is another user.
    assert metrics.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["pfstat.prom"]


def test_each_cgroup_below_the_watched_one_has_its_own_counters(tmp_path):
    group = pfstat.cgroup("watched")
    metrics = tmp_path / "pfstat.prom"
    start = "read go; "
    for number, name in enumerate(("one", "two"), 1):
        (group / name).mkdir()
        path = pfstat.make_file(pfstat.DISK / name, number * PAGES * pfstat.PAGE, b"a")
        # As systemd does: a child moves itself, and then executes the program.
        start += f"sh -c 'echo $$ >{group / name}/cgroup.procs; exec python3 {tmp_path}/{name}.py'; "
        (tmp_path / f"{name}.py").write_text(
            READ_ALL.format(path=path, pages=number * PAGES) +
            UNTIL_EXPORTED.format(group=f"/watched/{name}", metrics=metrics, pages=number * PAGES))
        pfstat.evict(path)
    pfstat.run("python3", "-c", "import mmap")      # python3's own files are in memory
    with subprocess.Popen(["sh", "-c", start + "read end"], stdin=subprocess.PIPE) as shell:
        (group / "cgroup.procs").write_text(str(shell.pid))
        with subprocess.Popen([pfstat.PFDRIVE, "export", "--openmetrics", metrics, "-i", "0.2",
                               "--cgroup", group, "--by-cgroup"]) as process:
            pfstat.wait_until(lambda: process.poll() is not None or pfstat.watches(process))
            shell.stdin.write(b"\n")
            shell.stdin.flush()
            pfstat.wait_until(lambda: metrics.exists() and '"/watched/two"' in metrics.read_text())
            pfstat.wait_until(lambda: not (group / "two" / "cgroup.procs").read_text())
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=pfstat.PATIENCE) == 0
    text = metrics.read_text()
    for name in ("one", "two", ""):
        pfstat.wait_until(lambda: not (group / name / "cgroup.procs").read_text())
        (group / name).rmdir()
    whole = parse(text, "/watched")
    assert whole["pfstat_lost_records_total", None] == 0, text
    assert whole["pfstat_lost_events_total", None] == 0, text
    for number, name in enumerate(("one", "two"), 1):
        samples = parse(text, f"/watched/{name}")
        pages = number * PAGES
        assert pages <= samples["pfstat_faults_total", "disk"] < pages + PAGES, text
        assert 0 < max(number for key, number in samples.items() if key[0] == "pfstat_verdict_ratio")
        assert total(samples, "pfstat_fault_seconds_total") == pytest.approx(
            total(samples, "pfstat_fault_part_seconds_total"), abs=1e-6)
        assert 0 < samples["pfstat_stalled_seconds_total", None]
    assert whole["pfstat_watched_seconds_total", None] > 0
    # The shell's own. A child's counts from before the move may be in either group.
    assert total(whole, "pfstat_faults_total") > 0, text
    assert "(unknown)" not in text

# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive run --record: the report from a drive's recording equals the drive's report."""
import json
import shlex
import signal
import subprocess
import time

import pytest

import perfetto
import pfstat

PAGES = 256     # small_file's pages


@pytest.fixture(name="recording")
def fixture_recording(tmp_path):
    return tmp_path / "drive.pfs"


def drive(small_file, recording, *options):
    options += ("--pattern", "stride:64K", "--fault-around", "off", "--cpu", "0")
    return pfstat.drive("--record", recording, *options, small_file)


@pytest.fixture(name="made", scope="module")
def fixture_made(tmp_path_factory):
    """(FILE, recording, drive report): made once for the tests reading it."""
    pfstat.load()
    path = pfstat.make_file(pfstat.DISK / "driven", PAGES * pfstat.PAGE)
    pfstat.drop_cache()
    recording = tmp_path_factory.mktemp("made") / "drive.pfs"
    return path, recording, drive(path, recording)


def test_report_equals_that_of_the_drive(made):
    _, recording, live = made
    later = pfstat.report(recording)
    assert later["faults"] == live["faults"] == PAGES
    for key in ("study", "classes", "calls", "lost", "retried", "major", "parts", "requests", "readahead",
                "evictions", "pages_touched", "rusage", "ledger", "syscalls", "events_lost"):
        assert later[key] == live[key], key
    # Both times cover only the accesses.
    assert later["elapsed_ns"] == live["elapsed_ns"] > 0
    for key, value in live["environment"].items():
        assert later["environment"][key] == value, key
    assert later["environment"]["pattern"] == "stride:64K"


@pytest.mark.long
def test_recording_of_an_interrupted_drive_is_kept(small_file, recording):
    for seconds in (0.5, 1, 2):
        process = subprocess.Popen([pfstat.PFDRIVE, "--record", recording, "--pattern", "random",
                                    "--accesses", "100G", "--repeat", "1", small_file],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pfstat.wait_until(pfstat.hooked)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=pfstat.PATIENCE)
        assert process.returncode == 128 + signal.SIGINT and stdout == ""
        assert stderr.startswith(f"pfdrive: {recording} is incomplete: it was interrupted; ")
        assert pfstat.report(recording)["damage"] == f"{recording} was cut: it was interrupted"


def test_recording_has_the_command_line(small_file, recording):
    """Quoted for a shell."""
    small_file = small_file.rename(small_file.with_name("it's a file"))
    command = ["--record", str(recording), "--no-bpf", str(small_file)]
    pfstat.drive(*command)
    words = shlex.split(pfstat.report(recording)["environment"]["invocation"])
    assert [word for word in words[1:] if word not in ("--format", "json")] == command
    small_file.unlink()


def test_the_file_has_a_name(made):
    path, recording, _ = made
    groups = pfstat.report(recording, "--by", "file")["groups"]["rows"]
    assert [group["name"] for group in groups] == [str(path)]
    result = json.loads(pfstat.run(pfstat.PFDRIVE, "replay", "--format", "json", "--pace", "none",
                                   recording).stdout)
    assert sum(side["count"] or 0 for side in result["recorded"].values()) == PAGES


@pytest.mark.parametrize("options", [(), ("--map", "anon", "--size", "1M")])
def test_thread_and_code_have_names(small_file, recording, options):
    pfstat.drive("--record", recording, "--pattern", "stride:4K", *options,
                 *([] if options else [small_file]))
    thread, = pfstat.report(recording, "--by", "thread")["groups"]["rows"]
    assert thread["name"].startswith("pfdrive (")
    code = pfstat.report(recording, "--by", "code")["groups"]["rows"]
    names = [row["name"] for row in code]
    assert names and all("pfdrive" in name and not name.startswith("0x") for name in names), names
    trace = recording.with_name("run.pftrace")
    pfstat.run(pfstat.PFDRIVE, "report", "--format", "perfetto", "-o", trace, recording)
    assert "pfdrive" in perfetto.read(trace).thread_names


def test_module_cost_is_subtracted_on_request(small_file, recording):
    live, later = drive(small_file, recording, "--subtract"), pfstat.report(recording)
    assert live["cost"]["subtracted"] and not later["cost"]["subtracted"]
    share = live["cost"]["inside_ns"]
    assert 0 < share == later["cost"]["inside_ns"]
    seen = [name for name, figures in later["classes"].items() if figures["count"]]
    assert "disk" in seen and len(seen) > 1
    for name in seen:
        difference = later["classes"][name]["mean_ns"] - live["classes"][name]["mean_ns"]
        assert difference == pytest.approx(share, abs=1), name
    assert 0 < live["cost"]["total_ns"] < live["elapsed_ns"]


def test_figures_of_the_study_are_printed_as_text(made):
    path, recording, _ = made
    text = pfstat.run(pfstat.PFDRIVE, "report", recording, "--plot", "-").stdout
    assert f"{path}: pages 0 to {PAGES - 1}." in text
    assert "#" in text or "█" in text


def test_invalid_options_are_refused(small_file, recording):
    result = pfstat.run(pfstat.PFDRIVE, "--record", small_file, small_file, check=False)
    assert result.returncode == 2 and "are the same file" in result.stderr
    result = pfstat.run(pfstat.PFDRIVE, "--record", recording, "--repeat", "2", small_file,
                        check=False)
    assert result.returncode == 2 and "one run" in result.stderr
    assert not recording.exists()

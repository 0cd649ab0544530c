# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive replay: the recorded accesses under another policy, which is restored afterwards."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

import pfstat

PAGES = 512
STRIDE = 16     # pages
RECORDING = pathlib.Path("/tmp/replay.pfs")


@pytest.fixture(name="cold_file", scope="module")
def fixture_cold_file():
    return pfstat.make_file(pfstat.DISK / "replay", PAGES * pfstat.PAGE)


def record(path, *command):
    pfstat.load()
    pfstat.drop_cache()
    pfstat.run(pfstat.PFDRIVE, "record", "-o", RECORDING, "--fault-around", "off", "--file", path,
               "--", pfstat.BUILD / "workload", *command)
    return RECORDING


@pytest.fixture(name="strided", scope="module")
def fixture_strided(cold_file):
    return record(cold_file, "strided", cold_file, STRIDE).rename("/tmp/strided.pfs")


@pytest.fixture(name="sequential", scope="module")
def fixture_sequential(cold_file):
    return record(cold_file, "now", cold_file).rename("/tmp/sequential.pfs")


def replay_report(recording, *options):
    return json.loads(pfstat.run(pfstat.PFDRIVE, "replay", "--format", "json", "--pace", "none",
                                 *options, recording).stdout)


def replay(recording, *options):
    """(recorded, replayed): counts by class."""
    return counts_of(replay_report(recording, *options))


def counts_of(result):
    for when in ("recorded_lost", "replayed_lost"):
        assert result[when] == {"records": 0, "events": 0} or pfstat.may_skip()
    return tuple({name: side["count"] for name, side in result[when].items() if side["count"]}
                 for when in ("recorded", "replayed"))


@pytest.mark.smoke
def test_same_policy_gives_the_same_faults(strided):
    recorded, replayed = replay(strided, "--fault-around", "off")
    assert sum(recorded.values()) == sum(replayed.values()) == PAGES
    assert recorded["long"] >= PAGES // 2


def test_populate_maps_before_the_first_access(strided):
    """populate takes over the faults on single pages, with the help of fault-around."""
    recorded, replayed = replay(strided, "--populate")
    assert sum(recorded.values()) == PAGES
    around = 65536 // pfstat.PAGE
    assert sum(replayed.values()) <= PAGES // (around // 2)


def test_random_has_no_read_ahead(sequential):
    recorded, replayed = replay(sequential, "--fault-around", "off", "--advise", "random")
    assert recorded["readahead"] > 0
    assert replayed == {"disk": PAGES}


ADVISED = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    data.madvise(mmap.MADV_RANDOM, 0, len(data) // 2)
    if len(sys.argv) > 2:
        print("ready", flush=True)
        sys.stdin.readline()
    sum(data[page * mmap.PAGESIZE] for page in range(len(data) // mmap.PAGESIZE))
"""


def check_the_control(recording):
    """Returns the advice that the replays reported: as recorded, and under another advice."""
    control = replay_report(recording, "--fault-around", "off")
    recorded, replayed = counts_of(control)
    assert recorded["disk"] >= PAGES // 2
    assert sum(recorded.values()) == sum(replayed.values()) == PAGES
    assert abs(recorded["disk"] - replayed["disk"]) <= PAGES // 100
    # With other advice the result differs.
    other = replay_report(recording, "--fault-around", "off", "--advise", "normal")
    assert counts_of(other)[1]["disk"] < PAGES // 4
    return control["advice"], other["advice"]


def test_advice_of_the_program_is_repeated(cold_file):
    recording = pathlib.Path("/tmp/advised.pfs")
    pfstat.load()
    pfstat.drop_cache()
    pfstat.run(pfstat.PFDRIVE, "record", "-o", recording, "--fault-around", "off", "--file",
               cold_file, "--", "python3", "-c", ADVISED, cold_file)
    assert check_the_control(recording) == ({"repeated": 1, "refused": 0},
                                            {"repeated": 0, "refused": 0})


def test_advice_from_before_the_recording_is_repeated(cold_file):
    recording = pathlib.Path("/tmp/advised-before.pfs")
    pfstat.load()
    pfstat.drop_cache()
    with subprocess.Popen(["python3", "-c", ADVISED, cold_file, "wait"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        recorder = pfstat.begin_record("-o", recording, "--fault-around", "off", "--file",
                                       cold_file, "-p", program.pid)
        program.stdin.write("\n")
        program.stdin.close()
        program.wait()
        _, stderr = recorder.communicate(timeout=pfstat.PATIENCE)
        assert recorder.returncode == 0, stderr
    check_the_control(recording)


def read_ahead_setting():
    number = os.stat(pfstat.DISK).st_dev
    return pathlib.Path(f"/sys/class/bdi/{os.major(number)}:{os.minor(number)}/read_ahead_kb")


def test_read_ahead_is_set_only_for_the_file(sequential):
    before = read_ahead_setting().read_text()
    _, replayed = replay(sequential, "--fault-around", "off", "--read-ahead", "0")
    assert replayed == {"disk": PAGES}
    assert read_ahead_setting().read_text() == before


@pytest.mark.parametrize("delay", [0.05, pytest.param(0.2, marks=pytest.mark.long), 0.5,
                                   pytest.param(1, marks=pytest.mark.long), 2])
def test_interrupted_replay_restores_the_setting(delay, sequential):
    before = read_ahead_setting().read_text()
    with subprocess.Popen([pfstat.PFDRIVE, "replay", "--read-ahead", "0", sequential],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode in (0, -signal.SIGINT, 128 + signal.SIGINT)
    assert read_ahead_setting().read_text() == before


def test_replay_on_a_shorter_file_omits_pages(strided):
    short = pfstat.make_file(pfstat.DISK / "shorter", PAGES // 4 * pfstat.PAGE)
    recorded, replayed = replay(strided, "--fault-around", "off", "--on", short)
    assert sum(recorded.values()) == PAGES
    assert sum(replayed.values()) == PAGES // 4


def test_name_of_another_replay_file_is_printed(strided):
    copy = pfstat.make_file(pfstat.DISK / "copy", PAGES * pfstat.PAGE)
    printed = pfstat.run(pfstat.PFDRIVE, "replay", "--pace", "none", "--on", copy, strided).stdout
    assert f"\nReplayed on: {copy}\n" in printed


def test_classes_of_ebpf_are_unknown_without_it(strided):
    result = json.loads(pfstat.run(pfstat.PFDRIVE, "replay", "--format", "json", "--pace", "none",
                                   "--fault-around", "off", "--no-bpf", strided).stdout)
    assert result["replayed"]["file"] == {"count": None, "total_ns": None}
    assert result["recorded"]["file"]["count"] is not None
    assert sum(side["count"] or 0 for side in result["replayed"].values()) == PAGES
    table = pfstat.run(pfstat.PFDRIVE, "replay", "--pace", "none", "--no-bpf", strided).stdout
    assert "\nall known to both " in table and "\nall faults " not in table


@pytest.mark.parametrize("target, words", [
    ("/dev/null", "not a regular file"), ("/", "is a folder"), ("/missing", "there is no file"),
])
def test_unsuitable_replay_files_are_refused(target, words, strided):
    for options in ((), ("--read-ahead", "0")):
        assert words in pfstat.refused(1, "replay", *options, "--on", target, strided)


@pytest.mark.parametrize("size", ["1K", "6K", "2G"])
def test_read_ahead_must_be_whole_pages(size, strided):
    assert f"not a multiple of {pfstat.PAGE // 1024}K" in \
        pfstat.refused(2, "replay", "--read-ahead", size, strided)


def test_a_file_with_a_long_name_is_replayed():
    folder = pfstat.DISK.joinpath(*["long" * 50] * 19)
    folder.mkdir(parents=True, exist_ok=True)
    path = pfstat.make_file(folder / "file", PAGES * pfstat.PAGE)
    try:
        recording = record(path, "now", path)
        result = json.loads(pfstat.run(pfstat.PFDRIVE, "report", "--format", "json", "--by",
                                       "file", "--file", path, recording).stdout)
        assert [(row["name"], row["faults"]) for row in result["groups"]["rows"]] == \
            [(str(path), PAGES)]
        assert str(path) in pfstat.run(pfstat.PFDRIVE, "report", "--by", "file", recording).stdout
        _, replayed = replay(recording, "--fault-around", "off", "--file", path)
        assert sum(replayed.values()) == PAGES
    finally:
        shutil.rmtree(pfstat.DISK / ("long" * 50))


def test_a_file_that_was_not_recorded_is_refused(strided):
    result = pfstat.run(pfstat.PFDRIVE, "replay", "--file", "/etc/passwd", strided, check=False)
    assert result.returncode == 1
    assert "/etc/passwd" in result.stderr and result.stdout == ""


def test_standard_input_is_refused():
    result = pfstat.run(pfstat.PFDRIVE, "replay", "-", check=False)
    assert result.returncode == 2 and "standard input" in result.stderr

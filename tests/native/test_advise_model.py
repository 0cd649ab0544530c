# SPDX-License-Identifier: GPL-2.0-only
"""advise: the model's major faults beside those of the replays, for a cold file on an ext4 file
system on a loop device."""
import pytest

import cold_runs
import pfstat

ADVICES = ("control", "normal", "random", "sequential", "read-ahead 0", "read-ahead 32K",
           "read-ahead 512K")

pytestmark = [pytest.mark.parametrize("caller", ["root"], indirect=True),
              pytest.mark.needs(cold_runs.can_mount(), "root, and a loop device with ext4")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with cold_runs.new_folder() as folder, cold_runs.loop_disk(folder, 160) as disk:
        disk.fill()
        disk.read_ahead(128)
        yield disk


def advise(caller, recording, *options):
    text = caller.run("advise", "--rounds", "1", "--format", "json", *options, recording).stdout
    return {row["advice"]: row for row in pfstat.report_of(text, "pfdrive-advise")["rows"]}


@pytest.mark.parametrize("pattern", ["stride", "random"])
def test_model_has_the_major_faults_of_the_replays(caller, disk, pattern):
    disk.cold()
    recording = caller.record(*disk.touch(pattern), options=("--exact",)).path
    rows = advise(caller, recording)
    for name in ADVICES:
        predicted, replayed = rows[name]["model_major_faults"], rows[name]["major"]
        assert abs(predicted - replayed) <= 0.05 * predicted, (name, predicted, replayed)
    for name in ("willneed", "populate_read"):
        assert rows[name]["model_major_faults"] is None
        assert "itself reads pages" in rows[name]["model_cannot"]


def test_model_has_the_read_ahead_of_the_replays(caller, disk):
    """The setting was changed after the recording."""
    disk.cold()
    recording = caller.record(*disk.touch("stride"), options=("--exact",)).path
    disk.read_ahead(512)
    try:
        rows = advise(caller, recording)
    finally:
        disk.read_ahead(128)
    for name in ("control", "random", "read-ahead 128K"):
        predicted, replayed = rows[name]["model_major_faults"], rows[name]["major"]
        assert abs(predicted - replayed) <= 0.05 * predicted, (name, predicted, replayed)
    assert rows["control"]["model_major_faults"] < rows["read-ahead 128K"]["model_major_faults"]


def test_damaged_recording_is_replayed_and_not_predicted(caller, disk):
    disk.cold()
    recording = caller.record(*disk.touch("stride"), options=("--exact",)).path
    cut = caller.folder / "cut.pfs"
    cut.write_bytes(recording.read_bytes()[:-40])
    done = caller.run("advise", "--rounds", "1", cut)
    assert done.stdout.count("The model predicts nothing: the recording is damaged\n") == 1
    assert done.stderr.count("was cut") == 1

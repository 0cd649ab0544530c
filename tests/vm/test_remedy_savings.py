# SPDX-License-Identifier: GPL-2.0-only
"""The saving that a remedy states is what a run with that setting shows."""
import pytest

import cold_runs
import pfstat

PAGES = 2048
KIB = 128

pytestmark = [pytest.mark.deterministic, pytest.mark.no_module,
              pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB"),
              pytest.mark.needs(cold_runs.HUGE_PAGES.exists(), "huge pages, which it disables")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    with cold_runs.mounted(pfstat.DISK) as disk:
        before = disk.setting.read_text(encoding="ascii")
        disk.fill(PAGES)
        yield disk
        disk.setting.write_text(before, encoding="ascii")
        disk.data.unlink()


def run_of(disk, pattern, advice, kib):
    disk.read_ahead(kib)
    return disk.measured(*disk.touch(pattern, advice))


@pytest.mark.parametrize("pattern, advice, options, rule, setting", [
    ("sequence", "MADV_RANDOM", (), "no-read-ahead", "MADV_NORMAL"),
    ("streams", "MADV_RANDOM", (), "no-read-ahead", "MADV_NORMAL"),
    # Which read-ahead is best depends on the time of a request, and so on the host's disk.
    ("random", "none", (), "cold-file", "read_ahead_kb"),
    # With this advice more read-ahead changes nothing.
    ("stride", "MADV_RANDOM", (), "cold-file", None),
])
def test_stated_saving_is_what_a_run_shows(disk, pattern, advice, options, rule, setting):
    cold_runs.record_cold(disk, disk.touch(pattern, advice), "ebpf", KIB, *options)
    result = pfstat.report(cold_runs.RECORDING, "--file", disk.data)
    cause, = [cause for cause in result["verdict"]["causes"] if cause["rule"] == rule]
    assert cause["certain"]
    assert ("Predicted with" in cause["remedy"]) == bool(setting)
    if not setting:
        assert not cause["saving"]
        return
    saving = cause["saving"]
    word, *kib = saving["setting"].split()
    assert word == setting
    changed = (advice, int(kib[0])) if kib else ("none", KIB)
    for faults, words in ((saving["recorded"], (advice, KIB)), (saving["changed"], changed)):
        major, read = run_of(disk, pattern, *words)
        assert abs(faults["major_faults"] - major) <= max(0.02 * major, 2)
        assert abs(faults["bytes_read"] - read) <= 0.02 * read


def test_recording_on_standard_input_has_no_prediction(disk):
    cold_runs.record_cold(disk, disk.touch("random"), "ebpf", KIB)
    with open(cold_runs.RECORDING, "rb") as recording:
        text = pfstat.run(pfstat.PFDRIVE, "report", "-", stdin=recording).stdout
    assert "Cause: " in text and "Predicted" not in text

# SPDX-License-Identifier: GPL-2.0-only
"""what-if: major faults, bytes and time predicted from one recording, against cold runs on a device
with known latency. make what-if-table compares more programs and settings."""
import pytest

import cold_runs
import pfstat

PAGES = 8192
SETTINGS = (32, 512)
LATENCY_NS = 100_000

pytestmark = [
    pytest.mark.no_module, pytest.mark.deterministic,
    pytest.mark.needs(pfstat.KERNEL >= (6, 12), "a kernel whose times were compared"),
    pytest.mark.needs(pfstat.PAGE == 4096, "read-ahead of few pages of 4 KiB"),
    pytest.mark.needs(cold_runs.HUGE_PAGES.exists(), "transparent huge pages, which it disables")]


@pytest.fixture(name="disk", scope="module")
def fixture_disk():
    """With large folios since 6.16: what-if takes each file system for one."""
    with pfstat.mounted_disk("what_if", LATENCY_NS, features=()) as folder, \
            cold_runs.mounted(folder) as disk:
        disk.fill(PAGES)
        yield disk


def assert_close(predicted, measured, share, few=0):
    assert abs(predicted - measured) <= max(share * measured, few), (predicted, measured)


@pytest.mark.parametrize("pattern", [
    pytest.param("stride", marks=pytest.mark.long), "random",
    pytest.param("runs", marks=pytest.mark.long)])
def test_prediction_equals_cold_runs(disk, pattern):
    command = disk.touch(pattern)
    rows = cold_runs.predicted(disk, command, disk.data, "ebpf", SETTINGS)
    for kib in SETTINGS:
        row = rows[kib]
        disk.read_ahead(kib)
        major, read = disk.measured(*command)
        assert_close(row["major_faults"], major, 0.02, 2)
        assert_close(row["bytes_read"], read, 0.02)
        ns = cold_runs.fault_ns(disk, command, disk.data, "ebpf", kib)
        print(f"{pattern} {kib}K: {major} major faults, {read} bytes, {ns} ns; predicted:", row)
        if row["total_ns"] is None:
            assert row["no_time"]
        else:
            assert_close(row["total_ns"], ns, 0.1)
    assert 2 * sum(rows[kib]["total_ns"] is not None for kib in SETTINGS) >= len(SETTINGS)

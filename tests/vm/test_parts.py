# SPDX-License-Identifier: GPL-2.0-only
"""The parts of fault time, measured with disks with known latency."""
import functools
import itertools

import pytest

import pfstat
import test_experiments

pytestmark = pytest.mark.deterministic


LATENCIES = (50_000, 100_000, 200_000)


@functools.lru_cache(maxsize=None)
def on_disk(latency_ns, readahead_kb):
    with pfstat.mounted_disk(f"disk{latency_ns}", latency_ns, readahead_kb) as folder:
        path = pfstat.make_file(folder / "file", 1024 * pfstat.PAGE)
        return pfstat.drive("--pattern", "random", "--fault-around", "off", "--accesses",
                            "20000", path)


def device_ns(result):
    return result["parts"]["classes"]["disk"]["parts"]["device"]["mean_ns"]


@pytest.mark.parametrize("latency_ns", LATENCIES)
def test_device_part_matches_the_latency_of_the_disk(latency_ns):
    """One-page requests: with read-ahead the thread works longer before it sleeps, about 3 us
    instead of 2.5, which is cpu_before, not device. The disk copies a 16 KiB page in 3."""
    result = on_disk(latency_ns, 0)
    assert result["parts"]["classes"]["disk"]["count"] == 1024
    assert 0 < latency_ns - device_ns(result) < (3500 if pfstat.PAGE == 4096 else 7000)


@pytest.mark.parametrize("readahead_kb", [0, 128])
@pytest.mark.parametrize("shorter, longer", itertools.pairwise(LATENCIES))
def test_a_slower_disk_adds_only_its_latency(shorter, longer, readahead_kb):
    before, after = on_disk(shorter, readahead_kb), on_disk(longer, readahead_kb)
    # With read-ahead there are only 46 of them: one interrupt is a hundredth of the mean.
    more = pytest.approx(longer - shorter, rel=0.02 if readahead_kb else 0.01)
    assert device_ns(after) - device_ns(before) == more
    # With read-ahead two requests are in flight at a time, and this disk copies one with the CPU
    # (33 us on 6.12, 98 us on 6.1) while the time of the other elapses.
    if not readahead_kb:
        assert after["requests"]["device"]["mean_ns"] - \
            before["requests"]["device"]["mean_ns"] == more


@pytest.mark.parametrize("name", test_experiments.EXPERIMENTS)
def test_residue_is_zero(name):
    result = test_experiments.experiment(name)
    assert result["parts"]["known"]
    assert result["parts"]["residue_share"] < 0.02
    assert result["ledger"]["unexplained"] == 0, result["ledger"]


@pytest.mark.parametrize("name", test_experiments.EXPERIMENTS)
def test_parts_add_up_to_the_total(name):
    for faults in test_experiments.experiment(name)["parts"]["classes"].values():
        if faults["count"]:
            assert sum(part["total_ns"] for part in faults["parts"].values()) == \
                faults["total_ns"]


@pytest.mark.parametrize("name", test_experiments.EXPERIMENTS)
def test_pages_read_ahead_are_accounted_for(name):
    readahead = test_experiments.experiment(name)["readahead"]
    assert readahead["read"] == \
        readahead["mapped"] + readahead["evicted_unused"] + readahead["idle"]
    assert readahead["overflow"] == 0
    # The whole file was read during the run, except the warm page.
    assert readahead["read"] == (0 if name == "random-warm" else test_experiments.PAGES)

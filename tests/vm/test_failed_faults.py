# SPDX-License-Identifier: GPL-2.0-only
"""Each fault that fails counts once: without a mapping, without access, beyond the file's end."""
import pytest

import pfstat

RARE = pfstat.BUILD / "rare_faults"
FAILED = 100


@pytest.mark.parametrize("source", ["module", "ebpf"])
@pytest.mark.parametrize("way", ["unmapped", "denied", "beyond"])
def test_a_fault_that_fails_counts_once(way, source):
    result, _ = pfstat.record(RARE, "fails", way, FAILED, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    assert result["failed_faults"] == FAILED

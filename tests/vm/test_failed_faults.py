# SPDX-License-Identifier: GPL-2.0-only
"""Each fault that fails counts once: without a mapping, without access, beyond the file's end."""
import platform
import re

import pytest

import pfstat

RARE = pfstat.BUILD / "rare_faults"
FAILED = 100
# Linux 6.13 brought guard pages.
HAS_GUARD = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 13)
WAYS = ["unmapped", "denied", "beyond"] + ["guard"] * HAS_GUARD


@pytest.mark.parametrize("source", ["module", "ebpf"])
@pytest.mark.parametrize("way", WAYS)
def test_a_fault_that_fails_counts_once(way, source):
    result, _ = pfstat.record(RARE, "fails", way, FAILED, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    assert result["failed_faults"] == FAILED

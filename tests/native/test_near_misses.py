# SPDX-License-Identifier: GPL-2.0-only
"""Programs that leave nearly the same evidence: each gets its own cause, or both as possible."""
import pytest

import complaints
from cases import CASES

NEAR = [case for case in CASES if case.near and case.perf is not None]


@pytest.mark.parametrize("case", NEAR, ids=lambda case: case.name)
def test_a_cause_is_that_of_its_program_and_not_of_one_that_looks_alike(caller, case):
    result = caller.record_variant(case.variant)
    assert complaints.outcome(result, case) in case.perf_says, "\n".join(result.lines)

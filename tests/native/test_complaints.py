# SPDX-License-Identifier: GPL-2.0-only
"""With perf's events a report's first lines name the cause of a complaint, or state what may be the
cause, and are not wrong."""
import os

import pytest

import complaints
import native
from cases import CASES

PERF = [case for case in CASES if case.perf is not None and not case.near]


def is_for_root(case):
    """A user may not have userfaultfd(2), and has no verdict if faults may be hidden from perf."""
    return case.hidden or case.name == "snapshot_restore"


def each(cases):
    """Each of these cases, recorded by one caller."""
    return pytest.mark.parametrize("caller, case", [
        pytest.param("root" if is_for_root(case) else "user", case, id=case.name)
        for case in cases if os.geteuid() == 0 or not is_for_root(case)], indirect=["caller"])


@each(PERF)
def test_first_lines_are_not_wrong(caller, case):
    result = caller.record_variant(case.variant)
    if not case.variant.attach:
        native.assert_complete(result.json, hidden=case.hidden)
    assert complaints.is_acquitted(result, case) or \
        complaints.outcome(result, case) in case.perf_says, "\n".join(result.lines)


@each([case for case in PERF if case.perf_tests_remedy()])
def test_remedy_makes_fewer(caller, case):
    before, after = (caller.record_variant(variant).count(case)
                     for variant in (case.variant, case.after))
    assert before > 0 and after <= before * complaints.REMEDY, (before, after)

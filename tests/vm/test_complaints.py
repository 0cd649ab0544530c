# SPDX-License-Identifier: GPL-2.0-only
"""The first lines of a report name the cause of each complaint in tests/complaints/cases.py, and
the remedy reduces the cause's count. tests/native has the other remedies."""
import json

import pytest

import complaints
import filesystems
import pfstat
from cases import CASES
from pfstat import PFDRIVE

THERE = {
    "persistent memory": filesystems.has_persistent_memory(),
    "the module": pfstat.has_module(),
}
COMPLAINTS = [case for case in CASES if not case.near]
SOURCES = {"module": ("the module",), "ebpf": ()}

# The programs touch each 4 KiB. The instruction clock makes their figures the same on a busy host.
pytestmark = [pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB"),
              pytest.mark.deterministic, pytest.mark.long]


def marks(what):
    return [pytest.mark.needs(THERE[name], name) for name in what]


def each(cases):
    """Each of these cases with each source."""
    return pytest.mark.parametrize("case, source", [
        pytest.param(case, source, id=f"{case.name}-{source}", marks=marks(case.needs + needs))
        for case in cases for source, needs in SOURCES.items()])


@pytest.fixture(name="recorded", scope="module")
def fixture_recorded(tmp_path_factory):
    """Records a variant once for all tests, and returns the report."""
    folder, results = tmp_path_factory.mktemp("complaints"), {}

    def recorded(variant, source):
        key = repr(variant), source
        if key not in results:
            path = folder / f"{len(results)}.pfs"
            results[key] = complaints.record(variant, pfstat.DISK, path, source)
        return results[key]
    return recorded


@each(COMPLAINTS)
def test_first_lines_name_the_cause(case, source, recorded):
    result = recorded(case.variant, source)
    assert result.json["environment"]["source"] == source
    expected = ("named",) if case.certain else ("named", "uncertain")
    assert complaints.outcome(result, case) in expected, "\n".join(result.lines)


@each([case for case in COMPLAINTS if case.after and not case.perf_tests_remedy()])
def test_remedy_makes_fewer(case, source, recorded):
    results = [recorded(variant, source) for variant in (case.variant, case.after)]
    before, after = (result.count(case) for result in results)
    assert before > 0 and after <= before * complaints.REMEDY, (before, after)
    # For a process running before, compare has faults a second: fewer may take less time, too.
    if case.fewer == "faults" and not case.variant.attach:
        assert faults_change(*results) == ("change", before, after)


def faults_change(before, after):
    """What pfdrive compare says about the number of all faults."""
    table = json.loads(pfstat.run(PFDRIVE, "compare", "--format", "json", "--threshold", "30",
                                  before.recording, after.recording, check=False).stdout)
    row, = (row for row in table["rows"] if (row["class"], row["measure"]) == ("all", "faults"))
    return row["verdict"], row["a"], row["b"]

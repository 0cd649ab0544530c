# SPDX-License-Identifier: GPL-2.0-only
"""Four threads are in faults at once while nothing else in their process runs, or a fifth thread
computes, sleeps, or a child computes. tests/native has the bounds that perf supports."""
import pytest

import pfstat

PROGRAM = pfstat.BUILD / "overlapping_faults"
ROUNDS = 20
# The handler sleeps so long while all four threads wait for it. A timer may be early by
# microseconds.
LEAST_NS = ROUNDS * 19000000


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    "ebpf"])
def fixture_source(request):
    return request.param


def record(source, how):
    result, _ = pfstat.record(PROGRAM, how, ROUNDS, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    return result


@pytest.mark.smoke
@pytest.mark.parametrize("how", ["alone", "sleeps", "children"])
def test_a_process_stands_still_while_its_four_threads_are_in_faults(source, how):
    result = record(source, how)
    found = result["standstill"]
    for time in found["still"], found["several"]:
        # Nothing is unknown: all threads start and exit in the recording.
        assert time["max_ns"] >= time["min_ns"] >= LEAST_NS
    assert found["process"] == "overlapping_faults"[:15]
    assert found["threads"] == 6 + (how == "sleeps")
    assert found["processes"] == 1 + (how == "children")
    assert found["complete"]
    assert result["in_flight"]["most_min"] >= 4
    assert result["in_flight"]["mean"] > 2


def test_a_process_does_not_stand_still_while_a_fifth_thread_computes(source):
    result = record(source, "computes")
    found = result["standstill"]
    assert found is None or found["still"]["max_ns"] < LEAST_NS / 2
    assert result["in_flight"]["most_min"] >= 4
    assert result["busy"]["min_ns"] >= LEAST_NS

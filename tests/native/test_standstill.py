# SPDX-License-Identifier: GPL-2.0-only
"""perf has an upper bound for the time a process stood still."""
import pytest

import native

ROUNDS = 20
# The handler sleeps so long while all four threads wait for it. A timer may be early by
# microseconds.
LEAST_NS = ROUNDS * 19000000


def record(caller, how):
    recording = caller.record(caller.program("overlapping_faults"), how, ROUNDS)
    native.assert_complete(recording.report())
    return recording, recording.report()


@pytest.mark.parametrize("how", ["alone", "sleeps", "children"])
def test_a_process_stands_still_while_its_four_threads_are_in_faults(caller, how):
    recording, result = record(caller, how)
    found = result["standstill"]
    for time in found["still"], found["several"]:
        assert time["min_ns"] is None
        assert time["max_ns"] >= LEAST_NS
    assert found["threads"] == 6 + (how == "sleeps")
    assert found["processes"] == 1 + (how == "children")
    assert result["in_flight"]["most_min"] >= 4
    text = " ".join(recording.print().split())
    share = found["still"]["max_ns"] / result["verdict"]["wall_ns"]
    assert ("stood still: its threads were in faults" in text) is (share >= 0.1)
    assert "Stood still: overlapping_fau" in text


def test_a_process_does_not_stand_still_while_a_fifth_thread_computes(caller):
    _, result = record(caller, "computes")
    found = result["standstill"]
    assert found is None or found["still"]["max_ns"] < LEAST_NS / 2
    assert result["in_flight"]["most_min"] >= 4
    assert result["busy"]["min_ns"] >= LEAST_NS

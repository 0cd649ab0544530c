# SPDX-License-Identifier: GPL-2.0-only
"""Four threads fault at once, and a handler of userfaultfd in another process brings the pages. The
report names the handler, and how long the faults waited until it had read them."""
import pytest

import perfetto
import pfstat

PROGRAM = pfstat.BUILD / "page_server"
THREADS = 4
ROUNDS = 20


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    "ebpf"])
def fixture_source(request):
    return request.param


def record(source, servers):
    result, text = pfstat.record(PROGRAM, servers, ROUNDS, options=("--source", source, "--full"))
    pfstat.assert_nothing_lost(result)
    handler, = result["handlers"]
    assert handler["name"] == "page_source" and handler["threads"] == servers
    # A thread that is answered before it sleeps does not wait.
    assert handler["reads"] == THREADS * ROUNDS >= handler["waits"] > THREADS * ROUNDS / 2
    assert handler["unread"] == handler["unread_ns"] == 0
    assert handler["queue_ns"] + handler["work_ns"] == handler["total_ns"]
    assert handler["total_ns"] == result["parts"]["all"]["parts"]["handler"]["total_ns"]
    assert handler["max_ns"] <= handler["total_ns"]
    return result, handler, " ".join(text.split())


def cause_of(result):
    return next(cause for cause in result["verdict"]["causes"] if cause["rule"] == "userfaultfd")


@pytest.mark.smoke
def test_the_queue_of_a_handler_is_shorter_with_more_threads(source):
    one, alone, text = record(source, 1)
    four, several, _ = record(source, THREADS)
    # With one thread most faults are read after the spin for another.
    assert alone["queue_ns"] / alone["total_ns"] > several["queue_ns"] / several["total_ns"]
    for result, handler in (one, alone), (four, several):
        cause = cause_of(result)
        assert cause["certain"]
        assert f"for page_source (pid {handler['pid']})" in cause["text"]
        # The remedy is for the longer part, which depends on the host's load.
        queues = handler["queue_ns"] > handler["work_ns"]
        assert (f"read and answer faults ({handler['threads']} did)" in cause["remedy"]) == queues
        assert ("perf trace -p" in cause["remedy"]) != queues
    assert "Handlers of userfaultfd for which faults waited" in text
    assert f"page_source {alone['pid']} 1 {alone['waits']} " in text


def test_the_slices_of_the_waits_have_the_handler(source, tmp_path):
    recording, trace = tmp_path / "run.pfs", tmp_path / "run.pftrace"
    pfstat.run(pfstat.PFDRIVE, "record", "--source", source, "-o", recording, "--", PROGRAM, 1,
               ROUNDS)
    handler, = pfstat.report(recording)["handlers"]
    pfstat.run(pfstat.PFDRIVE, "report", "--format", "perfetto", "-o", trace, recording)
    waits = [each for each in perfetto.read(trace).of("part") if each.name == "handler"]
    assert len(waits) == handler["waits"]
    assert sum(each.end_ns - each.start_ns for each in waits) == handler["total_ns"]
    for each in waits:
        assert each.arguments == {"handler": handler["pid"], "handler_name": handler["name"]}

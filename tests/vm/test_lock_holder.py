# SPDX-License-Identifier: GPL-2.0-only
"""Threads fault while another thread in their process changes their mapping, or forks. The report
names this thread, which passed mmap_lock on, and its call."""
import pathlib

import pytest

import pfstat
from pfstat import PFDRIVE, run

PROGRAM = pfstat.BUILD / "lock_holder"
RECORDING = pathlib.Path("/tmp/lock_holder.pfs")
# The C library's fork() is clone(2).
CALLS = {"protect": ("mprotect",), "fork": ("clone", "fork", "clone3")}
REMEDIES = {"protect": "protect large ranges in few calls", "fork": "posix_spawn(3)"}


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")), "ebpf"])
def fixture_source(request):
    return request.param


@pytest.mark.smoke
@pytest.mark.parametrize("how", ["protect", "fork"])
def test_the_thread_that_passed_the_lock_on_is_named_with_its_call(source, how):
    run(PFDRIVE, "record", "--source", source, "-o", RECORDING, "--", PROGRAM, how)
    result = pfstat.report(RECORDING)
    lock = result["mmap_lock"]
    assert lock["sleeps"] >= sum(waker["sleeps"] for waker in lock["wakers"]) > 0
    assert lock["total_ns"] == sum(waker["total_ns"] for waker in lock["wakers"])
    assert lock["in_faults_ns"] <= lock["total_ns"]
    waker = lock["wakers"][0]
    assert (waker["thread"], waker["doing"]) == ("changer", "call")
    assert waker["call"] in CALLS[how]
    assert waker["total_ns"] > lock["total_ns"] / 2
    text = run(PFDRIVE, "report", "--full", RECORDING).stdout
    assert f"until changer (tid {waker['tid']}) passed it on in {waker['call']}()" in text
    cause, = (cause for cause in result["verdict"]["causes"] if cause["rule"] == "mmap-lock")
    assert (f"ended when changer (tid {waker['tid']}) passed the lock on in {waker['call']}()."
            in cause["text"])
    assert REMEDIES[how] in cause["remedy"]

# SPDX-License-Identifier: GPL-2.0-only
"""A program gives memory back in several ways, and needs it again. The report has the price at the
call that gave it back, and the remedy leaves at most a tenth of the faults."""
import pytest

import pfstat

PROGRAM = pfstat.BUILD / "gives_back"
PAGES, ROUNDS = 1000, 12
AGAIN = PAGES * (ROUNDS - 1)
# Pages of the program's start and its stack.
NOISE = 100


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(pfstat.has_module(), "the module")), "ebpf"])
def fixture_source(request):
    return request.param


def record(source, *words, env=()):
    result, _ = pfstat.record("env", *env, PROGRAM, *words, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    return result


def touched_again(result):
    return [cause for cause in result["verdict"]["causes"] if cause["rule"] == "touched-again"]


@pytest.mark.parametrize("how,call,detail", [
    ("munmap", "munmap", None), ("brk", "brk", None), ("fixed", "mmap", None),
    ("madvise", "madvise", "MADV_DONTNEED"), ("malloc", "munmap", None)])
def test_memory_that_is_needed_again_has_its_price(source, how, call, detail):
    # Above 32 MiB, malloc() gives a block back.
    pages = 8200 if how == "malloc" else PAGES
    result = record(source, how, pages, ROUNDS)
    rows = result["shaping_calls"]["rows"]
    most = max(rows, key=lambda row: row["again_faults"])
    assert most["name"] == call and (not detail or most["detail_name"] == detail), most
    again = pages * (ROUNDS - 1)
    assert again <= most["again_pages"] <= again + NOISE, most
    assert again <= most["again_faults"] <= again + NOISE, most
    assert pages * ROUNDS <= most["given_pages"] <= pages * ROUNDS + NOISE, most
    cause, = touched_again(result)
    assert cause["certain"] and f"{call}() gave back" in cause["text"], cause
    if how == "malloc":
        assert "mmap_threshold=N" in cause["remedy"], cause
    elif pfstat.ARM64 or how != "brk":
        assert "instead of" in cause["remedy"] or "libc" in most["caller"], cause


@pytest.mark.parametrize("how,rounds", [("move", 2 * ROUNDS), ("never", ROUNDS)])
def test_memory_that_is_kept_has_no_price(source, how, rounds):
    result = record(source, how, PAGES, rounds)
    again = sum(row["again_faults"] for row in result["shaping_calls"]["rows"])
    assert again <= NOISE, result["shaping_calls"]
    assert not touched_again(result), result["verdict"]


def test_remedy_leaves_few_faults(source):
    tunables = ":".join(f"glibc.malloc.{name}_threshold=1000000000" for name in ("trim", "mmap"))
    result = record(source, "malloc", 8200, ROUNDS, env=(f"GLIBC_TUNABLES={tunables}",))
    assert result["rusage"]["minflt"] < 8200 + 1000
    assert not touched_again(result), result["verdict"]

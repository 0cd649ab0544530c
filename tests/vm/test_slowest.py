# SPDX-License-Identifier: GPL-2.0-only
"""The longest faults have the causes that were made on purpose, from the module and from eBPF."""
import pathlib

import pytest

import pfstat
from pfstat import PFDRIVE, run
from test_verdict import USERFAULT

RECORDING = pathlib.Path("/tmp/slowest.pfs")
LATENCY_NS = 30_000_000

READ = """
import mmap
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data[{page} * mmap.PAGESIZE]
"""


@pytest.fixture(name="source", params=["module", "ebpf"])
def fixture_source(request):
    if request.param == "module" and not pfstat.has_module():
        pytest.skip("no module")
    return request.param


def slowest(source, *command):
    """The longest faults of a command in JSON, and the text of the longest one."""
    run(PFDRIVE, "record", "--source", source, "-o", RECORDING, "--", *command)
    result = pfstat.report(RECORDING)
    text = run(PFDRIVE, "report", "--slowest", 1, RECORDING).stdout
    return result["slowest"], text


def test_a_slow_disk_is_the_reason_of_the_longest_fault(source):
    page = 5
    with pfstat.mounted_disk("slow", LATENCY_NS, readahead_kb=4) as folder:
        path = pfstat.make_file(folder / "data", 16 * pfstat.PAGE)
        pfstat.evict(path)
        found, text = slowest(source, "python3", "-c", READ.format(path=path, page=page))
    longest = found["faults"][0]
    assert longest["file"] == str(path) and longest["page"] == page, longest
    assert longest["class"] == "disk" and longest["major"] and not longest["kernel"]
    assert longest["start_ns"] > found["run_start_ns"]
    assert longest["part"]["name"] == "device"
    assert sum(ns or 0 for ns in longest["parts"].values()) == longest["duration_ns"]
    assert not longest["more_requests"] and not longest["more_intervals"]
    request = next(request for request in longest["requests"] if request["file"] == str(path))
    assert request["page"] <= page < request["page"] + request["bytes"] // pfstat.PAGE
    assert request["device_ns"] >= LATENCY_NS and request["tid"] == longest["tid"]
    assert request["in_flight"] >= 1 and not request["write"] and not request["error"]
    interval = max(longest["intervals"], key=lambda interval: interval["duration_ns"])
    assert interval["part"] == "device" and not interval["on_cpu"]
    assert f"{path}, offset {hex(page * pfstat.PAGE)} (page {page})" in text
    assert "Requests that it waited for" in text


def test_the_thread_that_ends_the_longest_fault_is_named(source):
    found, text = slowest(source, "python3", "-c", USERFAULT)
    longest = found["faults"][0]
    interval = max(longest["intervals"], key=lambda interval: interval["duration_ns"])
    assert interval["cause"] == "a handler of userfaultfd", longest
    assert interval["functions"][0] == "handle_userfault"
    assert interval["waker"] == longest["pid"] != longest["tid"]
    assert interval["waker_thread"] == "python3"
    assert longest["requests"] == []
    assert f"python3 ({longest['pid']})  a handler of userfaultfd: handle_userfault" in text

# SPDX-License-Identifier: GPL-2.0-only
"""The longest faults have the causes that were made on purpose, from the module and from eBPF. On a
busy host any other fault may be longer, so the tests look for theirs."""
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
    """A command's longest faults in JSON, and as text."""
    run(PFDRIVE, "record", "--source", source, "-o", RECORDING, "--", *command)
    found = pfstat.report(RECORDING, "--slowest", 1000)["slowest"]
    durations = [fault["duration_ns"] for fault in found["faults"]]
    assert durations == sorted(durations, reverse=True) and durations
    return found, run(PFDRIVE, "report", "--slowest", 1000, RECORDING).stdout


def longest_interval(fault):
    return max(fault["intervals"], key=lambda interval: interval["duration_ns"])


def test_a_slow_disk_is_the_reason_of_a_long_fault(source):
    page = 5
    with pfstat.mounted_disk("slow", LATENCY_NS, readahead_kb=4) as folder:
        path = pfstat.make_file(folder / "data", 16 * pfstat.PAGE)
        pfstat.evict(path)
        found, text = slowest(source, "python3", "-c", READ.format(path=path, page=page))
    fault, = (fault for fault in found["faults"]
              if fault["file"] == str(path) and fault["page"] == page)
    assert fault["class"] == "disk" and fault["major"] and not fault["kernel"]
    assert fault["start_ns"] > found["run_start_ns"]
    assert sum(ns or 0 for ns in fault["parts"].values()) == fault["duration_ns"] >= LATENCY_NS
    assert fault["parts"]["device"] > 0
    assert not fault["more_requests"] and not fault["more_intervals"]
    request = next(request for request in fault["requests"] if request["file"] == str(path))
    assert request["page"] <= page < request["page"] + request["bytes"] // pfstat.PAGE
    assert request["device_ns"] >= LATENCY_NS and request["tid"] == fault["tid"]
    assert request["in_flight"] >= 1 and not request["write"] and not request["error"]
    device = [interval for interval in fault["intervals"] if interval["part"] == "device"]
    assert device and not any(interval["on_cpu"] or interval["cause"] for interval in device)
    assert f"{path}, offset {hex(page * pfstat.PAGE)} (page {page})" in " ".join(text.split())
    assert "Requests that it waited for" in text


def test_the_thread_that_ends_a_long_fault_is_named(source):
    # The handler calls madvise() while the other thread is in the fault.
    program = USERFAULT.replace("time.sleep(0.05)", "mmap.mmap(-1, mmap.PAGESIZE)"
                                ".madvise(mmap.MADV_RANDOM); time.sleep(0.05)")
    assert "MADV_RANDOM" in program
    found, text = slowest(source, "python3", "-c", program)
    fault, = (fault for fault in found["faults"] if fault["intervals"] and
              longest_interval(fault)["cause"] == "a userfaultfd handler")
    interval = longest_interval(fault)
    assert interval["functions"][0] == "handle_userfault" and interval["part"] == "handler"
    assert interval["waker"] == fault["pid"] != fault["tid"]
    assert interval["waker_thread"] == "python3"
    assert fault["requests"] == []
    # clone(), which began the thread, may overlap the fault too.
    call, = (call for call in fault["calls"] if call["detail"] == "MADV_RANDOM")
    assert call["call"] == "madvise"
    assert call["tid"] == fault["pid"] and call["thread"] == "python3"
    assert call["shared_ns"] == call["duration_ns"] > 0
    assert (f"python3 ({fault['pid']}) in ioctl()  a userfaultfd handler: handle_userfault"
            in text)
    assert f"thread python3 ({fault['pid']}) in madvise(MADV_RANDOM), " in " ".join(text.split())

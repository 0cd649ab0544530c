# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive top with the module, while a program faults."""
import re
import subprocess

import pytest

import pfstat


@pytest.fixture(name="busy")
def fixture_busy(small_file):
    """Two threads that fault forever, as soon as they may go."""
    workload = pfstat.Workload("threads", small_file, 2)
    yield workload
    workload.kill()


def go_when_watched(workload, process):
    """The threads take no time from pfdrive's start."""
    pfstat.wait_until(lambda: process.poll() is not None or pfstat.watches(process))
    workload.go()


@pytest.mark.smoke
def test_each_interval_prints_a_block_of_lines(busy, small_file):
    with subprocess.Popen([pfstat.PFDRIVE, "top", "-p", str(busy.pid), "-i", "0.5", "-n", "3",
                           "--fault-around", "off"], stdout=subprocess.PIPE, text=True) as process:
        go_when_watched(busy, process)
        output, _ = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0
    blocks = output.strip().split("\n\n")
    assert len(blocks) == 3 and "\x1b" not in output
    for block in blocks[1:]:        # the first interval may begin before the faults
        faults = float(re.search(r"([\d.]+) faults/s", block)[1])
        assert faults > 100
        assert re.search(r" long$", block, re.MULTILINE)
        assert str(small_file) in block
        assert "Page faults were in progress" in block.splitlines()[1]
        # On a busy host a VM may stand still for longer than the rings last.
        assert re.search(r"lost: \d+ records, \d+ events", block)
    assert busy.process.poll() is None

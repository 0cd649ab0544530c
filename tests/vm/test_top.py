# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive top while a program faults: its output as lines and on a terminal."""
import os
import pty
import re
import signal
import subprocess

import pytest

import pfstat

WORKLOAD = pfstat.BUILD / "workload"


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
        assert "lost: 0 records, 0 events" in block
    assert busy.process.poll() is None


@pytest.mark.smoke
def test_a_command_runs_and_its_status_is_returned():
    result = pfstat.run(pfstat.PFDRIVE, "top", "-i", "0.2", "--", "sh", "-c", "sleep 1; exit 5",
                        check=False)
    assert result.returncode == 5 and result.stdout


def test_output_on_a_terminal_is_drawn_in_place(busy):
    outer, inner = pty.openpty()
    with subprocess.Popen([pfstat.PFDRIVE, "top", "-p", str(busy.pid), "-i", "0.2"],
                          stdin=inner, stdout=inner) as process:
        os.close(inner)
        go_when_watched(busy, process)
        text = b""
        while text.count(b"faults/s") < 3:
            text += os.read(outer, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    os.close(outer)
    assert b"\x1b[" in text
    assert busy.process.poll() is None and pfstat.hooked() == 0

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
    """Two threads that fault forever."""
    workload = pfstat.Workload("threads", small_file, 2)
    workload.go()
    yield workload
    workload.kill()


def test_each_interval_prints_a_block_of_lines(busy, small_file):
    result = pfstat.run(pfstat.PFDRIVE, "top", "-p", busy.pid, "-i", "0.5", "-n", "3",
                        "--fault-around", "off")
    blocks = result.stdout.strip().split("\n\n")
    assert len(blocks) == 3 and "\x1b" not in result.stdout
    for block in blocks[1:]:        # the first interval may begin before the faults
        faults = float(re.search(r"([\d.]+) faults/s", block)[1])
        assert faults > 100
        assert re.search(r" long$", block, re.MULTILINE)
        assert str(small_file) in block
        assert "had page faults in progress" in block.splitlines()[1]
        assert "lost: 0 records, 0 events" in block
    assert busy.process.poll() is None


def test_a_command_runs_and_its_status_is_returned():
    result = pfstat.run(pfstat.PFDRIVE, "top", "-i", "0.2", "--", "sh", "-c", "sleep 1; exit 5",
                        check=False)
    assert result.returncode == 5 and result.stdout


def test_output_on_a_terminal_is_drawn_in_place(busy):
    outer, inner = pty.openpty()
    with subprocess.Popen([pfstat.PFDRIVE, "top", "-p", str(busy.pid), "-i", "0.2"],
                          stdin=inner, stdout=inner) as process:
        os.close(inner)
        text = b""
        while text.count(b"faults/s") < 3:
            text += os.read(outer, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    os.close(outer)
    assert b"\x1b[" in text
    assert busy.process.poll() is None and pfstat.hooked() == 0

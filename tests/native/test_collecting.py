# SPDX-License-Identifier: GPL-2.0-only
"""The parts that a flight recorder writes, as an agent collects them."""
import os
import signal

import pytest

import pfstat

PAGES = 64


@pytest.fixture(name="churn")
def fixture_churn(caller):
    """Two threads that fault until the end of the test."""
    with caller.started("native_faults", "churn", 2, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        yield program


@pytest.fixture(name="folder")
def fixture_folder(caller):
    """An empty folder of the caller's, for recordings."""
    folder = caller.folder / "collected"
    folder.mkdir()
    os.chown(folder, caller.folder.stat().st_uid, -1)
    yield folder
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()


def finished(folder):
    """The recordings that an agent may take."""
    return sorted(folder.glob("*.pfs"))


def test_a_part_has_its_name_when_it_is_complete(caller, churn, folder):
    with caller.started("pfdrive", "record", "--source", "perf", "--keep", 0.3, "--max-fault-time",
                        0.001, "-o", folder / "part-%s.pfs", "-p", churn.pid) as recorder:
        taken = set()
        while len(taken) < 4:
            assert recorder.poll() is None, recorder.communicate()
            for part in set(finished(folder)) - taken:
                recorder.send_signal(signal.SIGSTOP)
                result = pfstat.report_of(caller.run("report", "--format", "json", part).stdout)
                recorder.send_signal(signal.SIGCONT)
                assert result["damage"] is None and result["parts"]["all"]["count"] > 0
                taken.add(part)

# SPDX-License-Identifier: GPL-2.0-only
"""A test with the fixture `perf` records. Where perf_event_open() is denied, it is skipped, and a
line states the reason."""
import os
import pathlib
import subprocess
import tempfile

import pytest

BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])


@pytest.fixture
def perf():
    """This machine records with perf."""


def denial():
    """Why this machine does not record, or "" if it does."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BUILD / "pfdrive", "record", "--source", "perf", "-o",
                               pathlib.Path(folder, "trial.pfs"), "--", "true"], check=False,
                              capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def pytest_collection_modifyitems(config, items):
    records = [item for item in items if "perf" in item.fixturenames]
    config.reason = denial() if records else ""
    if config.reason:
        config.hook.pytest_deselected(items=records)
        items[:] = [item for item in items if item not in records]


def pytest_report_collectionfinish(config):
    return [f"the test that records is skipped: {config.reason}"] if config.reason else []

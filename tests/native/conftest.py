# SPDX-License-Identifier: GPL-2.0-only
"""Each test runs as an ordinary user and, if root runs the tests, as root too. A test of a caller
to whom perf_event_open() is denied is skipped."""
import functools
import os
import shutil

import pytest

import native

NAMES = ("user", "root") if os.geteuid() == 0 else ("user",)


@functools.lru_cache(maxsize=None)
def folder():
    return native.folder_of_all()


@functools.lru_cache(maxsize=None)
def caller_of(name):
    return native.Caller(name, folder())


@pytest.fixture
def caller(request):
    return caller_of(request.param)


def chooses_caller(metafunc):
    return any("caller" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))


def pytest_generate_tests(metafunc):
    if "caller" in metafunc.fixturenames and not chooses_caller(metafunc):
        metafunc.parametrize("caller", NAMES, indirect=True)


def may_sample(item):
    return caller_of(item.callspec.params["caller"]).may_sample()


def pytest_collection_modifyitems(config, items):
    config.skipped = [item for item in items if not may_sample(item)]
    config.hook.pytest_deselected(items=config.skipped)
    items[:] = [item for item in items if item not in config.skipped]


def pytest_report_collectionfinish(config):
    if not config.skipped:
        return []
    denied = [caller_of(name) for name in NAMES if not caller_of(name).may_sample()]
    callers = " and to ".join(f"{caller.name} ({caller.sampling})" for caller in denied)
    return [f"{len(config.skipped)} skipped: perf_event_open() is denied to {callers}"]


def pytest_sessionfinish(session, exitstatus):
    """If all tests were skipped, that is no failure."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.skipped:
        session.exitstatus = pytest.ExitCode.OK


def pytest_unconfigure():
    if folder.cache_info().currsize:
        shutil.rmtree(folder())

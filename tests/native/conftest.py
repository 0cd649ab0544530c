# SPDX-License-Identifier: GPL-2.0-only
"""Each test runs as an ordinary user and, if root runs the tests, as root too. A test of a caller
to whom perf_event_open() is denied is skipped, and so is one marked needs(CONDITION, WHAT) without
it."""
import functools
import os
import shutil
import signal

import pytest

import native

NAMES = ("user", "root") if os.geteuid() == 0 else ("user",)

# nohup, and a shell without job control, start programs that ignore these. pfdrive then ignores
# them, too.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@functools.lru_cache(maxsize=None)
def folder():
    return native.folder_of_all()


@functools.lru_cache(maxsize=None)
def caller_of(name):
    return native.Caller(name, folder())


@pytest.fixture
def caller(request):
    return caller_of(request.param)


@pytest.fixture
def empty(caller):
    with caller.new_folder() as path:
        yield path


def chooses_caller(metafunc):
    return any("caller" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))


def pytest_generate_tests(metafunc):
    if "caller" in metafunc.fixturenames and not chooses_caller(metafunc):
        metafunc.parametrize("caller", NAMES, indirect=True)


def caller_name(item):
    return item.callspec.params.get("caller") if hasattr(item, "callspec") else None


def may_sample(item):
    return not caller_name(item) or caller_of(caller_name(item)).may_sample()


def missing_needs(item):
    return [mark.args[1] for mark in item.iter_markers("needs") if not mark.args[0]]


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(condition, what): skipped without it")


def pytest_collection_modifyitems(config, items):
    config.denied = [item for item in items if not may_sample(item)]
    config.lacking = [item for item in items if missing_needs(item) and item not in config.denied]
    skipped = config.denied + config.lacking
    config.hook.pytest_deselected(items=skipped)
    items[:] = [item for item in items if item not in skipped]


def pytest_report_collectionfinish(config):
    lines = [f"SKIPPED {item.nodeid}: needs {' and '.join(missing_needs(item))}"
             for item in config.lacking]
    if not config.denied:
        return lines
    denied = [caller_of(name) for name in NAMES if not caller_of(name).may_sample()]
    callers = " and to ".join(f"{caller.name} ({caller.sampling})" for caller in denied)
    return [f"{len(config.denied)} skipped: perf_event_open() is denied to {callers}", *lines]


def pytest_sessionfinish(session, exitstatus):
    """If all tests were skipped, that is no failure."""
    skipped = session.config.denied + session.config.lacking
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and skipped:
        session.exitstatus = pytest.ExitCode.OK


def pytest_unconfigure():
    if folder.cache_info().currsize:
        shutil.rmtree(folder())

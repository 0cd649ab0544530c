# SPDX-License-Identifier: GPL-2.0-only
"""A pytest plugin printing the failures and a closing line, which tools/check reads."""
import pytest

FINISHED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_configure(config):
    config.finished = False


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """An internal error or an interrupt also ends the session, before the other tests ran."""
    session.config.finished = session.exitstatus in FINISHED


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Prints the closing line. A skip counts as a failure, and so does a session that did not
    finish."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    failed = [report for word in ("failed", "error", "skipped") for report in stats.get(word, [])]
    for report in failed:
        print(f"\n{report.nodeid}\n{report.longreprtext}")
    bad = {report.nodeid for report in failed}
    passed = {report.nodeid for report in stats.get("passed", [])}
    if not config.finished:
        print("\npytest did not finish")
        bad.add("pytest")
    print(f"{len(passed - bad)} passed, {len(bad)} failed")

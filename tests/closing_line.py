# SPDX-License-Identifier: GPL-2.0-only
"""A plugin of pytest that prints the failures and a closing line, which tools/check reads."""
import pytest


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Prints the closing line. A skip counts as a failure."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    failed = [report for word in ("failed", "error", "skipped") for report in stats.get(word, [])]
    for report in failed:
        print(f"\n{report.nodeid}\n{report.longreprtext}")
    bad = {report.nodeid for report in failed}
    passed = {report.nodeid for report in stats.get("passed", [])}
    print(f"{len(passed - bad)} passed, {len(bad)} failed")

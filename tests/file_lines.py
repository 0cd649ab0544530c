# SPDX-License-Identifier: GPL-2.0-only
"""A pytest plugin printing the names of the files, and a line after each with its results, which
tools/check reads."""
import pytest


@pytest.hookimpl(trylast=True)
def pytest_report_collectionfinish(items):
    files = dict.fromkeys(item.path.name for item in items)
    return "files: " + " ".join(files)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    yield
    name = item.path.name
    if nextitem is not None and nextitem.path.name == name:
        return
    reporter = item.config.pluginmanager.get_plugin("terminalreporter")
    passed, bad = results(reporter.stats, name + "::")
    reporter.ensure_newline()
    reporter.write_line(f"file {name}: {len(passed)} passed, {len(bad)} failed")


def results(stats, prefix):
    """The tests that passed and those that did not. A skip counts as a failure: tests that cannot
    run are deselected."""
    bad = {report.nodeid for word in ("failed", "error", "skipped")
           for report in stats.get(word, [])}
    passed = {report.nodeid for report in stats.get("passed", [])} - bad
    return ({name for name in passed if name.startswith(prefix)},
            {name for name in bad if name.startswith(prefix)})

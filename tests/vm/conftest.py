# SPDX-License-Identifier: GPL-2.0-only
"""Every test starts with the module loaded and idle, and ends with a clean kernel log."""
import itertools
import re

import pytest

import pfstat

# What must not appear in the kernel log while a test runs.
BAD_LINES = re.compile(r"BUG|WARNING|Oops|lockdep|possible (recursive|circular)|INFO: (task|rcu)"
                       r"|general protection|taint|call trace|leaking", re.IGNORECASE)
# Loading an unsigned out-of-tree module says so once; that is no fault.
ALLOWED_LINES = re.compile(r"pfstat: (loading out-of-tree module|module verification failed)")

NUMBERS = itertools.count()


def kernel_log_after(mark):
    lines = pfstat.run("dmesg", "--notime").stdout.splitlines()
    return lines[max(i for i, line in enumerate(lines) if mark in line) + 1:]


@pytest.fixture(autouse=True)
def kernel_log(request):
    """Gives the test a function that returns what the kernel logged since it began."""
    mark = f"pfstat test {request.node.name[:80]} {next(NUMBERS)}"
    with open("/dev/kmsg", "w") as kmsg:
        kmsg.write(mark + "\n")
    yield lambda: kernel_log_after(mark)
    bad = [line for line in kernel_log_after(mark)
           if BAD_LINES.search(line) and not ALLOWED_LINES.search(line)]
    assert not bad, "the kernel log gained:\n" + "\n".join(bad)


@pytest.fixture(autouse=True)
def module(kernel_log):
    pfstat.load()
    pfstat.control("stop")
    pfstat.control("clear")
    yield
    if pfstat.loaded():
        pfstat.control("stop")
        assert pfstat.hooked() == 0


@pytest.fixture
def small_file():
    """256 pages on the disk of known latency, not in the page cache."""
    path = pfstat.DISK / "small"
    path.unlink(missing_ok=True)        # another test may have written to it
    pfstat.make_file(path, 256 * pfstat.PAGE)
    pfstat.drop_cache()
    return path


def pytest_configure(config):
    # The kernel drops most of what is written to /dev/kmsg in quick succession.
    with open("/proc/sys/kernel/printk_devkmsg", "w") as setting:
        setting.write("on\n")      # it insists on the newline
    config.addinivalue_line("markers", "deterministic: needs the instruction clock")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """The closing line. A skip counts as failed: what a kernel cannot do is left out by name."""
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    failed = [report for word in ("failed", "error", "skipped") for report in stats.get(word, [])]
    for report in failed:
        print(f"\n{report.nodeid}\n{report.longreprtext}")
    passed = {report.nodeid for report in stats.get("passed", [])}
    bad = {report.nodeid for report in failed}
    print(f"{len(passed - bad)} passed, {len(bad)} failed")

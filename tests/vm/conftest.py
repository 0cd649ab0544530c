# SPDX-License-Identifier: GPL-2.0-only
"""Every test starts with the module loaded and idle, and ends with a clean kernel log."""
import collections
import itertools

import pytest

import kmsg
import pfstat

NUMBERS = itertools.count()

# Of so many tests it is said how long they took.
LONGEST = 20

# What the debug kernel found is asked after all tests; only lockdown, which no test
# could live with, comes later.
LAST = ["test_debug_kernel.py", "test_lockdown.py"]

# Of pfdrive more than of a kernel, or long: of several kernels make check asks one (marked
# one_kernel), make check-kernels each.
ONE_KERNEL = {f"test_{name}.py" for name in (
    "bench", "bench_peer", "bench_tools", "bpftool", "compare", "drive_recording",
    "lab", "measures", "output", "pfdrive", "pfdrive_injection", "pfdrive_maps", "policy",
    "privilege", "record", "replay", "simulated_cache", "study_io", "study_pressure", "top",
    "two_recordings", "verdict", "workloads")}

# Five seconds of a VM or more, some a minute: make check leaves them to make check-long. So are
# some tests of other files (marked long), and all that ask of one run of all of pfdrive bench.
LONG = {f"test_{name}.py" for name in (
    "bench_tools", "pfdrive_injection", "policy", "simulated_cache")}


def is_long(item):
    return item.path.name in LONG or "results" in item.fixturenames


@pytest.fixture(autouse=True)
def kernel_log(request):
    """Gives the test a function that returns what the kernel logged since it began."""
    mark = f"pfstat test {request.node.name[:80]} {next(NUMBERS)}"
    with open("/dev/kmsg", "w") as log:
        log.write(mark + "\n")
    yield lambda: kmsg.lines_after(mark)
    kmsg.assert_no_trouble(kmsg.lines_after(mark))


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


def pytest_addoption(parser):
    parser.addoption("--every-step", nargs="?", const="1/1", metavar="I/N",
                     help="test_pfdrive_injection.py: not only a sample (many minutes); "
                          "of all steps every N-th, from the I-th on")
    parser.addoption("--part", default="1/1", help="I/N: every N-th file, from the I-th on")
    parser.addoption("--operations", type=int, default=20000, help="of test_fuzz_debugfs.py")
    parser.addoption("--seed", type=int, help="likewise, to repeat what was")


def pytest_configure(config):
    # The kernel drops most of what is written to /dev/kmsg in quick succession.
    with open("/proc/sys/kernel/printk_devkmsg", "w") as setting:
        setting.write("on\n")      # it insists on the newline
    pfstat.make_disk_of_single_pages()
    config.addinivalue_line("markers", "deterministic: needs the instruction clock")
    config.addinivalue_line("markers", "one_kernel: see ONE_KERNEL")
    config.addinivalue_line("markers", "long: see LONG")
    config.addinivalue_line("markers", "needs(there, what): left out where that is not there")


def in_part(items, part):
    """Of files dealt out to N runs those of the I-th; what asks the kernel comes in each."""
    number, parts = map(int, part.split("/"))
    files = sorted({item.path.name for item in items} - {LAST[0]})
    mine = {LAST[0], *files[number - 1::parts]}
    return [item for item in items if item.path.name in mine]


def lacks(item):
    """What a test needs and this kernel or machine does not have."""
    return [mark.args[1] for mark in item.iter_markers("needs") if not mark.args[0]]


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path.name in ONE_KERNEL:
            item.add_marker("one_kernel")
        if is_long(item):
            item.add_marker("long")
    config.left_out = {(item.path.name, what) for item in items for what in lacks(item)}
    chosen = in_part([item for item in items if not lacks(item)], config.getoption("--part"))
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    items.sort(key=lambda item: LAST.index(item.path.name) if item.path.name in LAST else -1)


def pytest_report_collectionfinish(config):
    return [f"left out, of {name}: what needs {what}" for name, what in sorted(config.left_out)]


def seconds_of_tests(stats):
    """Of each test, what it needs before and after it included."""
    seconds = collections.Counter()
    for reports in stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid] += report.duration
    return seconds


def pytest_sessionfinish(session):
    """Says where the time went, so that it can be seen what makes a run long."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    print()
    for name, seconds in seconds_of_tests(reporter.stats).most_common(LONGEST):
        print(f"{seconds:7.1f} s {name}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """The closing line. A skip counts as failed: what a kernel cannot do is marked (needs)."""
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    failed = [report for word in ("failed", "error", "skipped") for report in stats.get(word, [])]
    for report in failed:
        print(f"\n{report.nodeid}\n{report.longreprtext}")
    passed = {report.nodeid for report in stats.get("passed", [])}
    bad = {report.nodeid for report in failed}
    print(f"{len(passed - bad)} passed, {len(bad)} failed")

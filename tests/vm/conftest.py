# SPDX-License-Identifier: GPL-2.0-only
"""Every test starts with the module loaded and idle, if the kernel has it, and ends with a clean
kernel log."""
import collections
import contextlib
import itertools

import pytest

import kmsg
import pfstat

NUMBERS = itertools.count()

# How many tests are listed with their duration at the end.
LONGEST = 10

# The complaints start thousands of processes. Their numbers get a digit more, which widens the
# tables compared in test_documents.py. The debug kernel's findings are read after all tests. Only
# lockdown, after which no other test can run, comes later.
LAST = ["test_complaints.py", "test_debug_kernel.py", "test_lockdown.py"]

# These depend more on pfdrive than on the kernel, or take long: make check runs them on one kernel
# (marked one_kernel), make check-kernels on each.
ONE_KERNEL = {f"test_{name}.py" for name in (
    "advise", "bench", "bench_peer", "bench_tools", "bpftool", "cgroup_throttle", "code_names",
    "compare", "complaints", "contents", "cpu_tasks", "doctor", "documents", "drive_recording",
    "export", "fault_span", "given_back", "hung_target", "lab", "lock_holder", "mapping_state",
    "measures", "mount_tables", "output", "pfdrive", "pfdrive_injection", "pfdrive_maps", "policy",
    "prefetch", "privilege", "record", "record_keep", "replay", "shaping_calls", "simulated_cache",
    "slowest", "standstill", "study_io", "study_pressure", "study_rss", "top", "two_recordings",
    "userfault", "verdict", "verdict_programs", "waits", "workloads")}

# These take five VM seconds or more, some a minute: make check leaves them to make check-long,
# together with tests marked long in other files, and with all tests sharing one run of all of
# pfdrive bench.
LONG = {f"test_{name}.py" for name in (
    "bench_tools", "pfdrive_injection", "policy", "simulated_cache")}


def is_long(item):
    return item.path.name in LONG or "results" in item.fixturenames


@pytest.fixture(autouse=True)
def kernel_log(request):
    """Gives the test a function returning the kernel messages since the test's start."""
    with contextlib.closing(kmsg.Log()) as log:
        with open("/dev/kmsg", "w") as kernel:
            kernel.write(f"pfstat test {request.node.name[:80]} {next(NUMBERS)}\n")
        yield log.lines
        kmsg.assert_no_trouble(log.lines())


@pytest.fixture(autouse=True)
def module(kernel_log):
    if not pfstat.has_module():
        yield
        return
    pfstat.load()
    pfstat.control("stop")
    pfstat.control("clear")
    yield
    if pfstat.loaded():
        pfstat.control("stop")
        assert pfstat.hooked() == 0


@pytest.fixture
def small_file():
    """256 pages on the disk with known latency, none in the page cache."""
    path = pfstat.DISK / "small"
    path.unlink(missing_ok=True)        # another test may have changed it
    pfstat.make_file(path, 256 * pfstat.PAGE)
    pfstat.drop_cache()
    return path


def pytest_addoption(parser):
    parser.addoption("--every-step", nargs="?", const="1/1", metavar="I/N",
                     help="test_pfdrive_injection.py: not only a sample (many minutes); "
                          "of all steps every N-th, from the I-th on")
    parser.addoption("--operations", type=int, default=20000, help="of test_fuzz_debugfs.py")
    parser.addoption("--seed", type=int, help="likewise, to repeat what was")


def pytest_configure(config):
    # By default the kernel drops most lines written to /dev/kmsg in quick succession.
    with open("/proc/sys/kernel/printk_devkmsg", "w") as setting:
        setting.write("on\n")      # the file requires the newline
    pfstat.make_disk_of_single_pages()
    config.addinivalue_line("markers", "deterministic: needs the instruction clock")
    config.addinivalue_line("markers", "one_kernel: see ONE_KERNEL")
    config.addinivalue_line("markers", "long: see LONG")
    config.addinivalue_line("markers", "packages: of a page that needs packages of its own")
    config.addinivalue_line("markers", "smoke: make smoke runs it")
    config.addinivalue_line("markers", "no_module: needs no module; only these run on a kernel "
                            "that loads none")
    config.addinivalue_line("markers", "needs(there, what): left out where that is not there")


def lacks(item):
    """A test's requirements missing in this kernel or machine."""
    module = ["the module"] if not pfstat.has_module() and \
        item.get_closest_marker("no_module") is None else []
    return module + [mark.args[1] for mark in item.iter_markers("needs") if not mark.args[0]]


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path.name in ONE_KERNEL:
            item.add_marker("one_kernel")
        if is_long(item):
            item.add_marker("long")
    config.left_out = {(item.path.name, what) for item in items for what in lacks(item)}
    chosen = [item for item in items if not lacks(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    items.sort(key=lambda item: LAST.index(item.path.name) if item.path.name in LAST else -1)


def pytest_report_collectionfinish(config):
    return [f"left out, of {name}: what needs {what}" for name, what in sorted(config.left_out)]


def seconds_of_tests(stats):
    """Each test's duration, including setup and teardown."""
    seconds = collections.Counter()
    for reports in stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid] += report.duration
    return seconds


def pytest_sessionfinish(session):
    """Prints the longest tests, which show why a run takes long."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    print()
    for name, seconds in seconds_of_tests(reporter.stats).most_common(LONGEST):
        print(f"{seconds:7.1f} s {name}")

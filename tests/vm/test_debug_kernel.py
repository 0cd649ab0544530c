# SPDX-License-Identifier: GPL-2.0-only
"""The debug kernel's checks (tools/lab prepare --kernel debug) found nothing while the other tests
ran. Runs after all of them, and only on the debug kernel."""
import pathlib

import pytest

import kmemleak
import kmsg
import pfstat

pytestmark = pytest.mark.needs(pfstat.KMEMLEAK.exists(), "the debug kernel")

KMEMLEAK = pfstat.KMEMLEAK
# The only acceptable taint: an unsigned out-of-tree module's
# (Documentation/admin-guide/tainted-kernels.rst).
OUT_OF_TREE, UNSIGNED = 1 << 12, 1 << 13


def test_the_kernel_still_checks_itself():
    """Lockdep and the object tracker disable themselves at their first report or overflow."""
    stats = pathlib.Path("/proc/lockdep_stats").read_text()
    assert [line.split()[-1] for line in stats.splitlines() if "debug_locks" in line] == ["1"]
    config = pfstat.kernel_config()
    for option in ("KASAN", "PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_VM", "DEBUG_KMEMLEAK",
                   "DETECT_HUNG_TASK", "SOFTLOCKUP_DETECTOR", "FAILSLAB"):
        assert config.get(f"CONFIG_{option}") == "y", option


def test_kernel_logged_no_problem_since_boot():
    lines = kmsg.whole()
    assert "Linux version" in lines[0], "the kernel log is not whole: its buffer is too small"
    kmsg.assert_no_trouble(lines)


def test_nothing_tainted_the_kernel():
    taint = int(pathlib.Path("/proc/sys/kernel/tainted").read_text())
    assert taint & ~(OUT_OF_TREE | UNSIGNED) == 0


def test_no_memory_leaks_after_unload():
    pfstat.unload()
    assert kmemleak.scan() == ""


def test_leak_detection_works():
    """The kernel's own leaking sample module proves that the scan works."""
    pfstat.run("modprobe", "kmemleak-test")
    report = kmemleak.scan()
    pfstat.run("rmmod", "kmemleak-test")
    KMEMLEAK.write_text("clear")
    assert "unreferenced object" in report and 'comm "modprobe"' in report

# SPDX-License-Identifier: GPL-2.0-only
"""Conditions that must hold while the module is under stress, and after it was unloaded."""
import itertools
import json
import os
import pathlib
import time

import kmemleak
import kmsg
import pfstat
from test_debug_kernel import OUT_OF_TREE, UNSIGNED
from test_unload import remains

# An eBPF program listing the vm_ops of each file mapping (vm_ops.bpf.c).
VM_OPS = pathlib.Path("/sys/fs/bpf/stress_vm_ops")
CPUS = len(list(pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*")))
# Programs that must not outlive their round.
RECORDERS = ("pfdrive", "recorder")
# Maximum wait in seconds: RCU frees the eBPF programs of killed processes later.
PATIENCE = 60

BASELINE = {}
LOOKED = itertools.count()


def prepare():
    pfstat.unload()
    pathlib.Path("/proc/sys/kernel/hung_task_timeout_secs").write_text("60")
    # By default the kernel drops most lines written to /dev/kmsg in quick succession.
    with open("/proc/sys/kernel/printk_devkmsg", "w") as setting:
        setting.write("on\n")
    pfstat.run("bpftool", "iter", "pin", pfstat.BUILD / "stress/vm_ops.bpf.o", VM_OPS)
    BASELINE.update(bpf_objects())


def hurry(yes):
    """Expedites RCU grace periods, which determine the unload time, or not."""
    pathlib.Path("/sys/kernel/rcu_expedited").write_text(str(int(yes)))


def bpf_objects():
    """The program, map and link counts."""
    return {kind: len(json.loads(pfstat.run("bpftool", "-j", kind, "show").stdout or "[]"))
            for kind in ("prog", "map", "link")}


def strange_mappings():
    """Mappings whose vm_ops have no kernel symbol: they are, or were, a shadow's."""
    lines = [line.split() for line in VM_OPS.read_text().splitlines()]
    assert lines, "no mapping is told at all"
    return [words for words in lines if words[2].startswith("0x")]


def counts_are_sound(samples):
    """While calls continue: at each moment a CPU has at most one call that is counted but not yet
    stored or lost, or the reverse."""
    before = None
    for stats in samples:
        told = stats["stored"] + stats["lost"]
        assert stats["calls"] <= told + CPUS, f"counted, but neither stored nor lost: {stats}"
        if before is not None:
            assert before <= stats["calls"] + CPUS, f"stored or lost, but not counted: {stats}"
        before = told


def counts_are_exact():
    """When the recording has stopped."""
    stats = pfstat.stats()
    assert stats["calls"] == stats["stored"] + stats["lost"], stats
    with open(pfstat.DEBUGFS / "log") as log:
        words = log.readline().replace(",", "").split()
    records, here, lost = (int(words[i]) for i in (5, 7, 9))
    faults = pfstat.Faults().number("stored")
    assert records == here + lost == stats["calls"] + faults, (words, stats, faults)
    return f"calls {stats['calls']} = stored {stats['stored']} + lost {stats['lost']}"


def nothing_is_hooked():
    assert pfstat.hooked() == 0, pfstat.targets()
    assert not strange_mappings(), strange_mappings()


def programs_left():
    names = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            names.append((folder / "comm").read_text().strip())
        except OSError:
            pass        # the process has exited
    return [name for name in names if name in RECORDERS or name.startswith("pfstat")]


def nothing_remains():
    """Nothing is left of the module or the recorder after rmmod."""
    assert not programs_left(), programs_left()
    assert not strange_mappings(), strange_mappings()
    end = time.monotonic() + PATIENCE
    # This check is expensive, so it does not run each time.
    while next(LOOKED) % 8 == 0 and bpf_objects() != BASELINE:
        assert time.monotonic() < end, f"{bpf_objects()}, at first {BASELINE}"
        time.sleep(0.2)


def can_go_on():
    """After a failed round: true if another round is possible."""
    try:
        if pfstat.loaded():
            pfstat.control("stop")
        pfstat.unload()
    except (AssertionError, OSError):
        return False
    return True


def the_log_is_clean():
    lines = kmsg.whole()
    kmsg.assert_no_trouble(lines)
    return f"{len(lines)} lines of the kernel's log, nothing of a bug, a lock or a hung task"


def the_kernel_is_not_tainted():
    taint = int(pathlib.Path("/proc/sys/kernel/tainted").read_text())
    assert taint & ~(OUT_OF_TREE | UNSIGNED) == 0, f"taint {taint:#x}"
    return "by nothing but an unsigned module from outside its tree"


def no_memory_is_lost():
    report = kmemleak.scan()
    assert report == "", report
    return "kmemleak found nothing"


def last_words():
    """(name, verdict) for the final checks."""
    os.unlink(VM_OPS)
    yield "kernel log", the_log_is_clean
    yield "taint", the_kernel_is_not_tainted
    if pfstat.KMEMLEAK.exists():
        yield "memory", no_memory_is_lost

# SPDX-License-Identifier: GPL-2.0-only
"""The module is unloaded while the former targets run on, and leaves nothing behind."""
import pathlib
import platform

import pytest

import pfstat
from pfstat import Workload


def remains():
    kprobes = pathlib.Path("/sys/kernel/debug/kprobes/list").read_text()
    return [name for name, there in {
        "module": pfstat.loaded(),
        "debugfs": pfstat.DEBUGFS.exists(),
        "kprobe": "do_mmap" in kprobes,
        "pins": pfstat.PINS.exists(),
    }.items() if there]


def test_rmmod_works_while_four_threads_fault():
    path = pfstat.make_file(pfstat.DISK / "threads", 512 * pfstat.PAGE)
    workload = Workload("threads", path, 4)
    workload.go()
    for _ in range(3):
        pfstat.load()
        pfstat.control(f"follow {workload.pid}")
        pfstat.wait_until(lambda: pfstat.stats()["calls"] > 1000)
        pfstat.unload()
        assert remains() == []
        assert workload.process.poll() is None
    workload.kill()


def test_rmmod_works_with_a_disk_fault_in_flight(small_file):
    """A thread sleeps in the handler when the recording is stopped."""
    workload = Workload("threads", small_file, 2)
    pfstat.control(f"pid {workload.pid}")
    workload.go()
    for _ in range(20):
        pfstat.drop_cache()
    pfstat.unload()
    assert remains() == []
    assert workload.process.poll() is None
    workload.kill()


def test_rmmod_frees_all_while_a_dead_address_space_is_held(small_file, kernel_log):
    """An open /proc/PID/mem holds it, as does an idle CPU with the page tables."""
    workload = Workload("touch", small_file)
    pfstat.control(f"pid {workload.pid}")
    with open(f"/proc/{workload.pid}/mem", "rb"):
        workload.kill()
        pfstat.unload()
    assert remains() == []
    assert not [line for line in kernel_log() if "leaking" in line]


def test_rmmod_is_refused_until_stop_while_control_has_a_target(small_file):
    workload = Workload("touch", small_file)
    pfstat.control(f"pid {workload.pid}")
    result = pfstat.run("rmmod", "pfstat", check=False)
    assert result.returncode != 0 and "in use" in result.stderr
    pfstat.control("stop")
    pfstat.run("rmmod", "pfstat")
    assert remains() == []
    workload.finish()


@pytest.mark.smoke
def test_rmmod_works_after_the_last_target_exits(small_file):
    workload = Workload("touch", small_file)
    pfstat.control(f"pid {workload.pid}")
    workload.kill()
    pfstat.wait_until(lambda: pfstat.run("rmmod", "pfstat", check=False).returncode == 0)
    assert remains() == []


def test_rmmod_is_refused_while_a_program_holds_the_session():
    session = pfstat.Session()
    result = pfstat.run("rmmod", "pfstat", check=False)
    assert result.returncode != 0 and "in use" in result.stderr
    session.close()
    pfstat.unload()
    assert remains() == []


@pytest.mark.needs(platform.machine() == "x86_64", "a module that counts all faults, on x86-64")
@pytest.mark.parametrize("end", ("close", "stop"))
def test_rmmod_works_at_once_after_a_session_that_counted_all_faults(small_file, end):
    """handle_mm_fault() is given back meanwhile, or by rmmod."""
    workload = Workload("threads", small_file, 4)
    workload.go()
    for _ in range(2):
        session = pfstat.Session("faults on", f"watch {workload.pid} process",
                                 f"pid {workload.pid}")
        pfstat.wait_until(lambda: pfstat.stats()["calls"] > 0)
        if end == "stop":
            session.command("stop")
        session.close()
        pfstat.run("rmmod", "pfstat")
        assert remains() == []
        pfstat.load()
    workload.kill()


def test_load_and_unload_leave_no_memory_behind():
    def unevictable():
        fields = dict(line.split(":") for line in
                      pathlib.Path("/proc/meminfo").read_text().splitlines())
        return int(fields["VmallocUsed"].split()[0])

    pfstat.unload()
    before = unevictable()
    for _ in range(4):
        pfstat.load()
        pfstat.unload()
    assert unevictable() - before < 256      # KiB (four leaked tables would take 600)

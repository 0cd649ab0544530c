# SPDX-License-Identifier: GPL-2.0-only
"""Targets: a process, the children and the later mappings, and the end of the watch."""
import errno
import os
import pathlib
import subprocess
import time

import pytest

import pfstat
from pfstat import Mapping, Session, Workload

PAGES = 64


def file_on_disk(name):
    path = pfstat.make_file(pfstat.DISK / name, PAGES * pfstat.PAGE)
    pfstat.warm(path)
    return path


def pages_seen(path, pid=None):
    """Distinct (process, page) pairs in the solved faults for this file."""
    return sorted({(r["pid"], r["pgoff"]) for r in pfstat.of_file(pfstat.log()[1], path)
                   if r["class"] in ("long", "short") and pid in (None, r["pid"])})


def all_pages(pid):
    return [(pid, page) for page in range(PAGES)]


def test_pid_sees_mappings_made_later():
    path = file_on_disk("targets")
    workload = Workload("touch", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid}")
    workload.finish()
    assert pages_seen(path) == all_pages(workload.pid)


def test_pid_now_does_not_hook_later_mappings():
    path = file_on_disk("targets")
    workload = Workload("touch", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid} now")
    assert pfstat.hooked() > 0      # the workload's libc and program
    workload.finish()
    assert pages_seen(path) == []


def test_pid_does_not_follow_a_fork():
    path = file_on_disk("targets")
    workload = Workload("fork", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid}")
    workload.finish()
    assert pages_seen(path) == all_pages(workload.pid)


def test_follow_sees_the_child_of_a_fork():
    path = file_on_disk("targets")
    workload = Workload("fork", path)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {workload.pid}")
    workload.finish()
    seen = pages_seen(path)
    processes = {pid for pid, _ in seen}
    assert len(processes) == 2 and workload.pid in processes
    for pid in processes:
        assert pages_seen(path, pid) == all_pages(pid)


def test_follow_sees_a_forked_child_after_its_exec():
    path = file_on_disk("targets")
    workload = Workload("exec", path)
    pfstat.control("fault_around off")
    pfstat.control(f"follow {workload.pid}")
    workload.finish()
    seen = pages_seen(path)
    child, = {pid for pid, _ in seen}
    assert child != workload.pid
    assert seen == all_pages(child)


def test_populate_faults_are_recorded():
    """The probe hooks the new mapping before MAP_POPULATE fills it."""
    path = file_on_disk("targets")
    workload = Workload("populate", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid}")
    workload.finish()
    assert pages_seen(path) == all_pages(workload.pid)


def test_split_and_moved_mappings_stay_hooked():
    path = file_on_disk("targets")
    workload = Workload("reshape", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid} now")
    workload.finish()
    assert pages_seen(path) == all_pages(workload.pid)


def test_targets_of_control_end_with_the_process():
    path = file_on_disk("targets")
    workload = Workload("touch", path)
    pfstat.control(f"pid {workload.pid}")
    assert pfstat.targets().startswith("recorder control")
    workload.finish()
    pfstat.wait_until(lambda: pfstat.targets().startswith("recorder none"))
    assert pfstat.hooked() == 0
    Session().close()


def test_stop_unhooks_a_living_process_and_keeps_the_log():
    path = file_on_disk("targets")
    workload = Workload("fork", path)
    pfstat.control("fault_around off")
    pfstat.control(f"pid {workload.pid}")
    assert str(path) in pfstat.targets()
    pfstat.control("stop")
    assert pfstat.hooked() == 0
    workload.finish()
    assert pages_seen(path) == []


def test_closing_the_session_unhooks(small_file):
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        session = Session("fault_around off", f"file {mapping.fd()}")
        mapping.read(0)
        session.close()
        mapping.read(1)
        assert [r["pgoff"] for r in pfstat.log()[1]] == [0]


def nothing_is_known():
    return pfstat.stats()["target_bytes"] == 0


def test_a_session_watches_processes_that_join_after_all_have_exited(small_file):
    """The periodic work, which drops exited processes, must also add new ones."""
    first, second = (Workload("touch", small_file) for _ in range(2))
    try:
        with Session(f"follow {first.pid}") as session:
            first.finish()
            pfstat.wait_until(nothing_is_known)
            time.sleep(2.5)         # the work has ended by now
            session.command(f"follow {second.pid}")
            assert not nothing_is_known()
            second.finish()
            pfstat.wait_until(nothing_is_known)
    finally:
        first.kill()
        second.kill()


def test_fork_of_a_file_target_is_not_followed(small_file):
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}"):
            child = os.fork()
            if not child:
                mapping.read(5)
                os._exit(0)
            os.waitpid(child, 0)
            assert pfstat.hooked() == 1
        assert pfstat.of_file(pfstat.log()[1], small_file) == []


def test_killed_recorder_leaves_nothing_hooked(small_file):
    """kill -9 during a run: hooks, pins and the recorder are free again."""
    process = subprocess.Popen([str(pfstat.PFDRIVE), "--accesses", "1G", str(small_file)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pfstat.wait_until(lambda: process.poll() is not None or pfstat.makes_accesses(process.pid))
    assert pfstat.hooked() == 1
    process.kill()
    process.wait()
    assert pfstat.hooked() == 0
    assert pfstat.targets().startswith("recorder none")
    pfstat.drive("--accesses", "10", small_file)     # the next recorder works
    assert not pathlib.Path(pfstat.PINS).exists()


def test_only_one_file_of_all_mappings_is_hooked(small_file):
    other = pfstat.make_file(pfstat.DISK / "other", 64 * pfstat.PAGE)
    workload = Workload("touch", small_file)
    with Mapping(small_file) as named, Session() as session:
        session.command(f"only {named.fd()}")
        session.command(f"follow {workload.pid}")
        with pytest.raises(OSError) as refused:
            session.command(f"only {named.fd()}")
        assert refused.value.errno == errno.EBUSY
        workload.finish()
    other.unlink()
    _, records = pfstat.log()
    assert records and len(records) == len(pfstat.of_file(records, small_file))


def test_only_takes_descriptors_of_a_session(small_file):
    with Session() as session:
        with pytest.raises(OSError) as refused:
            session.command("only 9999")
        assert refused.value.errno == errno.EBADF
        session.command(f"only {session.fd}")  # itself, which must not keep it open
    assert "recorder none" in pfstat.targets()
    with pytest.raises(OSError) as refused:
        (pfstat.DEBUGFS / "control").write_text("only 0\n")
    assert refused.value.errno == errno.EINVAL

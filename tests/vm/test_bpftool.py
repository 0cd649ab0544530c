# SPDX-License-Identifier: GPL-2.0-only
"""The eBPF programs and maps, seen from outside while pfdrive runs."""
import json
import signal
import subprocess
import time

import pfstat


def test_programs_and_maps_are_readable_by_bpftool_while_it_runs(small_file):
    process = subprocess.Popen([pfstat.PFDRIVE, "--accesses", "100G", small_file],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if (pfstat.PINS / "syscalls").exists() and pfstat.hooked():
            break
        time.sleep(0.05)
    dump = json.loads(pfstat.run("bpftool", "-j", "map", "dump", "pinned",
                                 pfstat.PINS / "targets").stdout)
    assert [entry["formatted"]["key"] for entry in dump] == [process.pid]
    pfstat.run("bpftool", "map", "dump", "pinned", pfstat.PINS / "syscalls")
    programs = json.loads(pfstat.run("bpftool", "-j", "prog", "show").stdout)
    names = {program.get("name") for program in programs}
    assert {"on_sched_switch", "on_sys_enter", "on_sys_exit"} <= names
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert not pfstat.PINS.exists()
    assert pfstat.hooked() == 0


# SPDX-License-Identifier: GPL-2.0-only
"""The tracepoint: other tools see every fault with the class."""
import collections
import os
import re
import subprocess

import pfstat
from pfstat import Mapping, Session


def test_trace_cmd_sees_every_fault_with_its_class(small_file, tmp_path):
    data, started, end = tmp_path / "trace.dat", tmp_path / "started", tmp_path / "end"
    os.mkfifo(end)
    # trace-cmd's command runs once tracing is on, not only the event enabled.
    recorder = subprocess.Popen(["trace-cmd", "record", "-q", "-e", "pfstat:pfstat_fault",
                                 "-o", data, "sh", "-c", f"touch {started}; read _ <{end}"],
                                stdout=subprocess.DEVNULL)
    pfstat.wait_until(started.exists)
    with Mapping(small_file) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}"):
            for page in range(0, 256, 5):
                mapping.read(page)
    end.write_text("\n")
    recorder.wait(timeout=pfstat.PATIENCE)
    report = pfstat.run("trace-cmd", "report", "-q", "-i", data).stdout
    seen = collections.Counter(re.findall(r"pfstat_fault:.*class=(\w+)", report))
    assert seen == pfstat.classes(pfstat.log()[1])
    assert sum(seen.values()) >= 52

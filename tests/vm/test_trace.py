# SPDX-License-Identifier: GPL-2.0-only
"""The tracepoint: other tools see every fault with its class."""
import collections
import re
import subprocess
import time

import pfstat
from pfstat import Mapping, Session


def test_trace_cmd_sees_every_fault_with_its_class(small_file, tmp_path):
    data = tmp_path / "trace.dat"
    recorder = subprocess.Popen(["trace-cmd", "record", "-q", "-e", "pfstat:pfstat_fault",
                                 "-o", data, "sleep", "60"], stdout=subprocess.DEVNULL)
    enabled = "/sys/kernel/tracing/events/pfstat/pfstat_fault/enable"
    for _ in range(300):
        if open(enabled).read().strip() == "1":
            break
        time.sleep(0.1)
    with Mapping(small_file) as mapping:
        with Session("fault_around off", f"file {mapping.fd()}"):
            for page in range(0, 256, 5):
                mapping.read(page)
    subprocess.run(["pkill", "-INT", "-P", str(recorder.pid)], check=False)
    recorder.send_signal(2)
    recorder.wait(timeout=60)
    report = pfstat.run("trace-cmd", "report", "-q", "-i", data).stdout
    seen = collections.Counter(re.findall(r"pfstat_fault:.*class=(\w+)", report))
    assert seen == pfstat.classes(pfstat.log()[1])
    assert sum(seen.values()) >= 52

# SPDX-License-Identifier: GPL-2.0-only
"""Disturbances of the whole system: CPUs go offline and online, the page cache is emptied."""
import pathlib
import random
import threading

import pfstat

CPUS = pathlib.Path("/sys/devices/system/cpu")
# The whole machine's pages read from swap and written to it.
SWAPPED = ("pswpin", "pswpout")


def swapped():
    lines = pathlib.Path("/proc/vmstat").read_text().splitlines()
    return {name: int(count) for name, count in map(str.split, lines) if name in SWAPPED}


class Disturbance:
    """Runs in a thread until the block ends."""

    def __init__(self, seed):
        self.rng = random.Random(seed + 1)
        self.end = threading.Event()
        self.done = {"CPU off": 0, "CPU on": 0, "page cache emptied": 0, "memory compacted": 0}
        self.error = None
        self.thread = threading.Thread(target=self.go_on)

    def __enter__(self):
        self.before = swapped()
        # The first CPU stays on: x86-64 cannot switch it off.
        self.cpus = sorted(CPUS.glob("cpu[1-9]*/online"))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join(timeout=pfstat.PATIENCE)
        assert not self.thread.is_alive(), "a CPU does not come or go any more"

    def go_on(self):
        try:
            while not self.end.wait(self.rng.uniform(0.2, 1.5)):
                self.rng.choice((self.cpu_off_and_on, self.cpu_off_and_on, self.empty_cache,
                                 self.compact))()
        except OSError as error:
            self.error = error
        for cpu in self.cpus:
            cpu.write_text("1")

    def cpu_off_and_on(self):
        cpu = self.rng.choice(self.cpus)
        state = cpu.read_text().strip()
        cpu.write_text("0" if state == "1" else "1")
        self.done["CPU off" if state == "1" else "CPU on"] += 1

    def empty_cache(self):
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")
        self.done["page cache emptied"] += 1

    def compact(self):
        path = pathlib.Path("/proc/sys/vm/compact_memory")
        if path.exists():
            path.write_text("1")
            self.done["memory compacted"] += 1

    def verdict(self):
        assert self.error is None, self.error
        done = dict(self.done)
        done.update({name: count - self.before[name] for name, count in swapped().items()})
        said = ", ".join(f"{name} {count}" for name, count in done.items())
        assert done["CPU off"] and done["pswpin"] and done["pswpout"], f"not all happened: {said}"
        return said

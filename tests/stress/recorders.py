# SPDX-License-Identifier: GPL-2.0-only
"""Recorders under stress, and their exits: each round chooses one at random."""
import errno
import pathlib
import random
import signal
import subprocess
import time

import invariants
import pfstat
import workers

READER = pfstat.BUILD / "stress/recorder"
RECORDING = pathlib.Path("/tmp/stress.pfs")
# Maximum load count in a round: workers and hooks change between rounds.
LONGEST_BURST = 60
# After this many loads other workers run.
LOADS_A_SHIFT = 5


class Recorder:
    """Common parts of the recorders: module options, targets, a recording period."""

    def __init__(self, rng, crowd, loads):
        self.rng = rng
        self.crowd = crowd
        self.loads = loads
        self.pids = crowd.some(rng)
        self.seconds = rng.choice((0, rng.uniform(0, 1), rng.uniform(0, 4)))
        self.ring_size = rng.choice(("4K", "64K", "1M", "4M"))
        self.mode = rng.choice(("drop", "overwrite"))
        self.around = rng.choice(("keep", "off"))
        self.said = ""

    def options(self):
        return [f"ring_size {self.ring_size}", f"mode {self.mode}", f"fault_around {self.around}"]

    def targets(self):
        return [self.rng.choice(("pid {}", "pid {} now", "follow {}", "follow {}")).format(pid)
                for pid in self.pids]

    def record(self):
        """Records for a while, and checks the counts now and then."""
        samples = []
        end = time.monotonic() + self.seconds
        while True:
            samples.append(pfstat.stats())
            if time.monotonic() >= end:
                break
            time.sleep(min(0.1, self.seconds))
        invariants.counts_are_sound(samples)

    def check(self):
        """Further conditions for this recorder."""

    def clean_up(self):
        """Cleans up after any failure."""

    def __str__(self):
        return f"{self.name()}, {len(self.pids)} targets, {' '.join(self.options())}, " \
            f"{self.seconds:.1f} s: {self.said}"


class Control(Recorder):
    """The shell's file `control`."""

    def __init__(self, rng, crowd, loads):
        super().__init__(rng, crowd, loads)
        self.unloads = rng.random() < 2 / 3

    def name(self):
        return f"control, ended by stop{' and rmmod' if self.unloads else ''}"

    def run(self):
        for line in self.options() + self.targets():
            pfstat.control(line)
        self.record()
        if self.rng.random() < 0.2:
            self.assert_that_hooks_can_be_seen()
        if self.rng.random() < 0.2:
            pfstat.control("clear")
            self.record()
        pfstat.control("stop")
        if self.unloads:
            self.loads.unload()

    def assert_that_hooks_can_be_seen(self):
        """Proves that the search for leftovers finds existing hooks."""
        if not any("threads" == worker.name and worker.pid in self.pids
                   for worker in self.crowd.workers):
            return
        pfstat.wait_until(invariants.strange_mappings)
        self.said += "hooks seen, "


class Reader(Recorder):
    """A program which reads the rings, or maps them without reading, and is stopped or killed."""

    def __init__(self, rng, crowd, loads):
        super().__init__(rng, crowd, loads)
        self.idle = rng.random() < 0.25
        self.suspended = rng.random() < 0.25
        self.ending = rng.choice(("SIGTERM", "SIGTERM", "SIGKILL"))
        self.process = None

    def name(self):
        return f"{'idle ' if self.idle else ''}{'suspended ' if self.suspended else ''}reader, " \
            f"ended by {self.ending}"

    def run(self):
        words = ["--idle"] if self.idle else []
        self.process = subprocess.Popen([READER, *words, *self.options(), *self.targets()],
                                        stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        assert first == "ready\n", first or "it said nothing"
        if self.suspended:
            self.process.send_signal(signal.SIGSTOP)
        self.record()
        if self.rng.random() < 0.2:
            self.assert_busy()
        if self.suspended:
            self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(getattr(signal, self.ending))
        self.said += self.process.communicate(timeout=pfstat.PATIENCE)[0].strip()

    def assert_busy(self):
        """No second recorder is accepted, and the module cannot be unloaded."""
        try:
            pfstat.control(f"pid {self.pids[0]}")
            raise AssertionError("there are two recorders")
        except OSError as error:
            assert error.errno == errno.EBUSY, error
        assert pfstat.run("rmmod", "pfstat", check=False).returncode, "rmmod of a module in use"
        self.said += "busy, "

    def check(self):
        if self.ending == "SIGTERM":
            assert self.process.returncode == 0, self.said

    def clean_up(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Pfdrive(Recorder):
    """pfdrive, with or without eBPF."""

    def __init__(self, rng, crowd, loads):
        super().__init__(rng, crowd, loads)
        self.mode = "drop"
        self.bpf = rng.random() < 0.75
        self.ending = rng.choice(("SIGINT", "SIGINT", "SIGKILL"))
        self.suspended = rng.random() < 0.25
        self.cgroup = rng.random() < 0.5
        self.seconds += 0.5
        self.process = None

    def options(self):
        words = ["--fault-around", self.around, "--ring-size", self.ring_size]
        return words if self.bpf else [*words, "--no-bpf"]

    def name(self):
        return f"{'suspended ' if self.suspended else ''}pfdrive of a " \
            f"{'cgroup' if self.cgroup else 'process'}, ended by {self.ending}"

    def run(self):
        self.pids = self.pids[:1]
        which = ["--cgroup", self.crowd.group] if self.cgroup else ["-p", str(self.pids[0])]
        RECORDING.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [pfstat.PFDRIVE, "record", "-o", RECORDING, *self.options(), *which],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # A suspended worker has mappings, but makes no calls.
        pfstat.wait_until(lambda: pfstat.hooked() or self.process.poll() is not None)
        self.record()
        if self.suspended:
            self.process.send_signal(signal.SIGSTOP)
            self.record()
            self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(getattr(signal, self.ending))
        self.said += self.process.communicate(timeout=pfstat.PATIENCE)[1].strip()

    def check(self):
        """The read and lost record counts add up to the module's count."""
        if self.ending != "SIGINT":
            return
        assert self.process.returncode == 0, self.said
        result = pfstat.report(RECORDING)
        read = sum(figures["count"] for figures in result["classes"].values())
        assert result["damage"] is None, result["damage"]
        assert read + result["lost"] == result["calls"], (read, result["lost"], result["calls"])
        assert result["calls"] == pfstat.stats()["calls"]
        self.said = f"calls {result['calls']} = read {read} + lost {result['lost']}; " \
            f"events lost {result['events_lost']}"

    def clean_up(self):
        RECORDING.unlink(missing_ok=True)
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def timed(act):
    """Time in seconds."""
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


class Nobody(Recorder):
    """Only loads and unloads the module, several times, with or without a target."""

    def name(self):
        return "loaded, and unloaded at once"

    def run(self):
        some = self.rng.randint(1, 8)
        seed = self.rng.random()
        missing = min(self.loads.behind(), LONGEST_BURST)
        if missing <= some:
            self.come_and_go(some, random.Random(seed))
            return
        invariants.hurry(True)
        with self.crowd.on_one_cpu():
            self.come_and_go(missing, random.Random(seed))

    def come_and_go(self, times, rng):
        """rng is separate, so the load count does not change the choices in later rounds.
        """
        took = {"load": [], "hook": [], "stop": [], "unload": [], "unload after a stop": []}
        for i in range(times):
            if i % LOADS_A_SHIFT == LOADS_A_SHIFT - 1:
                self.crowd.shift(rng, min(2, workers.AT_WORK))
                self.pids = self.crowd.some(rng)
            took["load"].append(timed(self.loads.load))
            hooks = rng.random() < 0.5
            if hooks:
                line = f"follow {rng.choice(self.pids)}"
                took["hook"].append(timed(lambda line=line: pfstat.control(line)))
                took["stop"].append(timed(lambda: pfstat.control("stop")))
            took["unload after a stop" if hooks else "unload"].append(timed(self.loads.unload))
        means = [f"{name} {sum(s) / len(s):.2f} s" for name, s in took.items() if s]
        self.said = f"{times} times, on average {', '.join(means)}"

    def __str__(self):
        return f"{self.name()}, {self.said}"


KINDS = (Nobody,) * 5 + (Control,) * 6 + (Reader,) * 4 + (Pfdrive,) * 2


def choose(rng, crowd, loads):
    kind = rng.choice(KINDS)
    if loads.behind() > LONGEST_BURST or loads.time_is_over():
        kind = Nobody
    return kind(rng, crowd, loads)

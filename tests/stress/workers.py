# SPDX-License-Identifier: GPL-2.0-only
"""The programs stressing mapped files, in cgroups, one of them short of memory."""
import contextlib
import os
import pathlib
import signal
import subprocess

import pfstat

PROGRAM = pfstat.BUILD / "stress/worker"
FOLDER = pfstat.DISK / "stress"
# Workers for a memory shortage, and their memory limit.
SHORT_OF_MEMORY = ("swap",)
LIMIT = "16M"
# Time for the slowest worker's round after SIGTERM.
PATIENCE = 300
ALL_CPUS = pathlib.Path("/sys/devices/system/cpu/possible")
# How many workers run at a time. The others are suspended. An emulated machine cannot run more, and
# a debug kernel in one even fewer.
AT_WORK = 2 if pfstat.KMEMLEAK.exists() else 5


class Worker:
    """One kind of stress, running until it is stopped."""

    def __init__(self, name, seed, group):
        self.name = name
        self.said = pathlib.Path(f"/tmp/stress-{name}")
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(
                ["sh", "-c", 'echo 0 >"$0/cgroup.procs"; exec nice -n 5 "$@"', group, PROGRAM,
                 name, FOLDER / name, str(seed)], stdout=said, stderr=subprocess.STDOUT,
                start_new_session=True)
        self.pid = self.process.pid

    def signal_all(self, number):
        """Signals the worker and the worker's children."""
        if self.process.poll() is None:
            os.killpg(self.pid, number)

    def words(self):
        return self.said.read_text().replace("ready\n", "").strip().replace("\n", ", ")

    def is_ready(self):
        return self.said.read_text().startswith("ready\n") or self.process.poll() is not None

    def assert_alive(self):
        status = self.process.poll()
        assert status is None, f"worker {self.name} ended with {status}: {self.words()}"

    def finish(self):
        """The output at exit. All reads were correct."""
        self.signal_all(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=PATIENCE)
        assert status == 0, f"it ended with {status}: {self.words()}"
        return self.words()

    def kill(self):
        self.signal_all(signal.SIGKILL)
        self.process.wait()


class Crowd:
    """All workers."""

    def __init__(self, seed):
        self.seed = seed
        self.workers = []
        self.at_work = []
        self.told = set()

    def __enter__(self):
        FOLDER.mkdir(exist_ok=True)
        self.group = pfstat.cgroup("stress", "memory", "cpuset")
        (self.group / "cgroup.subtree_control").write_text("+memory")
        loose, tight = self.group / "loose", self.group / "tight"
        loose.mkdir()
        tight.mkdir()
        (tight / "memory.max").write_text(LIMIT)
        for name in pfstat.run(PROGRAM, "list").stdout.split():
            group = tight if name in SHORT_OF_MEMORY else loose
            self.workers.append(Worker(name, self.seed, group))
        self.at_work = self.workers
        pfstat.wait_until(lambda: all(worker.is_ready() for worker in self.workers))
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.kill()

    def assert_alive(self):
        """A dead worker is reported once, and finish() reports it again at the end."""
        for worker in self.workers:
            if worker.name not in self.told:
                try:
                    worker.assert_alive()
                except AssertionError:
                    self.told.add(worker.name)
                    raise

    def shift(self, rng, number=AT_WORK):
        """Selects other workers to run, and suspends the rest wherever they are. The memory
        shortage persists."""
        others = [worker for worker in self.workers if worker.name not in SHORT_OF_MEMORY]
        at_work = rng.sample(others, number)
        for worker in self.workers:
            rests = worker in others and worker not in at_work
            worker.signal_all(signal.SIGSTOP if rests else signal.SIGCONT)
        self.at_work = at_work

    @contextlib.contextmanager
    def on_one_cpu(self):
        """They share the first CPU, which stays online, with the loader. The other CPUs idle. A
        load patches the kernel's text dozens of times, and each patch waits for all CPUs: an
        emulator running them in turn takes 0.1 s for each busy one."""
        cpus = self.group / "cpuset.cpus"
        before, nice = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
        cpus.write_text("0")
        os.sched_setaffinity(0, {0})
        os.setpriority(os.PRIO_PROCESS, 0, -10)
        try:
            yield
        finally:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
            os.sched_setaffinity(0, before)
            cpus.write_text(ALL_CPUS.read_text())   # a cpuset with tasks must not be empty

    def some(self, rng):
        """Pids of a few workers, running or suspended."""
        chosen = {worker.pid for worker in [rng.choice(self.at_work),
                                            *rng.sample(self.workers, rng.randint(0, 5))]
                  if worker.process.poll() is None}
        return rng.sample(sorted(chosen), len(chosen))

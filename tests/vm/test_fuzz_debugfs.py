# SPDX-License-Identifier: GPL-2.0-only
"""Arbitrary operations on the module's files, in any order and from several processes: the kernel
logs no problem, no process reads wrong data, and the recorder works afterwards.

--operations and --seed set the number and repeat a run: see fuzz_debugfs.c. A long run consists of
chunks, each with a separate seed, which is printed: the recorder must work after each.
"""
import pathlib
import random
import subprocess
import time

import kmsg
import pfstat
from pfstat import PAGE, Mapping, Session

CHUNK = 20000
RCU_EXPEDITED = pathlib.Path("/sys/kernel/rcu_expedited")


def fuzz(file, operations, seed):
    """The fuzzer's output and speed."""
    begun = time.monotonic()
    result = subprocess.run([str(pfstat.BUILD / "fuzz_debugfs"), file, str(operations), str(seed)],
                            text=True, capture_output=True, check=False,
                            timeout=pfstat.PATIENCE + operations // 20)
    seconds = time.monotonic() - begun
    assert result.returncode == 0, result.stdout + result.stderr
    return f"{result.stdout}{operations} in {seconds:.0f} s: {operations / seconds:.0f} a second"


def the_recorder_works(file):
    """A normal session counts exactly."""
    pfstat.control("stop\nring_size 4M\nmode drop\nfault_around keep\nclear")
    assert pfstat.targets().startswith("recorder none") and pfstat.hooked() == 0
    with Mapping(file) as mapping:
        pfstat.warm(file)
        with Session("fault_around off", f"file {mapping.fd()}"):
            for page in range(64):
                assert mapping.read(page) == page
    assert pfstat.log()[0] == {"records": 64, "here": 64, "lost": 0}


def test_the_files_survive_arbitrary_operations(pytestconfig, capsys, kernel_log):
    operations = pytestconfig.getoption("--operations")
    seed = pytestconfig.getoption("--seed")
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    file = pfstat.make_file(pfstat.DISK / "fuzzed", 64 * PAGE)
    try:
        for done in range(0, operations, CHUNK):
            said = fuzz(str(file), min(CHUNK, operations - done), seed + done)
            with capsys.disabled():
                print(f"\n{said}", end="", flush=True)
            the_recorder_works(file)
            kmsg.assert_no_trouble(kernel_log())
            # A session waits for several RCU grace periods. The sessions so far are enough.
            RCU_EXPEDITED.write_text("1")
    finally:
        RCU_EXPEDITED.write_text("0")
    pfstat.unload()
    pfstat.load()

# SPDX-License-Identifier: GPL-2.0-only
"""The verdict names the cause of stalls made on purpose, and none for an ordinary run."""
import functools
import pathlib

import pytest

import pfstat
from pfstat import PFDRIVE, record, run

MIN_FREE = pathlib.Path("/proc/sys/vm/min_free_kbytes")
ZRAM = "/dev/zram0"

# Records of 16 pages at random, each read in order: read-ahead helps, but is switched off.
RANDOM_ADVICE = """
import mmap, random
with open("{path}", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data.madvise(mmap.MADV_RANDOM)
for number in random.Random(1).sample(range(len(data) // mmap.PAGESIZE // 16), 100):
    for page in range(16):
        data[(number * 16 + page) * mmap.PAGESIZE]
"""

# The child ends after the writes. A child that ended before would no longer share the pages.
FORKS = """
import mmap, os
data = bytearray(4 << 20)
for i in range(30):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    for page in range(0, len(data), mmap.PAGESIZE):
        data[page] = i
    os.close(read)
    os.close(write)
    os.waitpid(child, 0)
"""

SWAPS = """
import mmap
data = bytearray(24 << 20)
for turn in range(3):
    for page in range(0, len(data), mmap.PAGESIZE):
        data[page] = turn
"""

# Another thread solves the fault 50 ms after it began. userfaultfd(2) has no function in libc.
USERFAULT = """
import ctypes, fcntl, mmap, os, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
uffd = libc.syscall(282 if os.uname().machine == "aarch64" else 323, os.O_CLOEXEC)
assert uffd >= 0, os.strerror(ctypes.get_errno())
fcntl.ioctl(uffd, 0xc018aa3f, struct.pack("QQQ", 0xaa, 0, 0))
memory = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
fcntl.ioctl(uffd, 0xc020aa00, struct.pack("QQQQ", address, mmap.PAGESIZE, 1, 0))
thread = threading.Thread(target=libc.memset, args=(ctypes.c_void_p(address), 1, 8))
thread.start()
os.read(uffd, 32)
time.sleep(0.05)
fcntl.ioctl(uffd, 0xc020aa04, struct.pack("QQQQ", address, mmap.PAGESIZE, 0, 0))
thread.join()
"""


@functools.lru_cache(maxsize=None)
def random_advice():
    path = pfstat.make_file(pfstat.DISK / "verdict", 4096 * pfstat.PAGE)
    pfstat.drop_cache()
    return record("python3", "-c", RANDOM_ADVICE.format(path=path))


def causes(result):
    return {cause["rule"]: cause for cause in result["verdict"]["causes"]}


def test_wrong_random_advice_is_named():
    verdict = random_advice()[0]["verdict"]
    cause = causes(random_advice()[0])["no-read-ahead"]
    assert verdict["class"]["name"] == "disk"
    assert verdict["place"]["name"] == str(pfstat.DISK / "verdict")
    assert verdict["thread"]["name"].startswith("python3 (")
    assert verdict["busy_ns"] <= verdict["wall_ns"]
    assert f"{pfstat.PAGE / 1024:.1f} KiB at a time" in cause["text"] and "madvise" in cause["text"]


def test_the_report_begins_with_the_verdict():
    lines = random_advice()[1].splitlines()
    assert "Page faults were in progress" in lines[0], lines[:6]
    assert any(line.startswith("Cause: ") for line in lines[:6])
    assert any(line.startswith("Try: ") for line in lines[:8])
    assert len(lines) <= 48


def test_copies_after_forks_are_named():
    result, _ = record("python3", "-c", FORKS)
    cause = causes(result).get("copy-after-fork")
    assert cause, result["verdict"]
    assert "each of 30 forks" in cause["text"]
    assert cause["certain"]


def test_swap_at_a_memory_limit_is_named():
    group = pfstat.cgroup("verdict", "memory")
    try:
        (group / "memory.max").write_text(str(16 << 20))
        result, _ = record("sh", "-c", f"echo $$ > {group}/cgroup.procs; exec python3 -c "
                           f"'{SWAPS}'")
    finally:
        group.rmdir()
    text = causes(result)["swap"]["text"]
    reclaims = result["reclaims"]["cgroup"]
    assert "memory was too small" in text
    assert f"The limit is that of its cgroup: it was met {reclaims['count']} times" in text
    part = result["parts"]["all"]["parts"]["reclaim"]
    assert reclaims["count"] >= part["faults"] > (100 << 12) // pfstat.PAGE
    assert reclaims["pages"] >= (8 << 20) // pfstat.PAGE
    assert 0 < part["total_ns"] <= reclaims["total_ns"]


def test_compaction_by_the_program_is_counted():
    result, text = record("sh", "-c", "echo 1 > /proc/sys/vm/compact_memory")
    assert result["reclaims"]["compaction"]["count"] >= 1
    assert result["reclaims"]["compaction"]["pages"] == 0
    assert " compactions, " in text


def test_reclaim_for_lack_of_free_memory_is_counted():
    """The limit of free memory is above the free memory, so allocations evict the cached file.
    Without swap: otherwise kswapd compresses pages without end, which RCU reports as a stall."""
    path = pfstat.make_file(pfstat.DISK / "evicted", 128 << 20)
    kept = MIN_FREE.read_text()
    run("sh", "-c", f"cat {path} >/dev/null")
    run("swapoff", ZRAM)
    try:
        result, text = record("sh", "-c", f"while read name kb unit; do [ $name != MemFree: ] || "
                              f"echo $((kb + 16384)) >{MIN_FREE}; done </proc/meminfo; "
                              "exec python3 -c 'b\"x\" * (32 << 20)'")
    finally:
        MIN_FREE.write_text(kept)
        run("swapon", ZRAM)
    assert result["reclaims"]["direct"]["count"] >= 1
    assert result["reclaims"]["direct"]["pages"] >= 1
    assert " reclaims for lack of free memory, " in text


@pytest.mark.deterministic
def test_the_kernel_stack_names_what_a_fault_waited_for():
    result, text = record("python3", "-c", USERFAULT)
    wait = result["waits"]["stacks"][0]
    assert wait["cause"] == "a userfaultfd handler", result["waits"]["stacks"][:3]
    assert wait["functions"][0] == "handle_userfault"
    # The sleep is interruptible, and the stack has a known cause: it is explained.
    assert wait["total_ns"] == wait["parts"]["handler"] > 20_000_000
    assert "for a userfaultfd handler: handle_userfault" in text


@pytest.mark.deterministic
def test_an_ordinary_program_gets_no_cause():
    run("timeout", 1, "sha256sum", "/dev/null")     # from now on both are in the page cache
    result, _ = record("timeout", 1, "sha256sum", "/dev/zero", check=False)
    assert list(causes(result)) == ["nothing-wrong"], result["verdict"]
    assert result["verdict"]["share"] < 0.05


def test_limits_of_faults_are_checked():
    touch = ("python3", "-c", "data = bytearray(4 << 20)")
    kept = run(PFDRIVE, "check", "--max-major", "10000", "--max-share", "100", "--", *touch)
    assert kept.stdout.splitlines()[0].startswith("ok         major faults: ")
    exceeded = run(PFDRIVE, "check", "--max-fault-time", "0.001", "--", *touch, check=False)
    assert exceeded.returncode == 3 and exceeded.stdout.startswith("EXCEEDED   time in faults: ")
    failed = run(PFDRIVE, "check", "--max-major", "10000", "--", "false", check=False)
    assert failed.returncode == 1 and failed.stdout.startswith("ok ")

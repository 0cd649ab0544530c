# SPDX-License-Identifier: GPL-2.0-only
"""Shared by the VM tests: parsers for the module's files, the driver, workloads."""
import collections
import contextlib
import ctypes
import fcntl
import functools
import json
import mmap
import os
import pathlib
import re
import stat
import struct
import subprocess
import time

import schema

BUILD = pathlib.Path(os.environ.get("PFSTAT_BUILD", "build"))
MODULE = pathlib.Path(os.environ.get("PFSTAT_KO", BUILD / "pfstat.ko"))
PFDRIVE = BUILD / "pfdrive"
PFBENCH = BUILD / "pfbench"
DEBUGFS = pathlib.Path("/sys/kernel/debug/pfstat")
DEVICES = pathlib.Path("/dev/pfstat")       # the same files
PINS = pathlib.Path("/sys/fs/bpf/pfstat")
DISK = pathlib.Path("/mnt/disk")
KMEMLEAK = pathlib.Path("/sys/kernel/debug/kmemleak")
PAGE = mmap.PAGESIZE
ARM64 = os.uname().machine == "aarch64"
KERNEL = tuple(int(n) for n in os.uname().release.split(".")[:2])
# The kernel's name in tables. The kernels built by the lab are 6.12 with other options.
LAB_KERNEL = os.environ.get("LAB_KERNEL", "")
KERNEL_NAME = LAB_KERNEL if LAB_KERNEL == "newest" or LAB_KERNEL.startswith("ubuntu-") else \
    f"{KERNEL[0]}.{KERNEL[1]}"

NO_PFN = None

# Timeout in seconds: a debug kernel in an emulator is slow. The instruction clock jumps minutes ahead
# while the host's disk is busy.
PATIENCE = 100_000 if os.environ.get("LAB_DETERMINISTIC") == "yes" else 600


def run(*command, check=True, **kwargs):
    """Runs a command and returns the CompletedProcess with text output."""
    result = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                            timeout=PATIENCE, **kwargs)
    if check and result.returncode:
        raise AssertionError(f"{command} ended with {result.returncode}:\n"
                             f"{result.stdout}{result.stderr}")
    return result


def kernel_config_file():
    """A 7.x package has the file beside the modules. The package's script, which does not run in
    the arm64 guest's root, copies it to /boot."""
    release = os.uname().release
    paths = (pathlib.Path(f"/boot/config-{release}"),
             pathlib.Path(f"/lib/modules/{release}/config"))
    return next(path for path in paths if path.exists())


def kernel_config():
    """{CONFIG_NAME: value} for the running kernel."""
    lines = kernel_config_file().read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line.startswith("CONFIG_"))


def boot_lockdown():
    """The lockdown level with which the kernel was booted, or None."""
    match = re.search(r"\blockdown=(\w+)", pathlib.Path("/proc/cmdline").read_text())
    return match and match[1]


def mount_securityfs():
    if not os.path.ismount("/sys/kernel/security"):
        run("mount", "-t", "securityfs", "securityfs", "/sys/kernel/security")


@functools.lru_cache(maxsize=None)
def has_module():
    """False on a kernel for which the module is not built, or that loads none without a signature.
    """
    return MODULE.exists() and kernel_config().get("CONFIG_PREEMPT_RT") != "y" and \
        not boot_lockdown()


def may_skip():
    """True if the kernel may skip events. With full or lazy preemption (7.x) an eBPF program can be
    preempted. Until it continues, the kernel skips it for other threads on the same CPU, so all
    their events in one turn on the CPU are skipped."""
    return "CONFIG_PREEMPT_LAZY" in kernel_config() or may_skip_faults()


def may_skip_faults():
    """True if faults may be skipped: before 6.14 the entry of these programs does not disable
    preemption."""
    return kernel_config().get("CONFIG_PREEMPT") == "y"


def assert_nothing_lost(result):
    """No record is lost, and no events except those the kernel may skip. The ledger adds up except
    for as many."""
    assert result["lost"] == 0
    assert not result.get("faults_lost")    # null without the module, and not in a study's result
    assert result["events_lost"] == (result["events_skipped"] if may_skip() else 0)
    assert abs(result["ledger"]["unexplained"]) <= result["events_lost"], result["ledger"]


def loaded():
    return pathlib.Path("/sys/module/pfstat").exists()


def load():
    if not loaded():
        run("insmod", MODULE)


def unload():
    """rmmod fails while anything is hooked, so the `control` targets are removed first."""
    if loaded():
        with contextlib.suppress(PermissionError):      # locked down: control had no targets
            control("stop")
        run("rmmod", "pfstat")


def control(line):
    """Writes one command to the shell's file. An OSError carries the module's errno."""
    fd = os.open(DEBUGFS / "control", os.O_WRONLY)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


class Session:
    """The interface for programs: targets are removed when it is closed."""

    def __init__(self, *lines):
        self.fd = os.open(DEBUGFS / "session", os.O_RDWR)
        for line in lines:
            self.command(line)

    def command(self, line):
        os.write(self.fd, line.encode())

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def log():
    """(head, records): head has records, here and lost. A record is a dict."""
    lines = (DEBUGFS / "log").read_text().splitlines()
    words = lines[0].replace(",", "").split()
    head = {words[i]: int(words[i + 1]) for i in range(4, len(words) - 1, 2)}
    names = [word.split("(")[0] for word in lines[1].lstrip("# ").split()]
    return head, [parse_record(names, line.split()) for line in lines[2:]]


def parse_record(names, words):
    assert len(names) == len(words), (names, words)
    record = dict(zip(names, words))
    for name in names:
        if name.endswith("_ns") or name in ("pid", "tid", "cpu", "pgoff", "order", "inode"):
            record[name] = int(record[name])
    for name in ("address", "flags", "result"):
        record[name] = int(record[name], 16)
    record["pfn"] = NO_PFN if record["pfn"] == "-" else int(record["pfn"], 16)
    return record


def stats():
    """The `stats` numbers by name, with class counts under the class names."""
    values = {}
    for line in (DEBUGFS / "stats").read_text().split("histogram")[0].splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].lstrip("-").isdigit():
            values[words[0]] = int(words[1])
    return values


def targets():
    return (DEBUGFS / "targets").read_text()


def hooked():
    return sum(line.startswith("vma ") for line in targets().splitlines())


def await_detached():
    """pfdrive's helper shares this lock until the eBPF programs are detached."""
    folder = os.open(PINS.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    os.close(folder)


def makes_accesses(pid):
    """True while pfdrive makes accesses. pfdrive is an eBPF target then. It was also one, with
    nothing hooked, while it measured the eBPF cost."""
    return hooked() > 0 and (PINS / "targets").exists() and str(pid) in run(
        "bpftool", "map", "dump", "pinned", PINS / "targets", check=False).stdout


def classes(records):
    return collections.Counter(record["class"] for record in records)


def pagemap_pfn(address, pid="self"):
    with open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        pagemap.seek(address // PAGE * 8)
        entry, = struct.unpack("Q", pagemap.read(8))
    return entry & ((1 << 55) - 1) if entry >> 63 else NO_PFN


@functools.lru_cache(maxsize=None)
def schema_of(name):
    folder = pathlib.Path(__file__).parents[3] / "Documentation/formats"
    if name == "pfdrive":       # made from a part by hand and the fields in the program
        text = run(PFBENCH, "helper", "schema", folder / "pfdrive.schema.in.json").stdout
    else:
        text = (folder / f"{name}.schema.json").read_text()
    return schema.compiled(json.loads(text))


def report_of(text, name="pfdrive"):
    """Parses a JSON report, and checks it against the documented schema."""
    result = json.loads(text)
    error = schema_of(name)(result)
    assert error is None, error
    return result


def drive(*options, command=(), check=True):
    """JSON from `pfdrive run`, or from another command making accesses."""
    return report_of(run(PFDRIVE, *command, "--format", "json", *options, check=check).stdout)


def record(*command, options=(), check=True):
    """JSON from `pfdrive record -- COMMAND`, and the command's output."""
    out = pathlib.Path("/tmp/record.json")
    out.unlink(missing_ok=True)
    process = run(PFDRIVE, "record", "--json", out, *options, "--", *command, check=check)
    return report_of(out.read_text()), process.stdout


def refused(status, *words, program=PFDRIVE, **kwargs):
    """pfdrive's single message on stderr. Checks that stdout is empty, and the exit status."""
    result = run(program, *words, check=False, **kwargs)
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert re.match(r"pfdrive( [a-z-]+)*: ", result.stderr) and result.stderr.count("\n") == 1
    return result.stderr


def begin_record(*options):
    """A running `pfdrive record` which watches already, or has failed. (Earlier hooks belong to
    pfdrive's measurement of its own cost.)"""
    process = subprocess.Popen([PFDRIVE, "record", *map(str, options)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: process.poll() is not None or watches(process))
    return process


def watches(process):
    """True if pfdrive record has started everything: the reading thread is the last part."""
    return len(os.listdir(f"/proc/{process.pid}/task")) > 1


def children(pid):
    """The first thread's children. Searches all processes if the kernel has no list of children.
    """
    listed = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    if listed.exists():
        return [int(word) for word in listed.read_text().split()]
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found


class Faults:
    """The file `faults`."""

    def __init__(self):
        self.words, self.counts = {}, {}
        for line in (DEBUGFS / "faults").read_text().splitlines():
            words = line.split()
            if len(words) == 2:
                self.words[words[0]] = words[1]
            elif len(words) == 5 and words[3].isdigit():
                self.counts[tuple(words[:3])] = int(words[3])

    def of(self, *words):
        """The faults with all these words: a kind, an origin, an outcome."""
        return sum(count for key, count in self.counts.items() if set(words) <= set(key))

    def number(self, name):
        return int(self.words[name])


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not come to be"
        time.sleep(0.05)


def report(recording, *options):
    """JSON from `pfdrive report RECORDING`."""
    return report_of(run(PFDRIVE, "report", "--format", "json", *options, recording).stdout)


def group_of(result, name):
    """The row with this name in a report's groups."""
    return next((row for row in result["groups"]["rows"] if row["name"] == str(name)), None)


def faults(result, name):
    return result["parts"]["classes"][name]["count"]


def make_file(path, size, fill=b"\x5a"):
    path = pathlib.Path(path)
    if not path.exists() or path.stat().st_size != size:
        with open(path, "wb") as file:
            file.write(fill * size)
            file.flush()
            os.fsync(file.fileno())
    return path


# Since 6.16 ext4 has large folios, and a fault maps a whole one. A test counting pages by faults
# needs single pages: a file system with encryption support has these, on 7.3 too.
SINGLE_PAGES = ("-O", "encrypt") if pathlib.Path("/sys/fs/ext4/features/encryption").exists() \
    else ()


def make_disk_of_single_pages():
    """Recreates /mnt/disk as in the lab's guest, but with single pages. The disk is empty then."""
    source, = [line.split()[0] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
               if line.split()[1] == str(DISK)]
    uuid = run("blkid", "-o", "value", "-s", "UUID", source).stdout.strip()
    run("umount", DISK)
    run("mkfs.ext4", "-q", "-F", "-N", "16384", "-J", "size=16", *SINGLE_PAGES, "-U", uuid,
        "-E", f"hash_seed={uuid[:-1]}2,lazy_itable_init=0,lazy_journal_init=0,nodiscard", source)
    run("mount", "-t", "ext4", "-o", "noatime,commit=600", source, DISK)


def device_node(block):
    """A block device's /dev/NAME, created if there is no udev."""
    device = pathlib.Path("/dev") / block
    if not device.exists():
        number = pathlib.Path(f"/sys/block/{block}/dev").read_text().split(":")
        os.mknod(device, 0o600 | stat.S_IFBLK, os.makedev(*map(int, number)))
    return device


# The block size of the lab's disk.
BLOCK = 4096


@contextlib.contextmanager
def null_disk(name, megabytes, completion_ns, block_bytes=BLOCK):
    """A separate null_blk completing each request after this time. Yields the device."""
    config = pathlib.Path("/sys/kernel/config/nullb") / name
    subprocess.run(["modprobe", "configfs"], check=False)
    subprocess.run(["mount", "-t", "configfs", "none", "/sys/kernel/config"], check=False,
                   stderr=subprocess.DEVNULL)
    before = set(os.listdir("/sys/block"))
    config.mkdir()
    for key, value in (("size", megabytes), ("memory_backed", 1), ("blocksize", block_bytes),
                       ("irqmode", 2), ("completion_nsec", completion_ns), ("power", 1)):
        (config / key).write_text(str(value))
    block, = set(os.listdir("/sys/block")) - before     # named by index or by folder
    device = device_node(block)
    try:
        yield device
    finally:
        (config / "power").write_text("0")
        config.rmdir()
        device.unlink(missing_ok=True)


def swaps():
    """The active swap devices."""
    lines = pathlib.Path("/proc/swaps").read_text().splitlines()[1:]
    return [line.split()[0] for line in lines]


@contextlib.contextmanager
def without_swap():
    """Switches the lab's swap off until the block ends."""
    devices = swaps()
    for device in devices:
        run("swapoff", device)
    try:
        yield
    finally:
        for device in devices:
            run("swapon", device)


@contextlib.contextmanager
def swap_disk(name, megabytes=128, completion_ns=100_000):
    """Makes such a device the only swap; it takes that time for each request."""
    with without_swap(), null_disk(name, megabytes, completion_ns) as device:
        run("mkswap", device)
        run("swapon", device)
        try:
            yield device
        finally:
            run("swapoff", device)


@contextlib.contextmanager
def mounted_disk(name, completion_ns, readahead_kb=128, features=SINGLE_PAGES, block_bytes=BLOCK):
    """A 64 MiB ext4 on such a device. Yields the mount point."""
    folder = pathlib.Path("/mnt") / name
    folder.mkdir(exist_ok=True)
    with null_disk(name, 64, completion_ns, block_bytes) as device:
        pathlib.Path(f"/sys/block/{device.name}/queue/read_ahead_kb").write_text(
            str(readahead_kb))
        run("mkfs.ext4", "-q", "-F", "-b", block_bytes, *features, "-E",
            "lazy_itable_init=0,lazy_journal_init=0", device)
        run("mount", "-t", "ext4", "-o", "noatime,commit=600", device, folder)
        try:
            yield folder
        finally:
            run("umount", folder)


def remove_cgroup(group):
    """Kills the members first."""
    (group / "cgroup.kill").write_text("1")
    wait_until(lambda: "populated 0" in (group / "cgroup.events").read_text())
    for folder in sorted(group.glob("**/"), reverse=True):
        folder.rmdir()


def cgroup(name, *controllers):
    """A new cgroup v2 folder. A failed test may have left one of this name."""
    root = pathlib.Path("/sys/fs/cgroup")
    if not (root / "cgroup.controllers").exists():
        run("mount", "-t", "cgroup2", "none", root)
    for controller in controllers:
        (root / "cgroup.subtree_control").write_text(f"+{controller}")
    group = root / name
    if group.exists():
        remove_cgroup(group)
    group.mkdir()
    return group


def evict(path):
    """Drops a file's clean, unmapped pages."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def drop_cache():
    """drop_caches skips pages in another CPU's LRU batch, so posix_fadvise(2) drops these first."""
    os.sync()
    for path in DISK.iterdir():
        if path.is_file():
            evict(path)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def warm(path):
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def map_memory(fd, size, prot, flags):
    """Calls mmap(2) directly: Python's mmap checks the file's size, which is 0 in debugfs."""
    address = LIBC.mmap(None, size, prot, flags, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return address


class Mapping:
    """A file mapped into this process. Touches pages and returns their addresses."""

    def __init__(self, path, shared=True, write=False):
        self.file = open(path, "r+b" if write else "rb")
        size = os.fstat(self.file.fileno()).st_size
        prot = mmap.PROT_READ | (mmap.PROT_WRITE if write else 0)
        flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        self.size = size
        self.address = map_memory(self.file.fileno(), size, prot, flags)
        self.bytes = (ctypes.c_ubyte * size).from_address(self.address)

    def fd(self):
        return self.file.fileno()

    def read(self, page):
        return self.bytes[page * PAGE]

    def write(self, page, value=1):
        self.bytes[page * PAGE] = value

    def close(self):
        if self.address:
            LIBC.munmap(self.address, self.size)
            self.file.close()
        self.address = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def mapped_by(record):
    """The file pages mapped by a ->fault call, according to the record."""
    size = 1 << record["order"] if "f" in record["facts"] else 1
    begin = record["pgoff"] // size * size
    return range(begin, begin + size)


class Workload:
    """A tests/vm/progs/workload.c program, which waits at the start."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([str(BUILD / "workload"), *map(str, arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self):
        self.go()
        assert self.process.wait(timeout=PATIENCE) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


def of_file(records, path):
    inode = os.stat(path).st_ino
    return [record for record in records if record["inode"] == inode]


def listed_pages(path):
    """The pages in a prefetch list, by path, in the order of the list."""
    paths, pages = [], {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        word, *rest = line.split(" ", 5)
        if word == "file":
            paths.append(rest[4])
        if word == "read":
            number, offset, length = map(int, rest)
            pages.setdefault(paths[number - 1], []).extend(
                range(offset // PAGE, (offset + length - 1) // PAGE + 1))
    return pages

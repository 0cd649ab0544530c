# SPDX-License-Identifier: GPL-2.0-only
"""File systems to test on: created and mounted, on a device that can be set to fail."""
import contextlib
import ctypes
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

import pfstat
from pfstat import LIBC, PAGE

LAB_PEER = pathlib.Path(__file__).parents[3] / "tools/lab-peer"
FUSE_SERVER = pathlib.Path(__file__).with_name("fuse_server.py")
PEER_MOUNT = pathlib.Path("/mnt/peer")

# Close to the smallest size that their mkfs accepts. null_blk allocates memory only for written
# blocks.
MEGABYTES = {"ext4": 64, "xfs": 320, "btrfs": 160}
MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}
COMPLETION_NS = 100_000
SECTORS = PAGE // 512

LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def has_module(*names):
    return not pfstat.run("modprobe", "-qn", "-a", *names, check=False).returncode


def here():
    """Names of the file systems supported in this guest. The lab's peer needs virtual network
    cards, and an NFS server's programs, which the arm64 guest lacks."""
    names = [name for name in ("ext4", "xfs", "btrfs") if has_module(name)]
    if has_module("overlay"):
        names.append("overlay")
    if has_module("nfs", "nfsd", "veth") and shutil.which("exportfs"):
        names.append("nfs")
    return names


def has_persistent_memory():
    """Only in a lab started with it, on a kernel with a driver to make it a disk."""
    return "Persistent Memory" in pathlib.Path("/proc/iomem").read_text() and \
        has_module("nd_e820", "nd_pmem")


class Device:
    """A device-mapper device over a null_blk, which can be set to fail."""

    def __init__(self, name, below):
        self.name = name
        self.below = below
        self.sectors = int(pathlib.Path(f"/sys/block/{below.name}/size").read_text())
        pfstat.run("modprobe", "dm-mod")
        self.dmsetup("create", input=self.table())
        minor = self.dmsetup("info", "-c", "--noheadings", "-o", "minor").stdout.strip()
        self.path = pfstat.device_node(f"dm-{minor}")

    def dmsetup(self, verb, *options, **kwargs):
        return pfstat.run("dmsetup", "--noudevsync", "--noudevrules", verb, self.name, *options,
                          **kwargs)

    def table(self, bad_from=0, bad_end=0):
        """Maps all sectors to the device below, except the bad ones."""
        rows = [(0, bad_from, f"linear {self.below} 0"), (bad_from, bad_end, "error"),
                (bad_end, self.sectors, f"linear {self.below} {bad_end}")]
        return "".join(f"{begin} {end - begin} {target}\n" for begin, end, target in rows
                       if end > begin)

    def load(self, table):
        """Loads the table without freezing the file system."""
        self.dmsetup("load", input=table)
        self.dmsetup("suspend", "--noflush", "--nolockfs")
        self.dmsetup("resume")

    def remove(self):
        self.dmsetup("remove", "--retry")
        self.path.unlink(missing_ok=True)


class Place:
    """A mounted file system: the name, a folder on it, and the device if there is one."""

    def __init__(self, name, folder, mount, device=None, below=None):
        self.name = name
        self.folder = folder
        self.device = device
        # For an overlay: the folder containing the overlay's three folders. For FUSE: the folder
        # with the files.
        self.below = below
        self.mount_command = mount

    def mount(self):
        pfstat.run("mount", *self.mount_command)

    def unmount(self):
        pfstat.run("umount", self.mount_command[-1])

    @contextlib.contextmanager
    def failing(self, bad_from=0, bad_end=None):
        """Makes these device sectors, or all, fail until the block ends. XFS is frozen, because it
        writes to the log half a minute after the last change, and only reads may fail.
        """
        os.sync()
        frozen = self.name == "xfs"
        if frozen:
            pfstat.run("fsfreeze", "--freeze", self.folder)
        self.device.load(self.device.table(bad_from, bad_end or self.device.sectors))
        try:
            yield
        finally:
            self.device.load(self.device.table())
            if frozen:
                pfstat.run("fsfreeze", "--unfreeze", self.folder)

    def file(self, name, pages):
        """A new file with page_of() in each page, without cached pages."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        with open(path, "wb") as file:
            file.write(b"".join(page_of(page) for page in range(pages)))
        make_cold(path)
        return path


def page_of(number):
    """The content of a Place.file() page: the bytes are the page's value_of()."""
    return bytes([value_of(number)]) * PAGE


def value_of(number):
    return number % 199 + 1


@contextlib.contextmanager
def on_disk(name):
    """A file system on a disk."""
    folder = pathlib.Path("/mnt") / f"fs-{name}"
    folder.mkdir(exist_ok=True)
    with pfstat.null_disk(f"fs-{name}", MEGABYTES[name], COMPLETION_NS) as below:
        device = Device(f"pfstat-{name}", below)
        try:
            pfstat.run(*MKFS[name], device.path)
            place = Place(name, folder, ["-t", name, "-o", "noatime", device.path, folder], device)
            place.mount()
            try:
                yield place
            finally:
                place.unmount()
        finally:
            device.remove()


@contextlib.contextmanager
def overlay():
    """An overlay over an ext4: new files are in the upper folder, lower/ is the lower one."""
    folder = pathlib.Path("/mnt/fs-overlay")
    folder.mkdir(exist_ok=True)
    with on_disk("ext4") as below:
        for name in ("lower", "upper", "work"):
            (below.folder / name).mkdir(exist_ok=True)
        options = ",".join(f"{name}dir={below.folder / name}" for name in
                           ("lower", "upper", "work"))
        place = Place("overlay", folder, ["-t", "overlay", "-o", options, "overlay", folder],
                      below.device, below.folder)
        place.mount()
        try:
            yield place
        finally:
            place.unmount()


@contextlib.contextmanager
def nfs():
    """NFS version 4.2 on an ext4, through the tools/lab-peer network."""
    exported = pfstat.DISK / "exported"
    exported.mkdir(exist_ok=True)
    pfstat.run(LAB_PEER, "start", "--nfs", exported)
    try:
        yield Place("nfs", PEER_MOUNT, ["-t", "nfs", "-o", "vers=4.2,soft", "10.213.7.2:/",
                                        PEER_MOUNT])
    finally:
        pfstat.run(LAB_PEER, "stop")


@contextlib.contextmanager
def fuse():
    """The files in the folder `below`, through a FUSE server."""
    below, folder = pfstat.DISK / "served", pathlib.Path("/mnt/fs-fuse")
    for path in (below, folder):
        path.mkdir(exist_ok=True)
    pfstat.run("modprobe", "fuse")
    with subprocess.Popen([sys.executable, FUSE_SERVER, below, folder], text=True,
                          stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == "mounted\n"
        try:
            yield Place("fuse", folder, None, below=below)
        finally:
            pfstat.run("umount", folder)
    assert server.returncode == 0


@contextlib.contextmanager
def dax():
    """An ext4 with DAX, on memory that serves as persistent memory (tools/lab --pmem)."""
    pfstat.run("modprobe", "-a", "nd_e820", "nd_pmem")
    device = pathlib.Path("/dev/pmem0")
    pfstat.wait_until(device.exists)
    folder = pathlib.Path("/mnt/fs-dax")
    folder.mkdir(exist_ok=True)
    # In 2 MiB units, so huge pages can map a file.
    pfstat.run(*MKFS["ext4"], "-b", PAGE, "-E", "stride=512,stripe_width=512", device)
    place = Place("ext4", folder, ["-t", "ext4", "-o", "noatime,dax=always", device, folder])
    place.mount()
    try:
        yield place
    finally:
        place.unmount()


def mounted(name):
    if name == "overlay":
        return overlay()
    return nfs() if name == "nfs" else on_disk(name)


def resident(path):
    """Number of the file's pages in the page cache."""
    with pfstat.Mapping(path) as mapping:
        pages = -(-mapping.size // PAGE)
        states = ctypes.create_string_buffer(pages)
        if LIBC.mincore(mapping.address, mapping.size, states):
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(state & 1 for state in states.raw)


def make_cold(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        for _ in range(10):     # a page in use at the moment stays
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            if not resident(path):
                return
            time.sleep(0.1)
    raise AssertionError(f"{resident(path)} pages of {path} stay in the page cache")


def blocks_of(path, page):
    """Device sectors holding a page of a file, from FIEMAP."""
    offset = page * SECTORS
    for line in pfstat.run("filefrag", "-v", "-b512", path).stdout.splitlines():
        words = line.replace(":", " ").replace("..", " ").split()
        if len(words) >= 6 and words[0].isdigit() and int(words[1]) <= offset <= int(words[2]):
            first = int(words[3]) + offset - int(words[1])
            return first, first + SECTORS
    raise AssertionError(f"filefrag does not tell where page {page} of {path} lies")


class Touched:
    """The output of tests/vm/progs/touch_pages.c, and the module's log about it."""

    def __init__(self, text):
        lines = text.splitlines()
        self.lines = lines[:-1]
        self.minor, self.major = map(int, lines[-1].split()[1:])
        self.head, self.records = pfstat.log()
        self.stats = pfstat.stats()

    def values(self):
        """{page: value} for the pages touched without a signal."""
        words = [line.split() for line in self.lines]
        return {int(w[1]): int(w[3]) for w in words if w[2] == "value"}

    def signals(self):
        """[(page, signal, code, the address's page)]"""
        words = [line.split() for line in self.lines]
        return [(int(w[1]), int(w[3]), int(w[5]), int(w[7])) for w in words if w[2] == "signal"]


def touch(path, how, steps, option="-p"):
    """option: -p, hooked without fault-around, or -a, with it, or None, not hooked."""
    options = [option] if option else []
    result = pfstat.run(pfstat.BUILD / "touch_pages", *options, path, how, *steps)
    return Touched(result.stdout)


def device_number(number):
    """In pfstat's format."""
    return f"{os.major(number)}:{os.minor(number)}"


def device_of(path):
    return device_number(os.stat(path).st_dev)


def present(mapping, pages):
    """A Mapping's pages in the page table."""
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(mapping.address // PAGE * 8)
        entries = struct.unpack(f"{pages}Q", pagemap.read(8 * pages))
    return {page for page, entry in enumerate(entries) if entry >> 63}

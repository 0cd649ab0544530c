# SPDX-License-Identifier: GPL-2.0-only
"""Memory that looks like a file is refused by name, and skipped in a watched process."""
import contextlib
import ctypes
import errno
import mmap
import os
import pathlib

import pytest

import filesystems
import pfstat
from pfstat import PAGE, Session


def huge_page_bytes():
    line, = [line for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
             if line.startswith("Hugepagesize:")]
    return int(line.split()[1]) * 1024


@contextlib.contextmanager
def memory_of(kind):
    """(a descriptor, an address) for two mapped pages belonging to no file on a disk."""
    size = 2 * PAGE
    flags = mmap.MAP_SHARED
    folder = None
    if kind == "tmpfs":
        fd = os.open("/dev/shm/pfstat-test", os.O_RDWR | os.O_CREAT)
        os.unlink("/dev/shm/pfstat-test")
    elif kind == "memfd":
        fd = os.memfd_create("pfstat-test")
    elif kind == "hugetlbfs":
        size = huge_page_bytes()
        pathlib.Path("/proc/sys/vm/nr_hugepages").write_text("2")
        folder = pathlib.Path("/mnt/huge")
        folder.mkdir(exist_ok=True)
        pfstat.run("mount", "-t", "hugetlbfs", "none", folder)
        fd = os.open(folder / "file", os.O_RDWR | os.O_CREAT)
    else:
        size = huge_page_bytes()
        pathlib.Path("/proc/sys/vm/nr_hugepages").write_text("2")
        fd = os.memfd_create("pfstat-test", os.MFD_HUGETLB)
    os.ftruncate(fd, size)
    address = pfstat.map_memory(fd, size, mmap.PROT_READ | mmap.PROT_WRITE, flags)
    try:
        yield fd, address
    finally:
        pfstat.LIBC.munmap(address, size)
        os.close(fd)
        if folder:
            pfstat.run("umount", folder)
        pathlib.Path("/proc/sys/vm/nr_hugepages").write_text("0")


@pytest.mark.parametrize("kind", ["tmpfs", "memfd", "hugetlbfs", "huge memfd"])
def test_memory_is_refused_by_name_and_skipped(kind):
    """The file is refused. In a watched process, such a mapping works unhooked."""
    with memory_of(kind) as (fd, address):
        status = os.fstat(fd)
        dev, inode = filesystems.device_number(status.st_dev), status.st_ino
        with Session() as session:
            with pytest.raises(OSError) as refused:
                session.command(f"file {fd}")
            assert refused.value.errno == errno.EOPNOTSUPP
            assert pfstat.hooked() == 0
        with Session(f"pid {os.getpid()}"):
            assert f"dev {dev} inode {inode} " not in pfstat.targets() and pfstat.hooked() > 0
            byte = ctypes.c_ubyte.from_address(address)
            byte.value = 7
            assert byte.value == 7
        assert (dev, inode) not in {(r["dev"], r["inode"]) for r in pfstat.log()[1]}


@pytest.mark.parametrize("kind", ["tmpfs", "memfd"])
def test_pfdrive_refuses_memory_with_one_message(kind):
    with memory_of(kind) as (fd, _):
        result = pfstat.run(pfstat.PFDRIVE, f"/proc/{os.getpid()}/fd/{fd}", check=False)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("pfdrive: ") and result.stderr.count("\n") == 1

# SPDX-License-Identifier: GPL-2.0-only
"""What the complaints' programs need around them: files, limits, disks, huge pages.

A place is a context manager that yields a Place. All but `nothing`, `file`, `new_file` and
`small_files` need root, and change the kernel's settings until the block ends.
"""
import contextlib
import dataclasses
import os
import pathlib
import shutil

import filesystems
import pfstat
import squashfs
from pfstat import run

MIB = 1 << 20
SETTINGS = pathlib.Path("/proc/sys")
MEMORY = pathlib.Path("/sys/kernel/mm")


@dataclasses.dataclass
class Place:
    """words replace {words} in a command. prefix comes before the command."""
    words: dict = dataclasses.field(default_factory=dict)
    prefix: tuple = ()


@contextlib.contextmanager
def written(*settings):
    """Writes (path, value) pairs, and writes the former values back in the opposite order."""
    before = [(path, path.read_text().split()[0]) for path, _ in settings]
    for path, value in settings:
        path.write_text(str(value))
    try:
        yield
    finally:
        for path, value in reversed(before):
            with contextlib.suppress(OSError):      # dirty_bytes takes no 0, so dirty_ratio is next
                path.write_text(value)


@contextlib.contextmanager
def nothing(_folder):
    yield Place()


@contextlib.contextmanager
def file(folder, megabytes=16, cold=True):
    """A file with random bytes, in the page cache or not."""
    path = folder / "file"
    with open(path, "wb") as output:
        for _ in range(megabytes):
            output.write(os.urandom(MIB))
        output.flush()
        os.fsync(output.fileno())
    if cold:
        pfstat.evict(path)
    shutil.chown(path, folder.stat().st_uid)
    try:
        yield Place({"file": path})
    finally:
        path.unlink()


@contextlib.contextmanager
def new_file(folder):
    """The path of a file the program creates."""
    path = folder / "new"
    try:
        yield Place({"file": path})
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def small_files(folder):
    """A folder with 1000 files of a page."""
    path = folder / "files"
    path.mkdir()
    for number in range(1000):
        (path / str(number)).write_bytes(bytes(pfstat.PAGE))
    try:
        yield Place({"folder": path})
    finally:
        shutil.rmtree(path)


@contextlib.contextmanager
def slow_disk(_folder, megabytes=16, cold=False, latency_us=2000, dirty_bytes=None):
    """A file on a disk with this latency. dirty_bytes: the level from which writers wait for the
    disk."""
    limits = []
    if dirty_bytes:
        limits = [(SETTINGS / f"vm/dirty_{name}bytes", value) for name, value in
                  (("background_", dirty_bytes // 4), ("", dirty_bytes))]
        limits = [(SETTINGS / f"vm/dirty_{name}ratio", value) for name, value in
                  (("background_", 10), ("", 20))] + limits
    with pfstat.mounted_disk("slow", latency_us * 1000) as mount, \
            file(mount, megabytes, cold) as place:
        with written(*limits):
            yield place


@contextlib.contextmanager
def cgroup(folder, swap=True, **limits):
    """A memory controller group with memory.high set to high=BYTES."""
    group = pfstat.cgroup("complaint", "memory")
    for name, value in limits.items():
        (group / f"memory.{name}").write_text(str(value))
    if not swap:
        (group / "memory.swap.max").write_text("0")
    enter = f'echo $$ >{group}/cgroup.procs; exec "$@"'
    run("sh", "-c", ":")        # so that the recorded shell has no cold faults
    try:
        with new_file(folder) as place:
            yield Place(place.words, ("sh", "-c", enter, "sh"))
    finally:
        group.rmdir()


@contextlib.contextmanager
def program_on_disk(folder, program, **limits):
    """A copy of the program on the disk, cold, in a group with these limits."""
    path = folder / "program"
    shutil.copy(program, path)
    run("sync", path)
    pfstat.evict(path)
    try:
        with cgroup(folder, **limits) as place:
            yield Place({"program": path}, place.prefix)
    finally:
        path.unlink()


@contextlib.contextmanager
def huge_pages(_folder, number):
    with written((SETTINGS / "vm/nr_hugepages", number)):
        assert int((SETTINGS / "vm/nr_hugepages").read_text()) == number
        yield Place()


@contextlib.contextmanager
def merging(_folder):
    """KSM scans nearly without a pause: if it never sleeps, no tracer can be taken off."""
    with written((MEMORY / "ksm/run", 1), (MEMORY / "ksm/sleep_millisecs", 2),
                 (MEMORY / "ksm/pages_to_scan", 4096)):
        yield Place()


@contextlib.contextmanager
def squashed(folder, program):
    """The program in a compressed image, mounted over a loop device."""
    image, mount = folder / "image", pathlib.Path("/mnt/complaint")
    mount.mkdir(exist_ok=True)
    squashfs.write_image(image, "program", pathlib.Path(program).read_bytes())
    run("modprobe", "-a", "loop", "squashfs")
    run("sync", image)
    run("mount", "-t", "squashfs", "-o", "loop,ro", image, mount)
    pfstat.evict(image)
    try:
        yield Place({"program": mount / "program"})
    finally:
        run("umount", mount)
        image.unlink()


@contextlib.contextmanager
def shm(_folder, megabytes):
    """A folder of this size in memory."""
    folder = pathlib.Path("/mnt/shm")
    folder.mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "shm", folder)
    try:
        yield Place({"folder": folder})
    finally:
        run("umount", folder)


@contextlib.contextmanager
def remote(_folder, megabytes=2):
    """A file read by a FUSE server."""
    with filesystems.fuse() as fuse, file(fuse.below, megabytes, cold=False):
        yield Place({"file": fuse.folder / "file"})


@contextlib.contextmanager
def persistent(_folder, aligned):
    """A DAX file. The blocks are aligned to 2 MiB, or lie between another file's blocks."""
    with filesystems.dax() as dax:
        path = dax.folder / "pool"
        with open(path, "wb") as pool, open(dax.folder / "other", "wb") as other:
            for at in range(0, 0 if aligned else 16 * MIB, MIB):
                os.posix_fallocate(pool.fileno(), at, MIB)
                os.posix_fallocate(other.fileno(), at, 3 * pfstat.PAGE)
            os.posix_fallocate(pool.fileno(), 0, 16 * MIB)
            pool.write(bytes(16 * MIB))
        yield Place({"file": path})

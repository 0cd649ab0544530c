# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's fault injection: a task's n-th allocation fails, once.

On request, only allocations below certain functions count: the allocating call stack must
contain a return address between two bounds.
"""
import contextlib
import ctypes
import errno
import functools
import itertools
import os
import pathlib
import threading

import pfstat

DEBUGFS = pathlib.Path("/sys/kernel/debug")
KINDS = ("failslab", "fail_page_alloc")
EVERYWHERE = (0, (1 << 64) - 1)
# More allocations than any operation makes, because otherwise the loop would not end.
MOST = 3000
SYS_FINIT_MODULE, SYS_DELETE_MODULE = (273, 106) if pfstat.ARM64 else (313, 176)


def path_of(pid, tid=None):
    return pathlib.Path(f"/proc/{pid}/task/{tid or pid}/fail-nth")


def available():
    return path_of(os.getpid()).exists() and (DEBUGFS / KINDS[0] / "require-start").exists()


def below_module():
    """The bounds of the module's text, once it is loaded."""
    start = int(pathlib.Path("/sys/module/pfstat/sections/.text").read_text(), 16)
    sizes = pfstat.run("size", "-A", "-d", pfstat.MODULE).stdout.splitlines()
    size, = [int(line.split()[1]) for line in sizes if line.split()[:1] == [".text"]]
    return start, start + size


def below_function(name):
    """A kernel function's bounds."""
    symbols = []
    for line in pathlib.Path("/proc/kallsyms").read_text().splitlines():
        if "[" not in line:
            address, kind, symbol = line.split()[:3]
            symbols.append((int(address, 16), kind, symbol))
    symbols.sort()
    at, = [i for i, symbol in enumerate(symbols) if symbol[2] == name and symbol[1] in "tT"]
    start = symbols[at][0]
    return start, next(address for address, _, _ in symbols[at:] if address > start)


@functools.lru_cache(maxsize=None)
def beyond_help():
    """The kernel cannot remove a kretprobe without memory: it warns, the probe stays armed, and the
    handler's data is freed nevertheless (kernel/kprobes.c in 6.12). The caller neither learns of it
    nor can handle it, so these allocations must not fail."""
    return below_function("unregister_kretprobe")


@contextlib.contextmanager
def counted(bounds):
    """Selects the counted allocations: those made below the bounds, including those that may
    sleep."""
    settings = {"verbose": "0", "ignore-gfp-wait": "N", "stacktrace-depth": "32",
                "require-start": hex(bounds[0]), "require-end": hex(bounds[1]),
                "reject-start": hex(beyond_help()[0]), "reject-end": hex(beyond_help()[1])}
    for kind in KINDS:
        for name, value in settings.items():
            (DEBUGFS / kind / name).write_text(value)
    (DEBUGFS / "fail_page_alloc/ignore-gfp-highmem").write_text("N")
    (DEBUGFS / "fail_page_alloc/min-order").write_text("0")
    try:
        yield
    finally:
        for kind in KINDS:
            for bound in ("require-start", "reject-start", "reject-end"):
                (DEBUGFS / kind / bound).write_text("0")
            (DEBUGFS / kind / "require-end").write_text(hex(EVERYWHERE[1]))


class Own:
    """This thread's fail-nth, open all the time, so arming it is one system call."""

    def __init__(self):
        self.fd = os.open(path_of(os.getpid(), threading.get_native_id()), os.O_RDWR)

    def arm(self, nth):
        os.pwrite(self.fd, b"%d" % nth, 0)

    def disarm(self):
        """True: the allocation was reached and failed."""
        failed = int(os.pread(self.fd, 32, 0)) == 0
        os.pwrite(self.fd, b"0", 0)
        return failed

    def close(self):
        os.close(self.fd)


def errno_of(act):
    """The result of act(): 0 or an errno."""
    try:
        act()
    except OSError as error:
        return error.errno
    except MemoryError:     # an allocation in the interpreter itself failed
        return errno.ENOMEM
    return 0


def each(bounds, act, check, begin=lambda: None):
    """Runs begin(), act() with the n-th allocation failing, and check(errno, failed), for n from 1
    until act() makes fewer than n allocations. Returns the number of failed allocations."""
    own = Own()
    try:
        for nth in itertools.count(1):
            assert nth < MOST, "it has no end"
            begin()
            with counted(bounds):
                own.arm(nth)
                err = errno_of(act)
                failed = own.disarm()
            assert err == 0 or (failed and err == errno.ENOMEM), (nth, failed, os.strerror(err))
            check(err, failed)
            if not failed:
                return nth - 1
    finally:
        own.close()


def syscall(number, *arguments):
    if pfstat.LIBC.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def insmod(parameters=b""):
    fd = os.open(pfstat.MODULE, os.O_RDONLY)
    try:
        syscall(SYS_FINIT_MODULE, fd, parameters, 0)
    finally:
        os.close(fd)


def rmmod():
    syscall(SYS_DELETE_MODULE, b"pfstat", os.O_NONBLOCK)

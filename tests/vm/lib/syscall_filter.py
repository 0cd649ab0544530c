# SPDX-License-Identifier: GPL-2.0-only
"""A filter of system calls (seccomp) as containers have: it refuses some calls with an errno."""
import ctypes
import errno
import struct

import pfstat

NUMBERS = {"bpf": 280 if pfstat.ARM64 else 321, "perf_event_open": 241 if pfstat.ARM64 else 298}

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, ERRNO = 0x7fff0000, 0x00050000
# struct sock_filter: load the call number, compare it, return.
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


class Program(ctypes.Structure):
    """struct sock_fprog"""
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def refusing(*names, error=errno.EPERM):
    """For subprocess's preexec_fn: the program cannot make these calls."""
    count = len(names)
    lines = [(LOAD, 0, 0, 0)]
    lines += [(EQUAL, count - i, 0, NUMBERS[name]) for i, name in enumerate(names)]
    lines += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | error)]
    code = b"".join(struct.pack("HBBI", *line) for line in lines)
    program = Program(len(lines), code)
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
                libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
            raise OSError(ctypes.get_errno(), "cannot install the filter")
    return install

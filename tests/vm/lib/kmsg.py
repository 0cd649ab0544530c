# SPDX-License-Identifier: GPL-2.0-only
"""Kernel messages that report a problem in the kernel."""
import os
import re

import pfstat

# Lines forbidden in the kernel log during a test. File system warnings about a program's request
# ("EXT4-fs warning") do not match.
BAD_LINES = re.compile(r"(?-i:\bBUG\b|\bWARNING\b)|\bOops\b|lockdep|possible (recursive|circular)"
                       r"|INFO: (task|rcu|trying)|hard LOCKUP|general protection|taint|call trace"
                       r"|leaking|ODEBUG: ", re.IGNORECASE)
# The kernel reports once that an unsigned out-of-tree module is loaded, which is not a problem.
# Lockdep prints the limits at boot, and each test prints the test's name.
ALLOWED_LINES = re.compile(r"(pfstat|faultlog): "
                           r"(loading out-of-tree module|module verification failed)"
                           r"|^\.\.\. .*LOCKDEP|RCU lockdep checking is enabled|^pfstat test ")
# Start and end of the kernel's report of an allocation failure caused by
# tests/vm/test_injection.py.
REFUSED = re.compile(r"(vmalloc error|vmap allocation).*(failed|size)|: page allocation failure: ")
REFUSED_END = re.compile(r"</TASK>|^Mem-Info:")
# Number of report lines to print.
REPORT_LINES = 100


class Log:
    """The lines that the kernel logs from now on. dmesg reads all lines, for each test."""

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)
        self.seen = []

    def lines(self):
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return self.seen
            except BrokenPipeError:     # the oldest were overwritten; the next read has the others
                continue
            self.seen.append(record.partition(";")[2].partition("\n")[0])

    def close(self):
        os.close(self.fd)


def lines_after(mark):
    """All lines if the mark has left the log."""
    lines = whole()
    return lines[max((i for i, line in enumerate(lines) if mark in line), default=-1) + 1:]


def whole():
    return pfstat.run("dmesg", "--notime").stdout.splitlines()


def without_refusals(lines):
    """Removes reports of refused allocations, which only name the caller. A caller unable to handle
    the failure prints a message of its own."""
    kept, inside = [], False
    for line in lines:
        inside = inside or bool(REFUSED.search(line))
        if not inside:
            kept.append(line)
        elif REFUSED_END.search(line):
            inside = False
    return kept


def report(lines):
    """The kernel's problem report, from the first line on, or empty if there is none."""
    lines = without_refusals(lines)
    bad = [i for i, line in enumerate(lines)
           if BAD_LINES.search(line) and not ALLOWED_LINES.search(line)]
    return lines[bad[0]:][:REPORT_LINES] if bad else []


def assert_no_trouble(lines):
    """Fails with the kernel's report."""
    bad = report(lines)
    assert not bad, "the kernel log gained:\n" + "\n".join(bad)

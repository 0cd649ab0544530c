# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel says when something is wrong in it."""
import re

import pfstat

# What must not appear in the kernel log while a test runs. A file system's warning of what a
# program asked of it ("EXT4-fs warning") is none of these.
BAD_LINES = re.compile(r"(?-i:\bBUG\b|\bWARNING\b)|\bOops\b|lockdep|possible (recursive|circular)"
                       r"|INFO: (task|rcu|trying)|hard LOCKUP|general protection|taint|call trace"
                       r"|leaking|ODEBUG: ", re.IGNORECASE)
# Loading an unsigned out-of-tree module says so once; that is no fault. Lockdep
# prints that it is there, and its limits, when it begins; a test its name.
ALLOWED_LINES = re.compile(r"pfstat: (loading out-of-tree module|module verification failed)"
                           r"|^\.\.\. .*LOCKDEP|RCU lockdep checking is enabled|^pfstat test ")
# The kernel's report of an allocation that tests/vm/test_injection.py made fail, from and to.
REFUSED = re.compile(r"(vmalloc error|vmap allocation).*(failed|size)|: page allocation failure: ")
REFUSED_END = re.compile(r"</TASK>|^Mem-Info:")
# Lines of a report that are worth printing.
REPORT_LINES = 100


def lines_after(mark):
    """All there are, when the mark has left the log already."""
    lines = whole()
    return lines[max((i for i, line in enumerate(lines) if mark in line), default=-1) + 1:]


def whole():
    return pfstat.run("dmesg", "--notime").stdout.splitlines()


def without_refusals(lines):
    """An allocation that is refused has its caller's name printed, and no more came of it;
    who cannot live with it says so itself."""
    kept, inside = [], False
    for line in lines:
        inside = inside or bool(REFUSED.search(line))
        if not inside:
            kept.append(line)
        elif REFUSED_END.search(line):
            inside = False
    return kept


def assert_no_trouble(lines):
    """Fails with the kernel's report, from its first line on."""
    lines = without_refusals(lines)
    bad = [i for i, line in enumerate(lines)
           if BAD_LINES.search(line) and not ALLOWED_LINES.search(line)]
    assert not bad, "the kernel log gained:\n" + "\n".join(lines[bad[0]:][:REPORT_LINES])

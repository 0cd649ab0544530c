# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel says when something is wrong in it."""
import re

import pfstat

# What must not appear in the kernel log while a test runs.
BAD_LINES = re.compile(r"(?-i:\bBUG\b)|WARNING|\bOops\b|lockdep|possible (recursive|circular)"
                       r"|INFO: (task|rcu|trying)|hard LOCKUP|general protection|taint|call trace"
                       r"|leaking|ODEBUG: ", re.IGNORECASE)
# Loading an unsigned out-of-tree module says so once; that is no fault. Lockdep
# prints that it is there, and its limits, when it begins; a test its name.
ALLOWED_LINES = re.compile(r"pfstat: (loading out-of-tree module|module verification failed)"
                           r"|^\.\.\. .*LOCKDEP|RCU lockdep checking is enabled|^pfstat test ")
# Lines of a report that are worth printing.
REPORT_LINES = 100


def lines_after(mark):
    lines = whole()
    return lines[max(i for i, line in enumerate(lines) if mark in line) + 1:]


def whole():
    return pfstat.run("dmesg", "--notime").stdout.splitlines()


def assert_no_trouble(lines):
    """Fails with the kernel's report, from its first line on."""
    bad = [i for i, line in enumerate(lines)
           if BAD_LINES.search(line) and not ALLOWED_LINES.search(line)]
    assert not bad, "the kernel log gained:\n" + "\n".join(lines[bad[0]:][:REPORT_LINES])

# SPDX-License-Identifier: GPL-2.0-only
"""The debug kernel's search for memory without references."""
import time

import pfstat

# kmemleak ignores younger objects, and those that changed between two scans.
MIN_AGE = 5


def scan():
    """kmemleak's report, or empty if there is no leak."""
    for _ in range(2):
        time.sleep(MIN_AGE + 1)
        pfstat.KMEMLEAK.write_text("scan")
    return pfstat.KMEMLEAK.read_text()

# SPDX-License-Identifier: GPL-2.0-only
"""Makes an SQLite database of 30000 rows of 1000 bytes, or looks 400 of them up at random through
its mapping, and prints what the lookups cost.

usage: read_ahead.py FILE make | look
"""
import random
import resource
import sqlite3
import sys
import time

path, mode = sys.argv[1:]
database = sqlite3.connect(path)
if mode == "make":
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)")
    database.executemany("INSERT INTO t VALUES (?, zeroblob(1000))",
                         ((key,) for key in range(30000)))
    database.commit()
else:
    database.execute("PRAGMA mmap_size=268435456")
    random.seed(1)
    keys = [random.randrange(30000) for _ in range(400)]
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    for key in keys:
        assert database.execute("SELECT data FROM t WHERE id = ?", (key,)).fetchone()
    after, end = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    print(after.ru_majflt - before.ru_majflt, "major faults,",
          f"{(after.ru_inblock - before.ru_inblock) / 2048:.2f} MiB read,",
          f"{1000 * (end - start):.1f} ms")

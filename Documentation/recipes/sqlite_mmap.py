# SPDX-License-Identifier: GPL-2.0-only
"""Makes an SQLite database of 40000 rows of 1000 bytes, or looks 500 of them up at random.

usage: sqlite_mmap.py FILE make | MMAP_SIZE
"""
import random
import sqlite3
import sys

path, mode = sys.argv[1:]
database = sqlite3.connect(path)
if mode == "make":
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)")
    database.executemany("INSERT INTO t VALUES (?, zeroblob(1000))",
                         ((key,) for key in range(40000)))
    database.commit()
else:
    database.execute(f"PRAGMA mmap_size={int(mode)}")
    random.seed(1)
    for _ in range(500):
        key = random.randrange(40000)
        assert database.execute("SELECT data FROM t WHERE id = ?", (key,)).fetchone()

# SPDX-License-Identifier: GPL-2.0-only
"""Reads random bytes of the mapped file "database", as bbolt does, and the file "log" once.

usage: kernel_upgrade.py ADVICE
"""
import mmap
import random
import sys

with open("database", "rb") as file:
    database = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
database.madvise(getattr(mmap, "MADV_" + sys.argv[1].upper()))
random.seed(1)
with open("log", "rb", buffering=0) as log:
    while log.read(256 << 10):
        for _ in range(128):
            database[random.randrange(len(database))]

# SPDX-License-Identifier: GPL-2.0-only
"""The program of container.sh: reads all pages of a table in random order, again and again, and
drops them from the page cache after each round."""
import mmap
import os
import random

random.seed(1)
with open("/data/table", "rb") as file:
    table = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    table.madvise(mmap.MADV_RANDOM)
    pages = range(0, len(table), mmap.PAGESIZE)
    while True:
        for page in random.sample(pages, len(pages)):
            _ = table[page]
        table.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

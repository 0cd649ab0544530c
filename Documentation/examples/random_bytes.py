# SPDX-License-Identifier: GPL-2.0-only
"""Reads 2000 random bytes of a mapped file of 44 MiB: the program of random_bytes.rst."""
import mmap
import random

with open("/mnt/disk/f", "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
random.seed(1)
for _ in range(2000):
    data[random.randrange(len(data))]

# SPDX-License-Identifier: GPL-2.0-only
"""Stores a byte in each page of 12 MiB of memory, again and again, until it is killed."""
import mmap

memory = mmap.mmap(-1, 12 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
while True:
    for offset in range(0, len(memory), mmap.PAGESIZE):
        memory[offset] = 1

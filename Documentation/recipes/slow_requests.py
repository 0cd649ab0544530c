# SPDX-License-Identifier: GPL-2.0-only
"""Answers 10000 requests from memory, and six of them, for old records, from a mapped file.

usage: slow_requests.py FILE map | read

With "read" it reads the file before the first request.
"""
import mmap
import sys
import zlib

REQUESTS = 10000
OLD = 1500              # each such request is for an old record
RECORD_PAGES = 128      # from one old record to the next

path, mode = sys.argv[1:]
with open(path, "rb") as file:
    old = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    if mode == "read":
        while file.read(1 << 20):
            pass
recent = bytes(128 << 10)
for request in range(1, REQUESTS + 1):
    # A new page, so that each request has a fault.
    answer = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    answer[0] = zlib.crc32(recent) & 0xff
    if request % OLD == 0:
        answer[1] = old[request // OLD * RECORD_PAGES * mmap.PAGESIZE]
    answer.close()

# SPDX-License-Identifier: GPL-2.0-only
"""Maps FILE, gives ADVICE (normal, random or sequential), and reads a byte of each page in order.

usage: model_advice.py FILE ADVICE
"""
import mmap
import sys

path, advice = sys.argv[1:]
with open(path, "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
data.madvise(getattr(mmap, "MADV_" + advice.upper()))
for offset in range(0, len(data), mmap.PAGESIZE):
    data[offset]

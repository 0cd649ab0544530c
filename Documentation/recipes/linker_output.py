# SPDX-License-Identifier: GPL-2.0-only
"""Writes 16 MiB of output in pieces of 64 KiB, as a linker does.

usage: linker_output.py FILE mmap | write
"""
import mmap
import os
import sys

SIZE = 16 << 20
path, mode = sys.argv[1:]
piece = bytes(range(256)) * 256
with open(path, "wb+") as file:
    file.truncate(SIZE)
    if mode == "mmap":
        output = mmap.mmap(file.fileno(), SIZE)
    for offset in range(0, SIZE, len(piece)):
        if mode == "mmap":
            output[offset:offset + len(piece)] = piece
        else:
            os.pwrite(file.fileno(), piece, offset)

# SPDX-License-Identifier: GPL-2.0-only
"""Reads rows of a numpy.memmap: all in order, or some at random, without advice or with MADV_RANDOM.

usage: numpy_memmap.py FILE make | order | random | advised
"""
import mmap
import sys

import numpy
from numpy.random import default_rng

ROWS, COLUMNS = 16384, 256          # of float32: a row has 1 KiB, the file 16 MiB

path, mode = sys.argv[1:]
if mode == "make":
    numpy.zeros((ROWS, COLUMNS), dtype=numpy.float32).tofile(path)
    sys.exit()
rows = numpy.memmap(path, dtype=numpy.float32, mode="r", shape=(ROWS, COLUMNS))
if mode == "advised":
    rows._mmap.madvise(mmap.MADV_RANDOM)
if mode == "order":
    print(sum(float(rows[row:row + 64].sum()) for row in range(0, ROWS, 64)))
else:
    wanted = default_rng(1).integers(ROWS, size=500)
    print(sum(float(rows[row].sum()) for row in wanted))

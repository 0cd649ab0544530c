# SPDX-License-Identifier: GPL-2.0-only
"""Reads a file of Arrow (Feather), through a mapping or with read(2), and sums one of 8 columns.

usage: arrow_memory_map.py FILE make | mapped | read | column
"""
import sys

import pyarrow
import pyarrow.compute
import pyarrow.feather

ROWS = 1 << 20                  # 8 MiB a column

path, mode = sys.argv[1:]
if mode == "make":
    first = pyarrow.array(range(ROWS))
    columns = {f"c{number}": pyarrow.compute.add(first, number) for number in range(8)}
    pyarrow.feather.write_feather(pyarrow.table(columns), path, compression="uncompressed")
else:
    table = pyarrow.feather.read_table(path, memory_map=mode == "mapped",
                                       columns=["c3"] if mode == "column" else None)
    print(pyarrow.compute.sum(table["c3"]))

# SPDX-License-Identifier: GPL-2.0-only
"""Sums a column of a CSV file with pandas, which reads it through a mapping or with read(2): all
columns, or only this one.

usage: pandas_memory_map.py FILE make | mapped | read | column
"""
import sys

import pandas

path, mode = sys.argv[1:]
if mode == "make":
    with open(path, "w", encoding="ascii") as file:
        file.write("key,value,text\n")
        file.writelines(f"{key},{key % 977},{key:040d}\n" for key in range(200000))
table = pandas.read_csv(path, memory_map=mode == "mapped",
                        usecols=["value"] if mode == "column" else None)
print(table["value"].sum())

# SPDX-License-Identifier: GPL-2.0-only
"""predict.py FILE_PAGES READ_AHEAD_PAGES: predicts the faults of a walk that read.

Standard input has the number of each page in the order of the walk. Nothing of the file is in the
page cache before, and fault-around is off. Prints the number of faults that start a read and wait for
it: class disk in the report of pfdrive.
"""
import sys

pages = [int(line) for line in sys.stdin]

# TODO: a model of the kernel's read-ahead (mm/filemap.c, mm/readahead.c). This one has none.
print(len(pages))

# SPDX-License-Identifier: GPL-2.0-only
"""Makes an LMDB database of 40000 records of 1000 bytes, or reads 500 of them at random.

usage: lmdb_readahead.py FILE make | readahead | noreadahead
"""
import random
import sys

import lmdb

path, mode = sys.argv[1:]
environment = lmdb.open(path, subdir=False, lock=False, map_size=256 << 20,
                        readonly=mode != "make", readahead=mode != "noreadahead")
with environment.begin(write=mode == "make") as transaction:
    if mode == "make":
        for key in range(40000):
            transaction.put(b"%08d" % key, bytes(1000))
    else:
        random.seed(1)
        for _ in range(500):
            assert transaction.get(b"%08d" % random.randrange(40000))

# SPDX-License-Identifier: GPL-2.0-only
"""A loader of training data with workers that only read its list: loader_workers.py [packed]

CPython writes a reference count into each object a worker looks at, so each worker copies the
list's memory after the fork. packed: the list is one object without references.
"""
import os
import sys

WORKERS, SAMPLES, WIDTH = 4, 3000, 3000

names = [f"annotations of image {number}".ljust(WIDTH) for number in range(SAMPLES)]
packed = "".join(names).encode() if "packed" in sys.argv else None
if packed:
    del names


def read_all():
    """Looks at each sample once, without a reference to it that stays."""
    if packed:
        return sum(packed[at] for at in range(0, len(packed), WIDTH))
    return sum(len(name) for name in names)


children = []
for _ in range(WORKERS):
    child = os.fork()
    if not child:
        read_all()
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print(SAMPLES, "samples")

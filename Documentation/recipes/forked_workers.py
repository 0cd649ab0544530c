# SPDX-License-Identifier: GPL-2.0-only
"""A data loader: an index of samples, and forked workers that read the samples at random.

The index is a list of Python's objects, or one array of bytes. To read an object of a list, a
worker counts a reference to it, which writes to the object's page.

usage: forked_workers.py FILE make | list | array
"""
import mmap
import os
import random
import sys

SAMPLES, SIZE, WORKERS = 100000, 64, 4     # the file has 6.1 MiB
WIDTH = 64                                  # of a name in the array

path, mode = sys.argv[1:]


def name_of(number):
    return f"/data/train/class-{number % 1000:04d}/image-{number:08d}.jpeg"


def work(worker, index, data):
    """Reads the worker's share of the samples, in random order."""
    numbers = list(range(worker, SAMPLES, WORKERS))
    random.Random(worker).shuffle(numbers)
    letters = 0
    for number in numbers:
        if mode == "list":
            name = index[number]
        else:
            name = index[number * WIDTH:(number + 1) * WIDTH].rstrip(b"\0")
        letters += len(name) + data[number * SIZE]
    assert letters


if mode == "make":
    with open(path, "wb") as file:
        file.write(bytes(SAMPLES * SIZE))
    sys.exit()
index = [name_of(number) for number in range(SAMPLES)]
if mode == "array":
    index = b"".join(name.encode().ljust(WIDTH, b"\0") for name in index)
with open(path, "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
for worker in range(WORKERS):
    if not os.fork():
        work(worker, index, data)
        os._exit(0)
for worker in range(WORKERS):
    assert os.wait()[1] == 0

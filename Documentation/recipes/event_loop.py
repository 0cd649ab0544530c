# SPDX-License-Identifier: GPL-2.0-only
"""An event loop whose four threads read 200 records of a file, from a mapping or by pread(2).

usage: event_loop.py FILE map | pread

Or, without arguments, a batch job that computes until it is killed.
"""
import asyncio
import concurrent.futures
import mmap
import os
import sys

ORDER = [number * 37 % 256 for number in range(200)]      # at random, as requests come


def compute():
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write("batch_job")
    while True:
        pass


async def serve(path, mode):
    file = os.open(path, os.O_RDONLY)
    records = mmap.mmap(file, 0, prot=mmap.PROT_READ)
    records.madvise(mmap.MADV_RANDOM)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)

    def read(number):
        offset = number * mmap.PAGESIZE
        return records[offset] if mode == "map" else os.pread(file, 1, offset)[0]

    loop = asyncio.get_running_loop()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        await asyncio.gather(*(loop.run_in_executor(pool, read, number)
                               for number in ORDER))


if len(sys.argv) == 1:
    compute()
asyncio.run(serve(*sys.argv[1:]))

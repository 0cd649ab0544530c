# SPDX-License-Identifier: GPL-2.0-only
"""A server that loads its application and forks workers: prefork_server.py [freeze]

Each worker's garbage collector writes marks into the application's objects, and so copies the
memory the fork shared. freeze: gc.freeze() before the fork excludes these objects.
"""
import gc
import os
import sys

WORKERS, OBJECTS, FIELDS = 4, 3000, 450


class Page:
    """One object with many fields has a page of its own."""
    __slots__ = tuple(f"field{number}" for number in range(FIELDS))


application = [Page() for _ in range(OBJECTS)]
if "freeze" in sys.argv:
    gc.freeze()
children = []
for _ in range(WORKERS):
    child = os.fork()
    if not child:
        gc.collect()
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print(len(application), "objects")

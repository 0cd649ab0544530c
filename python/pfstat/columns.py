# SPDX-License-Identifier: GPL-2.0-only
"""The columns of pfdrive's rows: each name, and what a cell is. All tables are made from these."""
from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """kind is that of a cell: ns, number and page (integers), id (32 bits), address (hexadecimal),
    flag (0 or 1), word (few different texts). unknown: the cell may be empty."""

    name: str
    kind: str
    unknown: bool = False


PARTS = ("cpu_before", "queue", "device", "completion", "foreign", "blocked", "reclaim", "asleep",
         "runqueue", "cpu_after", "mm", "residue")

FAULTS = (
    Column("start_ns", "ns"),
    Column("duration_ns", "ns", True),
    Column("pid", "id"),
    Column("tid", "id"),
    Column("thread", "word", True),
    Column("class", "word"),
    Column("major", "flag"),
    Column("solved", "flag"),
    Column("kernel", "flag"),
    Column("write", "flag", True),
    Column("address", "address"),
    Column("file", "word", True),
    Column("page", "number", True),
    Column("code", "address"),
    *(Column(f"{part}_ns", "ns", True) for part in PARTS),
    Column("read_bytes", "number", True),
    Column("calls_ns", "ns", True),
    Column("whole", "flag"),
)

# CSV has an apostrophe before a name that begins with one of these: pfdrive-report(1).
SHIELDED = ("=", "+", "-", "@", "\t", "\r")


def name_of(text: str) -> str:
    """A name as it was recorded."""
    return text[1:] if text[:1] == "'" and text[1:2] in SHIELDED else text

# SPDX-License-Identifier: GPL-2.0-only
"""The columns of pfdrive's rows: each name, and what a cell is. All tables are made from these."""
from __future__ import annotations

from typing import NamedTuple

# For the Parquet dataset.
SCHEMA_VERSION = 1


class Column(NamedTuple):
    """kind is a cell's kind: ns and number (integers), id (32 bits), address (hexadecimal), flag (0
    or 1), word (few different texts), and in the environment also time and share. unknown: the cell
    may be empty."""

    name: str
    kind: str
    unknown: bool = False


PARTS = ("cpu_before", "queue", "device", "completion", "foreign", "blocked", "handler",
         "reclaim", "asleep", "runqueue", "cpu_after", "mm", "residue")

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
    Column("mechanism", "word", True),
)

# CSV has one more apostrophe before a name beginning with one of these, or with apostrophes and one
# of these: pfdrive-report(1).
SHIELDED = ("=", "+", "-", "@", "\t", "\r")


def name_of(text: str) -> str:
    """A name as it was recorded."""
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in SHIELDED else text


REQUESTS = (
    Column("start_ns", "ns"),
    Column("duration_ns", "ns"),
    Column("pid", "id"),
    Column("tid", "id"),
    Column("thread", "word", True),
    *(Column(name, "flag") for name in ("write", "readahead", "swap", "error")),
    Column("device", "word"),
    Column("sector", "number"),
    Column("bytes", "number"),
    Column("queue_ns", "ns"),
    Column("device_ns", "ns"),
    Column("file", "word", True),
    Column("page", "number", True),
)

MAPPINGS = (
    Column("start_ns", "ns"),
    Column("pid", "id"),
    Column("tid", "id"),
    Column("address", "address"),
    Column("bytes", "number"),
    *(Column(name, "flag") for name in ("read", "write", "execute", "shared")),
    Column("advice", "word", True),
    Column("device", "word", True),
    Column("file", "word", True),
    Column("page", "number", True),
)

# A row for each recording. The host and the day are in the names of the folders.
ENVIRONMENT = (
    Column("path", "word"),
    Column("service", "word", True),
    Column("release", "word", True),
    Column("started", "time"),
    *(Column(name, "word", True) for name in ("source", "command", "cgroup", "only_file", "kernel",
                                              "architecture", "machine")),
    Column("pid", "number", True),
    *(Column(name, "number", True) for name in ("cpus", "memory_bytes", "page_bytes")),
    *(Column(name, "word", True) for name in ("virtualization", "pfdrive")),
    Column("elapsed_ns", "ns", True),
    Column("faults", "number"),
    Column("requests", "number", True),
    Column("mappings", "number"),
    *(Column(name, "number", True) for name in ("records_lost", "events_lost")),
    Column("damage", "word", True),
    Column("busy_ns", "ns", True),
    Column("share", "share", True),
    Column("at_least", "flag", True),
    Column("cause", "word", True),
    Column("cause_certain", "flag", True),
    Column("cause_text", "word", True),
    Column("remedy", "word", True),
)

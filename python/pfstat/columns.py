# SPDX-License-Identifier: GPL-2.0-only
"""The columns of pfdrive's rows, which pfdrive prints: all tables are made from these."""
from __future__ import annotations

import csv
from typing import NamedTuple

from .program import output_of

# For the Parquet dataset.
SCHEMA_VERSION = 1


class Column(NamedTuple):
    """kind is Arrow's type, in the environment also time. A column of strings has few different
    ones. unknown: the cell may be empty."""

    name: str
    kind: str
    unknown: bool = False


def columns_of(table: str) -> tuple[Column, ...]:
    """The columns of faults, requests or mappings."""
    with output_of("report", "--columns") as out:
        rows = csv.DictReader(out.read().decode().splitlines())
    return tuple(Column(row["column"], row["type"], row["may_be_empty"] == "1") for row in rows
                 if row["rows"] == table)


# CSV has one more apostrophe before a name beginning with one of these, or with apostrophes and one
# of these: pfdrive-report(1).
SHIELDED = ("=", "+", "-", "@", "\t", "\r")


def name_of(text: str) -> str:
    """A name as it was recorded."""
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in SHIELDED else text


# A row for each recording. The host and the day are in the names of the folders.
ENVIRONMENT = (
    Column("path", "string"),
    Column("service", "string", True),
    Column("release", "string", True),
    Column("started", "time"),
    *(Column(name, "string", True) for name in ("source", "command", "cgroup", "only_file",
                                                "kernel", "architecture", "machine")),
    *(Column(name, "int64", True) for name in ("pid", "cpus", "memory_bytes", "page_bytes")),
    *(Column(name, "string", True) for name in ("virtualization", "pfdrive")),
    Column("elapsed_ns", "int64", True),
    Column("faults", "int64"),
    Column("requests", "int64", True),
    Column("mappings", "int64"),
    *(Column(name, "int64", True) for name in ("records_lost", "events_lost")),
    Column("damage", "string", True),
    Column("busy_ns", "int64", True),
    Column("share", "double", True),
    Column("at_least", "bool", True),
    Column("cause", "string", True),
    Column("cause_certain", "bool", True),
    Column("cause_text", "string", True),
    Column("remedy", "string", True),
)

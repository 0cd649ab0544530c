# SPDX-License-Identifier: GPL-2.0-only
"""A recording's faults as a pandas DataFrame."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pandas as pd
from pandas.api.types import union_categoricals

from .columns import FAULTS, Column, name_of
from .program import Path, PfdriveError, argument, output_of, warn

# Rows that are text at the same time.
CHUNK = 200_000
# Types while pandas reads the text, and those of the result: with and without unknown cells.
READ = {"id": "uint32", "flag": "Int8", "ns": "Int64", "number": "Int64", "address": "str",
        "word": "category"}
KNOWN: dict[str, Any] = {"id": "uint32", "flag": "bool", "ns": "int64", "number": "int64"}
UNKNOWN: dict[str, Any] = {"flag": "boolean", "ns": "Int64", "number": "Int64"}


def header_of(out: IO[bytes], columns: Sequence[Column]) -> list[str]:
    """The column names at the start of the output."""
    names = out.readline().decode().rstrip("\n").split(",")
    missing = [column.name for column in columns if column.name not in names]
    if missing:
        raise PfdriveError(f"this pfdrive prints no column {missing[0]}; use the pfdrive of the "
                           "package")
    return names


def typed(cells: Any, column: Column) -> Any:
    """The column in the final type."""
    if column.kind == "address":
        return cells.map(lambda text: int(text, 16)).astype("uint64")
    if column.kind == "word":
        return cells.cat.rename_categories(name_of)
    return cells.astype((UNKNOWN if column.unknown else KNOWN)[column.kind])


def joined(chunks: list[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    """Row chunks as one. Their words differ, so the categories are those of all chunks."""
    parts: dict[str, Any] = {}
    for column in columns:
        pieces = [chunk.pop(column.name) for chunk in chunks]
        parts[column.name] = pd.Series(union_categoricals(pieces)) if column.kind == "word" else \
            pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(parts, copy=False)


def chunks_of(out: IO[bytes], columns: Sequence[Column]) -> Iterator[pd.DataFrame]:
    names = header_of(out, columns)
    reader = pd.read_csv(out, names=names, usecols=[column.name for column in columns],
                         dtype={column.name: READ[column.kind] for column in columns},
                         keep_default_na=False, na_values=[""], chunksize=CHUNK,
                         encoding_errors="backslashreplace")
    for chunk in reader:
        yield pd.DataFrame({column.name: typed(chunk[column.name], column)
                            for column in columns})


def warn_of_losses(report: dict[str, Any], recording: Path) -> None:
    for key, lost in (("lost", "records"), ("events_lost", "events")):
        if report[key]:
            warn(f"{os.fspath(recording)} lacks {report[key]} {lost}, which were lost; faults are "
                 "missing, or have wrong times")


def faults(recording: Path, *, file: str | None = None, from_: str | None = None,
           to: str | None = None) -> pd.DataFrame:
    """A recording's faults, one per row, ordered by end time.

    The columns are those of pfdrive report --format faults-csv. file, from_ and to are that
    command's --file, --from and --to. An unknown value is NA.
    """
    words = [f"--{name}={value}" for name, value in (("file", file), ("from", from_), ("to", to))
             if value is not None]
    with tempfile.TemporaryDirectory(prefix="pfstat-") as folder:
        path = os.path.join(folder, "report.json")
        with output_of("report", "--format", "faults-csv", "--json", path, *words,
                       argument(recording)) as out:
            chunks = list(chunks_of(out, FAULTS))
        with open(path, encoding="utf-8") as report:
            warn_of_losses(json.load(report), recording)
    return joined(chunks, FAULTS)

# SPDX-License-Identifier: GPL-2.0-only
"""A recording's faults as a pandas DataFrame. A column gets its final array when all rows are read.
Until then it is a list of pieces, of which a piece without a value has no memory."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .columns import Column, columns_of
from .program import Path, argument, output_of, warn
from .rows import READ, batches_of, words_of


class Cells:
    """An array in pieces. Where all cells of a piece are zero, the kernel's zero page has them."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.count = dtype, 0
        self._pieces: list[tuple[int, Any]] = []

    def add(self, cells: Any) -> None:
        if cells.any():
            self._pieces.append((self.count, cells))
        self.count += len(cells)

    def joined(self) -> Any:
        """All cells. The pieces are gone."""
        cells = np.zeros(self.count, self.dtype)
        while self._pieces:
            start, piece = self._pieces.pop()
            cells[start:start + len(piece)] = piece
        return cells


class Numbers:
    """A column of numbers or flags. An unknown cell is 0 in the values."""

    def __init__(self, column: Column) -> None:
        self._values = Cells(READ[column.kind].to_pandas_dtype())
        self._unknown = Cells(np.bool_) if column.unknown else None

    def add(self, cells: Any) -> None:
        if self._unknown:
            self._unknown.add(cells.is_null().to_numpy(zero_copy_only=False))
            cells = cells.fill_null(self._values.dtype(0))
        self._values.add(cells.to_numpy(zero_copy_only=False))

    def joined(self) -> Any:
        values = self._values.joined()
        if not self._unknown:
            return values
        array = pd.arrays.BooleanArray if values.dtype == np.bool_ else pd.arrays.IntegerArray
        return array(values, self._unknown.joined())


class Words:
    """A column of names. Code 0 is an unknown name."""

    def __init__(self, column: Column) -> None:
        self._column, self._codes = column, Cells(np.int32)
        self._code_of: dict[str | None, int] = {None: 0}

    def add(self, cells: Any) -> None:
        names, indices = words_of(cells, self._column)
        codes = [self._code_of.setdefault(name, len(self._code_of)) for name in names]
        self._codes.add(np.array(codes, np.int32)[indices.to_numpy()])

    def joined(self) -> Any:
        names = list(self._code_of)
        order = sorted(range(1, len(names)), key=lambda code: str(names[code]))
        place = np.full(len(names), -1, np.int32)
        place[order] = range(len(order))
        return pd.Categorical.from_codes(
            place[self._codes.joined()],
            pd.Index([names[code] for code in order], dtype="str"))


def read(out: IO[bytes], columns: Sequence[Column]) -> pd.DataFrame:
    parts = {column.name: Words(column) if column.kind == "string" else Numbers(column)
             for column in columns}
    for batch in batches_of(out, columns):
        for name, part in parts.items():
            part.add(batch[name])
    joined = {}
    for name in list(parts):
        joined[name] = parts.pop(name).joined()
        pa.default_memory_pool().release_unused()   # else the pieces would keep their memory
    return pd.DataFrame(joined, copy=False)


def warn_of_losses(report: dict[str, Any], recording: Path) -> None:
    for key, lost in (("lost", "records"), ("events_lost", "events")):
        if report[key]:
            warn(f"{os.fspath(recording)} lacks {report[key]} {lost}, which were lost; faults are "
                 "missing, or have wrong times")


def frame_of(recording: Path, options: dict[str, str | None]) -> pd.DataFrame:
    words = [f"--{name}={value}" for name, value in options.items() if value is not None]
    columns = columns_of("faults")
    with tempfile.TemporaryDirectory(prefix="pfstat-") as folder:
        path = os.path.join(folder, "report.json")
        with output_of("report", "--format", "faults-csv", "--json", path, *words,
                       argument(recording)) as out:
            faults = read(out, columns)
        with open(path, encoding="utf-8") as report:
            warn_of_losses(json.load(report), recording)
    return faults

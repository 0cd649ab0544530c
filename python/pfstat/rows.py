# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive's rows as Arrow batches. The DataFrame and the dataset are both made from them."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv

from .columns import Column, name_of

# CSV bytes in memory at the same time.
BLOCK_BYTES = 8 << 20

TYPES = {kind: pa.type_for_alias(kind)
         for kind in ("uint32", "bool", "int64", "uint64", "string", "double")} | \
    {"time": pa.timestamp("us", tz="UTC")}
# Names may hold any bytes, so they are read as such.
READ = TYPES | {"string": pa.binary()}


def words_of(cells: Any, column: Column) -> tuple[list[str | None], Any]:
    """The different names in a batch as text, of which each is decoded once, and for each row the
    index of its name."""
    coded = cells.dictionary_encode()
    names = [name_of(name.decode(errors="backslashreplace"))
             for name in coded.dictionary.to_pylist()]
    return [name or None if column.unknown else name for name in names], coded.indices


def batches_of(out: IO[bytes], columns: Sequence[Column]) -> Iterator[Any]:
    """The CSV rows in batches, each with the columns in order. Names are bytes."""
    names = [column.name for column in columns]
    out.readline()
    try:
        yield from pa.csv.open_csv(
            out,
            pa.csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=names),
            pa.csv.ParseOptions(newlines_in_values=True),
            pa.csv.ConvertOptions(column_types={column.name: READ[column.kind]
                                                for column in columns},
                                  null_values=[""], strings_can_be_null=False, check_utf8=False))
    except pa.ArrowInvalid as error:
        # A table without rows is not an error.
        if "Empty CSV file" not in str(error):
            raise

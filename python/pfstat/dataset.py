# SPDX-License-Identifier: GPL-2.0-only
"""Recordings as a Parquet dataset: Documentation/formats/dataset.rst has the schema.

Each recording is streamed in batches, so memory does not grow with the recording. A recording's
files get their names when all of them are complete, and replace the same recording's older files.
"""
from __future__ import annotations

import datetime
import hashlib
import os
import pathlib
import tempfile
import urllib.parse
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from tqdm import tqdm

from .columns import ENVIRONMENT, SCHEMA_VERSION, Column, columns_of
from .program import Path, PfdriveError, argument, output_of
from .rows import TYPES, batches_of, words_of
from .verdicts import report_of

# Rows in a file's row group.
GROUP_ROWS = 250_000


def schema_of(table: str, columns: tuple[Column, ...]) -> Any:
    fields = [pa.field("recording", pa.string(), nullable=False)]
    fields += [pa.field(column.name, TYPES[column.kind], nullable=column.unknown)
               for column in columns]
    return pa.schema(fields, {"pfstat.schema": str(SCHEMA_VERSION), "pfstat.table": table})


def texts_of(cells: Any, column: Column) -> Any:
    names, indices = words_of(cells, column)
    return pa.array(names, pa.string()).take(indices)


class Files:
    """The files of one recording, below FOLDER/TABLE/host=HOST/day=DAY. They have their final
    names after commit(), and otherwise are removed."""

    def __init__(self, folder: Path, host: str, day: str, recording: str) -> None:
        self.folder, self.recording = pathlib.Path(folder), recording
        self._place = pathlib.Path(f"host={urllib.parse.quote(host, safe='')}", f"day={day}")
        self._moves: list[tuple[pathlib.Path, pathlib.Path]] = []

    def new(self, table: str) -> pathlib.Path:
        """The path to which a table is written. Engines skip names that begin with a dot."""
        home = self.folder / table / self._place
        home.mkdir(parents=True, exist_ok=True)
        temporary = home / f".{self.recording}.parquet.part"
        self._moves.append((temporary, home / f"{self.recording}.parquet"))
        return temporary

    def commit(self) -> None:
        for temporary, path in self._moves:
            os.replace(temporary, path)
        self._moves.clear()

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        for temporary, _path in self._moves:
            temporary.unlink(missing_ok=True)


def write_rows(files: Files, table: str, recording: Path, bar: Any) -> int:
    """Streams a recording's table into the table's file. Returns the number of rows."""
    columns, rows = columns_of(table), 0
    schema = schema_of(table, columns)
    with output_of("report", "--format", f"{table}-csv", argument(recording)) as out, \
            pa.parquet.ParquetWriter(files.new(table), schema, compression="zstd") as writer:
        for batch in batches_of(out, columns):
            cells = [texts_of(batch[column.name], column) if column.kind == "string"
                     else batch[column.name] for column in columns]
            name = pa.repeat(pa.scalar(files.recording), len(batch))
            writer.write_table(pa.table([name, *cells], schema=schema), row_group_size=GROUP_ROWS)
            rows += len(batch)
            bar.update(len(batch))
    return rows


def digest_of(recording: Path) -> str:
    """A recording's name: equal files are one recording."""
    digest = hashlib.sha256()
    with open(recording, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:32]


def time_of(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(
        tzinfo=datetime.timezone.utc)


def total_of(report: dict[str, Any]) -> int:
    """The fault count, as in the report."""
    count = report["parts"]["all"]["count"]
    return int(count)


def write_environment(files: Files, recording: Path, report: dict[str, Any],
                      own: dict[str, Any]) -> None:
    """A row with the machine, the run, the losses and the verdict."""
    environment, found = report["environment"], report["verdict"]
    cause = (found or {}).get("causes") or [{}]
    values = environment | own | {
        "started": time_of(environment["started"]),
        "path": os.path.abspath(os.fspath(recording)),
        "elapsed_ns": report["elapsed_ns"], "records_lost": report["lost"],
        "events_lost": report["events_lost"], "damage": report["damage"],
        "busy_ns": found["busy_ns"] if found else None,
        "share": found["share"] if found else None,
        "at_least": found["at_least"] if found else None,
        "cause": cause[0].get("rule"), "cause_certain": cause[0].get("certain"),
        "cause_text": cause[0].get("text"), "remedy": cause[0].get("remedy")}
    row = {column.name: values[column.name] for column in ENVIRONMENT}
    table = pa.Table.from_pylist([{"recording": files.recording} | row],
                                 schema_of("environment", ENVIRONMENT))
    pa.parquet.write_table(table, files.new("environment"), compression="zstd")


def add_recording(folder: Path, recording: Path, own: dict[str, Any], progress: bool | None) -> None:
    name = digest_of(recording)
    report, _ = report_of(recording)
    environment = report["environment"]
    own["host"] = own["host"] or environment["host"]
    if not own["host"]:
        raise PfdriveError(f"{os.fspath(recording)} does not have the name of its host, as an older "
                           "pfdrive recorded it; add host=NAME")
    if not environment["started"]:
        raise PfdriveError(f"{os.fspath(recording)} does not have the time of its start")
    bar = tqdm(desc=os.path.basename(os.fspath(recording)), total=total_of(report), unit="fault",
               unit_scale=True, disable=None if progress is None else not progress)
    with bar, Files(folder, own["host"], environment["started"][:10], name) as files:
        own["faults"] = write_rows(files, "faults", recording, bar)
        for table in ("requests", "mappings"):
            with tqdm(disable=True) as silent:
                rows = write_rows(files, table, recording, silent)
            own[table] = rows if table != "requests" or environment["source"] != "perf" else None
        write_environment(files, recording, report, own)
        files.commit()

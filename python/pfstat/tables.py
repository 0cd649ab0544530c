# SPDX-License-Identifier: GPL-2.0-only
"""Recordings as tables. Each call loads its packages, which take a second: other calls do not."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .program import Path

if TYPE_CHECKING:
    import pandas as pd


@contextlib.contextmanager
def required(call: str, what: str) -> Iterator[None]:
    """Names the command that installs a missing package."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{call}() requires {error.name}; run pip install {what}",
                                  name=error.name) from error


def faults(recording: Path, *, file: str | None = None, from_: str | None = None,
           to: str | None = None) -> pd.DataFrame:
    """A recording's faults, one per row, ordered by end time.

    The columns are those of pfdrive report --format faults-csv. file, from_ and to are that
    command's --file, --from and --to. An unknown value is NA.
    """
    with required("faults", "pandas pyarrow"):
        from .frame import frame_of
    return frame_of(recording, {"file": file, "from": from_, "to": to})


def to_parquet(folder: Path, *recordings: Path, host: str | None = None,
               service: str | None = None, release: str | None = None,
               progress: bool | None = None) -> None:
    """Adds recordings to the dataset in a folder: faults, requests, mappings and environment.

    host replaces the host name in the recordings. service and release are environment columns for a
    roll-out. progress: a bar on standard error. None: only if standard error is a terminal.
    """
    with required("to_parquet", "'pfstat[parquet]'"):
        from .dataset import add_recording
    for recording in recordings:
        add_recording(folder, recording, {"host": host, "service": service, "release": release},
                      progress)

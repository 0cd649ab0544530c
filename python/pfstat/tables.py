# SPDX-License-Identifier: GPL-2.0-only
"""Recordings as a Parquet dataset, for users with the packages only this needs."""
from __future__ import annotations

from .program import Path


def to_parquet(folder: Path, *recordings: Path, host: str | None = None,
               service: str | None = None, release: str | None = None,
               progress: bool | None = None) -> None:
    """Adds recordings to the dataset in a folder: faults, requests, mappings and environment.

    host replaces the host name in the recordings. service and release are environment columns for a
    roll-out. progress: a bar on standard error. None: only if standard error is a terminal.
    """
    try:
        from .dataset import add_recording
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"to_parquet() requires {error.name}; run pip install "
                                  "'pfstat[parquet]'", name=error.name) from error
    for recording in recordings:
        add_recording(folder, recording, {"host": host, "service": service, "release": release},
                      progress)

# SPDX-License-Identifier: GPL-2.0-only
"""Page faults of programs: records them with pfdrive, and returns recordings as tables.

An error of pfdrive is a PfdriveError with the sentence that pfdrive prints. A
RecordingWarning names the data that a recording lacks.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .program import PfdriveError, RecordingWarning, pfdrive
from .recorder import Recorder, record
from .verdicts import Cause, Place, Verdict, verdict

if TYPE_CHECKING:
    from .dataset import SCHEMA_VERSION, to_parquet
    from .rows import faults

__all__ = ["Cause", "PfdriveError", "Place", "Recorder", "RecordingWarning", "SCHEMA_VERSION",
           "Verdict", "faults", "load_ipython_extension", "pfdrive", "record", "to_parquet",
           "verdict"]

# pandas and pyarrow take a second to load, so that only their users load them: a name, and its
# module.
LATE = {"SCHEMA_VERSION": "dataset", "faults": "rows", "to_parquet": "dataset"}

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        if name not in LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f".{LATE[name]}", __name__), name)


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic: %load_ext pfstat calls it."""
    from .magic import register
    register(shell)

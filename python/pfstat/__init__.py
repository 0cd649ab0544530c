# SPDX-License-Identifier: GPL-2.0-only
"""Page faults of programs: records them with pfdrive, and returns recordings as tables.

A pfdrive error is a PfdriveError with the sentence pfdrive prints. A RecordingWarning names the
data missing in a recording.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .columns import SCHEMA_VERSION
from .parquet import to_parquet
from .program import PfdriveError, RecordingWarning, pfdrive
from .recorder import Recorder, record
from .verdicts import Cause, Place, Verdict, verdict

if TYPE_CHECKING:
    from .rows import faults

__all__ = ["Cause", "PfdriveError", "Place", "Recorder", "RecordingWarning", "SCHEMA_VERSION",
           "Verdict", "faults", "load_ipython_extension", "pfdrive", "record", "to_parquet",
           "verdict"]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """pandas takes a second to load, so only users of faults() load it."""
        if name != "faults":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return importlib.import_module(".rows", __name__).faults

    def __dir__() -> list[str]:
        return sorted({*globals(), "faults"})


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic: %load_ext pfstat calls it."""
    from .magic import register
    register(shell)

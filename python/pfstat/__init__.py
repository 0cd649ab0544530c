# SPDX-License-Identifier: GPL-2.0-only
"""Page faults of programs: records them with pfdrive, and returns recordings as tables.

A pfdrive error is a PfdriveError with the sentence pfdrive prints. A RecordingWarning names the
data missing in a recording.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .columns import SCHEMA_VERSION
from .program import PfdriveError, RecordingWarning, pfdrive
from .recorder import Recorder, record
from .tables import faults, to_parquet
from .verdicts import Cause, Place, PredictedFaults, Saving, Verdict, verdict

__all__ = ["Cause", "PfdriveError", "Place", "PredictedFaults", "Recorder", "RecordingWarning",
           "SCHEMA_VERSION", "Saving", "Verdict", "faults", "load_ipython_extension", "pfdrive",
           "record", "to_parquet", "verdict"]

__version__: str

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """The version of the installed package. A source tree is not installed, and has none."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version
        return version(__name__)


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic: %load_ext pfstat calls it."""
    from .magic import register
    register(shell)

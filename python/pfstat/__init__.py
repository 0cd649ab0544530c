# SPDX-License-Identifier: GPL-2.0-only
"""Page faults of programs: records them with pfdrive, and returns recordings as tables.

A pfdrive error is a PfdriveError with the sentence pfdrive prints. A RecordingWarning names the
data missing in a recording.
"""
from __future__ import annotations

from typing import Any

from .columns import SCHEMA_VERSION
from .program import PfdriveError, RecordingWarning, pfdrive
from .recorder import Recorder, record
from .tables import faults, to_parquet
from .verdicts import Cause, Place, Verdict, verdict

__all__ = ["Cause", "PfdriveError", "Place", "Recorder", "RecordingWarning", "SCHEMA_VERSION",
           "Verdict", "faults", "load_ipython_extension", "pfdrive", "record", "to_parquet",
           "verdict"]


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic: %load_ext pfstat calls it."""
    from .magic import register
    register(shell)

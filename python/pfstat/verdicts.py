# SPDX-License-Identifier: GPL-2.0-only
"""A recording's verdict: how much of the run was page faults, where, why, and what to try."""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, fields
from typing import Any

from .program import Path, PfdriveError, argument, output_of


@dataclass(frozen=True)
class Place:
    """The class, file, thread or code with the most fault time, and the share."""

    name: str | None
    share: float | None


@dataclass(frozen=True)
class PredictedFaults:
    """Faults of a cold start. Times in ns, with an error of two standard errors."""

    major_faults: int
    bytes_read: int
    total_ns: float | None      # None: not predicted
    error_ns: float | None


@dataclass(frozen=True)
class Saving:
    """What a setting changes, as predicted from the recording."""

    setting: str
    recorded: PredictedFaults
    changed: PredictedFaults


@dataclass(frozen=True)
class Cause:
    """A rule explaining a share (weight) of the fault time."""

    rule: str
    certain: bool
    weight: float | None
    text: str | None
    remedy: str | None
    saving: Saving | None       # None: no saving, or no prediction


@dataclass(frozen=True)
class Verdict:
    """str() is the text that pfdrive report begins with."""

    wall_ns: int
    busy_ns: int
    share: float | None
    cpu_share: float | None     # of the CPU time
    at_least: bool      # the source cannot see some faults
    fault_class: Place | None
    place: Place | None
    thread: Place | None
    code: Place | None
    causes: tuple[Cause, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def report_of(recording: Path) -> tuple[dict[str, Any], str]:
    """A recording's JSON, and the report text: the file is read once."""
    with tempfile.TemporaryDirectory(prefix="pfstat-") as folder:
        path = os.path.join(folder, "report.json")
        with output_of("report", "--json", path, argument(recording)) as out:
            text = out.read().decode(errors="backslashreplace")
        with open(path, encoding="utf-8") as file:
            return json.load(file), text


def place_of(value: dict[str, Any] | None) -> Place | None:
    return Place(value["name"], value["share"]) if value else None


def faults_of(value: dict[str, Any]) -> PredictedFaults:
    return PredictedFaults(**{field.name: value[field.name] for field in fields(PredictedFaults)})


def saving_of(value: dict[str, Any] | None) -> Saving | None:
    if not value:
        return None
    return Saving(value["setting"], faults_of(value["recorded"]), faults_of(value["changed"]))


def cause_of(value: dict[str, Any]) -> Cause:
    members = {field.name: value[field.name] for field in fields(Cause)}
    return Cause(**members | {"saving": saving_of(value["saving"])})


def verdict_from(report: dict[str, Any], text: str) -> Verdict:
    found = report["verdict"]
    beginning = text.split("\n\n", 1)[0]
    if not found:
        raise PfdriveError(beginning)
    return Verdict(wall_ns=found["wall_ns"], busy_ns=found["busy_ns"], share=found["share"],
                   cpu_share=found["cpu_share"], at_least=found["at_least"],
                   fault_class=place_of(found["class"]), place=place_of(found["place"]),
                   thread=place_of(found["thread"]), code=place_of(found["code"]),
                   causes=tuple(cause_of(cause) for cause in found["causes"]), text=beginning)


def verdict(recording: Path) -> Verdict:
    """The verdict of a recording. One without an end has none, which is a PfdriveError."""
    return verdict_from(*report_of(recording))

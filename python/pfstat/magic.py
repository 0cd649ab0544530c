# SPDX-License-Identifier: GPL-2.0-only
"""The cell magic %%pfstat: records a cell, and prints the verdict below it."""
from __future__ import annotations

import os
import shlex
import tempfile
from typing import Any

from IPython.display import display

from .program import PfdriveError
from .recorder import record
from .verdicts import verdict

USAGE = "usage: %%pfstat [-o RECORDING] [OPTION OF pfdrive record ...]"


class Line:
    """A line below the cell. It is in no stream, so the last text replaces the others."""

    def __init__(self) -> None:
        self._text = "pfstat: recording"
        self._handle: Any = display(self, display_id=True)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return self._text

    def update(self, text: str) -> None:
        self._text = f"pfstat: {text}"
        self._handle.update(self)


def may_have_value(words: list[str]) -> bool:
    """The last word is an option to which the next word may belong: pfdrive knows."""
    return bool(words) and words[-1].startswith("-") and "=" not in words[-1]


def options_of(line: str) -> tuple[str | None, str, list[str]]:
    """The recording to keep, the source, and the other options on a magic's line."""
    kept, source = None, "perf"
    rest: list[str] = []
    words = iter(shlex.split(line))
    for word in words:
        if word in ("-o", "--output", "--source"):
            value = next(words, None)
            if value is None:
                raise ValueError(f"{word} needs a value; {USAGE}")
            if word == "--source":
                source = value
            else:
                kept = value
        elif word != "--" and (word.startswith("-") or may_have_value(rest)):
            rest.append(word)
        else:
            raise ValueError(f"unexpected argument {word!r}; {USAGE}")
    return kept, source, rest


def run_cell(shell: Any, line: str, cell: str) -> None:
    kept, source, options = options_of(line)
    with tempfile.TemporaryDirectory(prefix="pfstat-") as folder:
        path = kept or os.path.join(folder, "cell.pfs")
        recorder = record(path, source=source, options=options)
        shown = Line()
        try:
            with recorder:
                done = shell.run_cell(cell)
        except PfdriveError:
            shown.update("the recording failed")
            raise
        shown.update(recorder.summary if kept else recorder.summary.removesuffix(f", in {path}"))
        if not done.success:
            return      # the shell has printed the cell's error
        try:
            print(verdict(path))
        except PfdriveError as error:
            print(error)


def register(shell: Any) -> None:
    def pfstat(line: str, cell: str) -> None:
        """Records a cell's page faults, and prints the verdict below it."""
        run_cell(shell, line, cell)

    shell.register_magic_function(pfstat, magic_kind="cell")

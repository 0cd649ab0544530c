# SPDX-License-Identifier: GPL-2.0-only
"""The cell magic %%pfstat: records a cell, and prints the verdict below it."""
from __future__ import annotations

import os
import resource
import shlex
import sys
import tempfile
import threading
import time
from typing import IO, Any

from .program import PfdriveError
from .recorder import record
from .verdicts import verdict

# Between two progress line states.
UPDATE_S = 0.5
USAGE = "usage: %%pfstat [-o RECORDING] [OPTION OF pfdrive record ...]"


class ProgressLine:
    """A line on standard error, rewritten until the block ends: the time, and the faults of this
    process and exited children, as the kernel counts them."""

    def __init__(self) -> None:
        self._out: IO[str] = sys.stderr
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._start_s = 0.0
        self._before = (0, 0)

    @staticmethod
    def _counts() -> tuple[int, int]:
        usages = [resource.getrusage(who)
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_minflt for usage in usages), sum(usage.ru_majflt for usage in usages)

    def _print(self) -> None:
        minor, major = self._counts()
        self._out.write(f"\rpfstat: recording, {time.monotonic() - self._start_s:.1f} s, "
                        f"{minor - self._before[0]} minor and {major - self._before[1]} major "
                        "faults")
        self._out.flush()

    def _run(self) -> None:
        while not self._over.wait(UPDATE_S):
            self._print()

    def __enter__(self) -> None:
        self._start_s, self._before = time.monotonic(), self._counts()
        self._print()
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._print()
        self._out.write("\n")


def options_of(line: str) -> tuple[str | None, str, list[str]]:
    """The recording to keep, the source, and the other options on a magic's line."""
    kept, source, rest = None, "perf", []
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
        elif word.startswith("-"):
            rest.append(word)
        else:
            raise ValueError(f"unexpected argument {word!r}; {USAGE}")
    return kept, source, rest


def run_cell(shell: Any, line: str, cell: str) -> None:
    kept, source, options = options_of(line)
    with tempfile.TemporaryDirectory(prefix="pfstat-") as folder:
        path = kept or os.path.join(folder, "cell.pfs")
        recorder = record(path, source=source, options=options)
        with recorder, ProgressLine():
            done = shell.run_cell(cell)
        if not done.success:
            return      # the shell has printed the cell's error
        try:
            print(verdict(path))
        except PfdriveError as error:
            print(error)
        if kept:
            print(recorder.summary)


def register(shell: Any) -> None:
    def pfstat(line: str, cell: str) -> None:
        """Records a cell's page faults, and prints the verdict below it."""
        run_cell(shell, line, cell)

    shell.register_magic_function(pfstat, magic_kind="cell")

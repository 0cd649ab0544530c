# SPDX-License-Identifier: GPL-2.0-only
"""Records the calling process and its children, from inside."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from types import TracebackType
from typing import IO

from .program import Path, argument, failure_of, messages_of, sentence_of, start, warn

# Between two looks at the recorder while it starts.
LOOK_S = 0.005


def identity(path: Path) -> tuple[int, int] | None:
    """The file that has this name now. None: there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


class Trampoline:
    """CPython's perf trampoline: while it is on, each Python function that begins has machine code
    of its own, which the file /tmp/perf-PID.map names. One that was on already stays on."""

    def __init__(self) -> None:
        self._on = False

    def switch_on(self) -> None:
        activate = getattr(sys, "activate_stack_trampoline", None)
        if not activate:
            warn(f"Python {sys.version_info.major}.{sys.version_info.minor} cannot name Python "
                 "functions in call paths; use Python 3.12 or later")
            return
        if sys.is_stack_trampoline_active():  # type: ignore[attr-defined,unused-ignore]
            return
        try:
            activate("perf")
        except (ValueError, OSError) as error:
            warn(f"this Python cannot name Python functions in call paths: {error}")
            return
        self._on = True

    def switch_off(self) -> None:
        if self._on:
            self._on = False
            sys.deactivate_stack_trampoline()  # type: ignore[attr-defined,unused-ignore]


class Recorder:
    """pfdrive record for this process, from start() to stop(). A context manager does both."""

    def __init__(self, path: Path, source: str = "perf", options: Sequence[str] = (),
                 stacks: bool = False) -> None:
        self.path = os.path.abspath(path)
        self.summary = ""       # pfdrive's last sentence: what was recorded and lost
        named = "--stacks" in options
        self._words: list[str] = ["record", "--source", source, *options,
                                  *(["--stacks"] if stacks and not named else []),
                                  "-p", str(os.getpid()), "-o", argument(self.path)]
        self._trampoline = Trampoline() if stacks or named else None
        self._pid = os.getpid()
        self._process: "subprocess.Popen[bytes] | None" = None
        self._messages: IO[bytes] | None = None

    def start(self) -> None:
        """Returns when pfdrive watches this process: a recording then has the final name."""
        if self._process:
            raise RuntimeError(f"{self.path} is being recorded already")
        before = identity(self.path)
        self._messages = tempfile.TemporaryFile()
        self._process = start(self._words, subprocess.DEVNULL, self._messages)
        try:
            if self._trampoline:
                self._trampoline.switch_on()
            while identity(self.path) in (None, before) and self._process.poll() is None:
                time.sleep(LOOK_S)
        except BaseException:
            self._end()
            raise
        if self._process.poll() is not None:
            raise failure_of(*self._end())

    def stop(self) -> None:
        """Ends the recording, which is complete and on the disk when this returns."""
        if not self._process:
            raise RuntimeError(f"{self.path} is not being recorded")
        # A forked child inherits this object, but the recorder belongs to the parent.
        if os.getpid() != self._pid:
            self._switch_off()
            return
        status, text = self._end()
        self.summary = sentence_of(text)
        if status:
            raise failure_of(status, text)

    def _switch_off(self) -> None:
        if self._trampoline:
            self._trampoline.switch_off()

    def _end(self) -> tuple[int, str]:
        process, messages = self._process, self._messages
        assert process and messages
        self._process = self._messages = None
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        status = process.wait()
        self._switch_off()
        with messages:
            return status, messages_of(messages)

    def __enter__(self) -> "Recorder":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()


def record(path: Path, *, source: str = "perf", options: Sequence[str] = (),
           stacks: bool = False) -> Recorder:
    """Records the page faults of this process and its children in a with block.

    source is the pfdrive record source: perf needs no privilege, module and ebpf need root. options
    are further pfdrive record options, for example ["--ring-size", "1M"]. stacks records the call
    path of each fault, as the option --stacks does, with the names of the Python functions that
    begin in the block. This needs Python 3.12.
    """
    return Recorder(path, source, options, stacks)

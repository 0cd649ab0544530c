# SPDX-License-Identifier: GPL-2.0-only
"""Finds and runs pfdrive. pfdrive's sentences become exceptions and warnings."""
from __future__ import annotations

import contextlib
import inspect
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from typing import IO, Union

Path = Union[str, "os.PathLike[str]"]

OWN = pathlib.Path(__file__).with_name("bin") / "pfdrive"


class PfdriveError(Exception):
    """pfdrive failed: the sentence, without the program name in front."""


class RecordingWarning(UserWarning):
    """A recording is not complete."""


def pfdrive() -> str:
    """The path to pfdrive: from the variable PFDRIVE, from the wheel, or from PATH."""
    named = os.environ.get("PFDRIVE")
    if named:
        return named
    found = str(OWN) if OWN.exists() else shutil.which("pfdrive")
    if not found:
        raise PfdriveError("cannot find pfdrive: it is neither in this package nor in PATH; set "
                           "the variable PFDRIVE to its path")
    return found


def sentence_of(messages: str) -> str:
    """pfdrive's text on standard error, without the program name."""
    lines = [line[len("pfdrive: "):] if line.startswith("pfdrive: ") else line
             for line in messages.strip().splitlines()]
    return "\n".join(lines)


def failure_of(status: int, messages: str) -> PfdriveError:
    """Why pfdrive failed. status: as in subprocess, negative for a signal."""
    said = sentence_of(messages)
    if status >= 0:
        return PfdriveError(said or f"pfdrive failed with status {status} and printed no reason")
    names = [number.name for number in signal.Signals if number == -status]
    killed = " ".join(["pfdrive was killed by signal", str(-status), *(f"({name})" for name in names)])
    return PfdriveError("\n".join(filter(None, [killed, said])))


def argument(path: Path) -> str:
    """A path that pfdrive does not take for an option or for standard input."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text


def start(words: list[str], out: int, messages: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Starts pfdrive. The terminal's Ctrl-C does not reach it."""
    program = pfdrive()
    try:
        return subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=out,
                                stderr=messages, start_new_session=True)
    except OSError as error:
        raise PfdriveError(f"cannot run {program}: {error.strerror}") from error


def messages_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="backslashreplace")


def warn(text: str) -> None:
    """Warns at the line that called this package."""
    level, frame = 2, inspect.currentframe()
    frame = frame and frame.f_back
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in ("pfstat", "contextlib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RecordingWarning, stacklevel=level)


@contextlib.contextmanager
def output_of(*words: str) -> Iterator[IO[bytes]]:
    """pfdrive's standard output, which the block reads to the end. If pfdrive fails, that is the
    error, and not what the block made of the output. A message from a successful pfdrive is a
    warning."""
    with tempfile.TemporaryFile() as messages:
        process = start(list(words), subprocess.PIPE, messages)
        out = process.stdout
        assert out is not None
        try:
            yield out
        except Exception:
            # At the end of the output pfdrive has a status. Before, it would wait for the reader.
            if not out.read(1) and process.wait():
                raise failure_of(process.returncode, messages_of(messages)) from None
            raise
        finally:
            if process.poll() is None and out.read(1):
                process.kill()
            out.close()
            process.wait()
        text = messages_of(messages)
    if process.returncode:
        raise failure_of(process.returncode, text)
    if text:
        warn(sentence_of(text))

# SPDX-License-Identifier: GPL-2.0-only
"""Another user chooses the names of files and threads. No command passes control characters in a
name on to a terminal."""
import functools
import os
import pathlib
import pty
import re
import subprocess
import unicodedata

import pytest

import native

# Clears the screen with C0 and with C1 (CSI), rings, and reverses the text after it.
HOSTILE = "\x1b[2J\x07\x9b2J\u202e"
PAGES = 64
PROGRAM = """
import ctypes, mmap, sys
ctypes.CDLL(None).prctl(15, b"t" + sys.argv[1].encode()[-12:], 0, 0, 0)
with open(sys.argv[1], "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    print(sum(pages[::mmap.PAGESIZE]) > 0)
"""
HEADER = pathlib.Path(__file__).parents[2] / "user/print/report_format.h"
FORMATS = re.findall(r'\t(?:FIRST|NEXT)\(\w+, "([\w-]+)", \w+, \w+, TEXT', HEADER.read_text())
# RUN: a recording. PROGRAM: the words of a program, not recorded yet.
COMMANDS = [
    *(["report", "--format", word, "RUN"] for word in FORMATS if word != "folded"),
    ["report", "--format", "folded", "--by", "code", "RUN"],
    ["report", "--full", "RUN"],
    *(["report", "--by", by, "RUN"] for by in ("file", "thread", "vma", "comm")),
    ["report", "--slowest", "5", "RUN"],
    ["report", "--plot", "-", "RUN"],
    ["compare", "RUN", "--", "RUN"],
    ["check", "--max-share", "100", "PROGRAM"],
    ["prefetch", "make", "--output", "list", "RUN"],
    ["advise", "RUN"],
    ["record", "PROGRAM"],
    ["top", "PROGRAM"],
]


@functools.lru_cache(maxsize=None)
def program_of(caller):
    return [native.PYTHON, "-c", PROGRAM, caller.new_file(f"e{HOSTILE}.bin", PAGES)]


@functools.lru_cache(maxsize=None)
def recording_of(caller):
    program = program_of(caller)
    native.evict(program[-1])
    return caller.record(*program)


def shown(caller, words):
    """Standard output and standard error, both a terminal, and the exit status."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(word) for word in (caller.program("pfdrive"), *words)],
                          stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                          **caller.options) as process:
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 65536):
                text += chunk
        except OSError:  # the last writer has closed the terminal
            pass
        os.close(ours)
    return text.decode(), process.returncode


def test_formats_are_those_of_pfdrive():
    assert {"table", "csv", "json", "faults-csv", "mappings-csv"} <= set(FORMATS)


@pytest.mark.parametrize("caller", ["user"], indirect=True)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_name_controls_the_terminal(caller, command):
    names = {"RUN": [recording_of(caller).path],
             "PROGRAM": ["--source", "perf", "--", *program_of(caller)]}
    text, status = shown(caller, [new for word in command for new in names.get(word, [word])])
    assert status == 0, text
    text = re.sub(r"\x1b\[[HJK]", "", text)  # of top and of the progress, not of a name
    controls = {character for character in text
                if unicodedata.category(character) == "Cc" and character not in "\r\n\t"
                or unicodedata.bidirectional(character) in ("RLO", "LRO", "RLE", "LRE", "PDF")}
    assert not controls, text

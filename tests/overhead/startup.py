# SPDX-License-Identifier: GPL-2.0-only
"""How long pfstat takes to start and to end: module, first target, pfdrive."""
import json
import os
import pathlib
import struct
import subprocess
import time

import instruments

BLOCK_MAGIC = 0x6b6c4270
BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])


def timed(action):
    """Milliseconds. In the lab 1 ns is an instruction, and idle time counts as usual."""
    start = time.monotonic_ns()
    action()
    return (time.monotonic_ns() - start) / 1e6


def attach():
    (instruments.DEBUGFS / "control").write_text(f"pid {os.getpid()}")


def tail_of(recording):
    """The counters and times at the end of a recording: see Documentation/formats/recording.rst,
    Blocks."""
    data = recording.read_bytes()
    offset = data.index(struct.pack("<II", BLOCK_MAGIC, 1))      # after the file header
    while True:
        magic, kind, _, stored, _, _ = struct.unpack_from("<6I", data, offset)
        assert magic == BLOCK_MAGIC
        offset += 24
        if kind == 4:
            return json.loads(subprocess.run(["zstd", "-dc"], input=data[offset:offset + stored],
                                             check=True, capture_output=True).stdout)
        offset += stored


def drive(path, *options):
    """Time until pfdrive's first access, and after the last one: pfdrive's start and exit."""
    recording = pathlib.Path("/tmp/startup.pfs")
    start = time.monotonic_ns()
    subprocess.run([BUILD / "pfdrive", "-n", "1000", "-c", "warm", "-f", "json", "--record",
                    recording, *options, path], check=True, capture_output=True)
    end = time.monotonic_ns()
    tail = tail_of(recording)
    recording.unlink()
    return (tail["start_ns"] - start) / 1e6, (end - tail["end_ns"]) / 1e6


def record_true():
    subprocess.run([BUILD / "pfdrive", "record", "--", "/bin/true"], check=True,
                   capture_output=True)


def measure(path):
    """{name: milliseconds}. Each start but the last finds no earlier program attached."""
    instruments.rmmod()
    result = {"insmod": timed(instruments.insmod), "attach": timed(attach)}
    (instruments.DEBUGFS / "control").write_text("stop")
    result["pfdrive"], result["pfdrive_end"] = drive(path)
    instruments.await_detached()
    result["pfdrive_no_bpf"], result["pfdrive_no_bpf_end"] = drive(path, "--no-bpf")
    result["record_true"] = timed(record_true)
    result["record_true_again"] = timed(record_true)
    instruments.await_detached()
    instruments.rmmod()
    return result


def show(result):
    print("Milliseconds: " + ", ".join(f"{name} {ms:.1f}" for name, ms in result.items()))

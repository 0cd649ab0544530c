# SPDX-License-Identifier: GPL-2.0-only
"""How long it takes until pfstat measures: module, first target, pfdrive."""
import json
import os
import pathlib
import subprocess
import time

import instruments

BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])


def timed(action):
    """Milliseconds; in the lab 1 ns is an instruction, and idle time counts as it is."""
    start = time.monotonic_ns()
    action()
    return (time.monotonic_ns() - start) / 1e6


def attach():
    (instruments.DEBUGFS / "control").write_text(f"pid {os.getpid()}")


def drive(path, *options):
    """A whole run of pfdrive less its accesses: its start, and its end too."""
    start = time.monotonic_ns()
    result = subprocess.run([BUILD / "pfdrive", "-n", "1000", "-c", "warm", "-f", "json", *options,
                             path], check=True, capture_output=True)
    whole = time.monotonic_ns() - start
    return (whole - json.loads(result.stdout)["elapsed_ns"]) / 1e6


def measure(path):
    """{what: milliseconds}."""
    instruments.rmmod()
    result = {"insmod": timed(instruments.insmod), "attach": timed(attach)}
    (instruments.DEBUGFS / "control").write_text("stop")
    result["pfdrive"] = drive(path)
    result["pfdrive_no_bpf"] = drive(path, "--no-bpf")
    instruments.rmmod()
    return result


def show(result):
    print("Milliseconds: " + ", ".join(f"{name} {ms:.1f}" for name, ms in result.items()))

# SPDX-License-Identifier: GPL-2.0-only
"""make pfdrive BPF=no calls neither clang nor bpftool, and links no libbpf."""
import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).parents[2]


def commands(*variables):
    """Returns the commands with which make would build pfdrive in an empty build folder."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("BPF", "CROSS", "MAKEFLAGS", "MAKELEVEL")}
    with tempfile.TemporaryDirectory() as build:
        return subprocess.run(["make", "-n", "pfdrive", f"BUILD={build}", "CLANG=/none/clang",
                               "BPFTOOL=/none/bpftool", *variables],
                              cwd=TOP, env=environment, capture_output=True, text=True,
                              timeout=60, check=False)


class WithoutBpf(unittest.TestCase):
    def test_bpf_no_uses_no_tool_or_library_of_ebpf(self):
        made = commands("BPF=no")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("bpf_none.c", made.stdout)
        for word in ("/none/", "-lbpf", "collect/events.c", "skel.h"):
            self.assertNotIn(word, made.stdout)

    def test_bpf_yes_uses_them(self):
        made = commands()
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertNotIn("bpf_none.c", made.stdout)
        for word in ("/none/clang", "/none/bpftool", "-lbpf", "collect/events.c"):
            self.assertIn(word, made.stdout)

    def test_bpf_takes_yes_or_no(self):
        made = commands("BPF=maybe")
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("BPF takes yes or no, not 'maybe'", made.stderr)

    def test_programs_are_refused_for_other_architectures(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder, "riscv64-linux-gnu-gcc")
            compiler.write_text("#!/bin/sh\necho riscv64-linux-gnu\n")
            compiler.chmod(0o755)
            made = commands(f"CROSS={folder}/riscv64-linux-gnu-")
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("add BPF=no", made.stderr)

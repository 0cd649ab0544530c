# SPDX-License-Identifier: GPL-2.0-only
"""Mistakes on the tools' command lines are refused before anything is built."""
import os
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).parents[2]


def run(*command, **env):
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, **env})


class Help(unittest.TestCase):
    def test_the_help_of_make_fits_a_screen(self):
        lines = run("make", "--no-print-directory", "help").stdout.splitlines()
        self.assertIn("make help-all", "\n".join(lines))
        self.assertLessEqual(len(lines), 24)
        self.assertEqual([line for line in lines if len(line) > 80], [])

    def test_all_help_has_each_target_of_the_help(self):
        def targets(name):
            text = run("make", "--no-print-directory", name).stdout
            return {word.rstrip(",") for line in text.splitlines() if line.startswith("make ")
                    for word in re.split(r"  |\[", line)[0].split()[1:]}

        self.assertEqual(targets("help") - targets("help-all") - {"help-all"}, set())


class Integration(unittest.TestCase):
    def test_continuous_integration_runs_all_that_make_check_runs(self):
        def words(*command):
            return run(*command, MAKEFLAGS="--dry-run --no-print-directory").stdout.split()

        check = words("make", "check")
        self.assertIn("arm64", check)
        self.assertEqual(words(".ci/run")[:len(check)], check)


class Refused(unittest.TestCase):
    """Status 2 and one sentence on stderr."""
    def refuses(self, sentence, *command):
        result = run(*command)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertIn(sentence, result.stderr)
        self.assertLessEqual(result.stderr.count("\n"), 2)

    def test_unknown_test_files_are_refused(self):
        for command in (["--kernels", "6.12", "--tests", "test_record.py test_nope.py", "vm"],
                        ["--tests", "test_nope.py::test_one", "debug", "stress"]):
            self.refuses("there is no file tests/vm/test_nope.py; name files of tests/vm",
                         "tools/check", *command)
        self.refuses("there is no file tests/vm/test_nope.py", "tools/check-kernels",
                     "--tests", "test_nope.py", "6.12", "7.2")

    def test_unknown_words_are_refused(self):
        self.refuses("unknown word 'nope'; choose from unit unit-san native python docs browser course "
                     "vm arm64 smoke recipes long debug stress fuzz", "tools/check", "unit", "nope")
        self.refuses("unknown word '--nope'", "tools/lint", "--nope")

    def test_a_malformed_number_of_vms_is_refused(self):
        self.refuses("--vms takes a whole number, not 'x'", "tools/check", "--vms", "x", "vm")

    def test_an_unknown_architecture_is_refused(self):
        for tool in (["tools/lab", "kernels"], ["tools/lab-image"], ["tools/deps", "--check"]):
            self.refuses("--arch takes x86-64 or arm64, not mips", *tool, "--arch", "mips")

    def test_malformed_names_of_packages_are_refused(self):
        for names in ("pip:", "fio,", "pip:a pip:b", "apt:fio"):
            self.refuses(f"--packages takes names with commas between, not {names}",
                         "tools/lab", "run", "--packages", names, "--", "true")
        self.refuses("--packages pip:NAME is for guests of x86-64", "tools/lab", "run", "--arch",
                     "arm64", "--packages", "pip:pyarrow", "--", "true")

    def test_an_unknown_level_of_lockdown_is_refused(self):
        for kernel in "6.12+tight", "6.12+integrity+":
            self.refuses(f"--kernel takes K+integrity or K+confidentiality, not {kernel}",
                         "tools/lab", "run", "--kernel", kernel, "--", "true")

    def test_a_guest_that_arm64_does_not_have_is_refused(self):
        for kernel in "6.1", "debug":
            self.refuses(f"there is no guest of Linux {kernel} for arm64: it is one of 6.12 newest "
                         "16k", "tools/lab", "prepare", "--arch", "arm64", "--kernel", kernel)
        self.refuses("there is no guest of Linux 16k for amd64: it is one of 6.12 6.1",
                     "tools/lab", "prepare", "--arch", "x86-64", "--kernel", "16k")
        self.refuses("--pmem is for guests of x86-64", "tools/lab", "run", "--arch", "arm64",
                     "--pmem", "64M", "--", "true")

    def test_a_malformed_time_of_fuzzing_is_refused(self):
        self.refuses("FUZZ_SECONDS takes a whole number of seconds, not 'abc'",
                     "make", "--no-print-directory", "fuzz", "FUZZ_SECONDS=abc")


class Accepted(unittest.TestCase):
    """Help, and options without a word to run."""
    def test_help_lists_the_words(self):
        result = run("tools/check", "--help")
        self.assertEqual(result.returncode, 0)
        for word in "unit unit-san native docs browser vm smoke recipes long debug stress fuzz cross".split():
            self.assertIn(f"\n  {word} ", result.stdout)

    def test_the_architecture_decides_which_kernels_are_tested(self):
        for arch, names, more in (("x86-64", "6.1 6.12\n", "rt 6.18 7.2 newest\n"),
                                  ("arm64", "6.12\n", "16k newest\n")):
            for target, expected in ("check", names), ("check-kernels", more):
                result = run("env", f"LAB_ARCH={arch}", "tools/kernel-names", target)
                self.assertEqual(result.stdout, expected)

    def test_lint_help_runs_no_check(self):
        result = run("tools/lint", "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("usage: tools/lint", result.stdout)

    def test_known_test_files_are_accepted(self):
        result = run("tools/check", "--tests", "test_lab.py::test_x test_record.py -k one")
        self.assertEqual((result.stdout, result.stderr), ("0 passed, 0 failed\n", ""))

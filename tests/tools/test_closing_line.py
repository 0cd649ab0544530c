# SPDX-License-Identifier: GPL-2.0-only
"""The closing line of a pytest suite, which tools/check adds up."""
import os
import pathlib
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[1]
PASSES = "def test_one():\n    pass\n"


def closing_line(conftest, tests=PASSES):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "conftest.py").write_text(conftest, encoding="utf-8")
        pathlib.Path(folder, "test_some.py").write_text(tests, encoding="utf-8")
        # Debian's Python has Debian's pytest.
        result = subprocess.run(
            ["/usr/bin/python3", "-B", "-m", "pytest", "-p", "closing_line", "-p",
             "no:cacheprovider"], cwd=folder, env={**os.environ, "PYTHONPATH": str(TESTS)},
            capture_output=True, text=True, timeout=60, check=False)
    return result.stdout.splitlines()[-1]


class ClosingLine(unittest.TestCase):
    def test_passed_and_failed_tests_are_counted(self):
        failing = "def test_two():\n    assert False\n"
        self.assertEqual(closing_line("", PASSES + failing), "1 passed, 1 failed")

    def test_a_skipped_test_is_a_failure(self):
        skipping = "import pytest\ndef test_two():\n    pytest.skip()\n"
        self.assertEqual(closing_line("", PASSES + skipping), "1 passed, 1 failed")

    def test_an_error_of_pytest_is_a_failure(self):
        for hook in ("pytest_sessionstart(session)", "pytest_collection_modifyitems(items)",
                     "pytest_runtest_protocol(item)"):
            conftest = f"def {hook}:\n    raise ValueError\n"
            self.assertEqual(closing_line(conftest), "0 passed, 1 failed", hook)

    def test_an_interrupted_session_is_a_failure(self):
        interrupted = "def test_two():\n    raise KeyboardInterrupt\n"
        self.assertEqual(closing_line("", PASSES + interrupted), "1 passed, 1 failed")

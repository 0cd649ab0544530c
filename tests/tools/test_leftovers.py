# SPDX-License-Identifier: GPL-2.0-only
"""No process outlives its test, and no test hangs."""
import os
import pathlib
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[1]
HEAD = "import os, pathlib, subprocess, time\n"


def run_tests(text, limit_s=60):
    """What pytest prints about these tests, with a file shared by them."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "test_some.py").write_text(HEAD + text, encoding="utf-8")
        # Debian's Python has Debian's pytest.
        result = subprocess.run(
            ["/usr/bin/python3", "-B", "-m", "pytest", "-p", "leftovers", "-p",
             "no:cacheprovider"], cwd=folder, capture_output=True, text=True, timeout=120,
            check=False, env={**os.environ, "PYTHONPATH": str(TESTS),
                              "PFSTAT_TEST_LIMIT_S": str(limit_s)})
    return result.stdout


ALIVE = """
def is_alive(name):
    pid = int(pathlib.Path(name).read_text())
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
"""


class Leftovers(unittest.TestCase):
    def test_a_process_that_a_failed_test_left_is_killed(self):
        said = run_tests(ALIVE + """
def test_leaves():
    pid = subprocess.Popen(["sleep", "1000"]).pid
    while not pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        pass                    # Popen() returns in the middle of execve()
    pathlib.Path("pid").write_text(str(pid))
    assert False
def test_sees_none():
    assert not is_alive("pid")
""")
        self.assertIn("1 failed, 1 passed", said)
        self.assertIn("killed after test_some.py::test_leaves: sleep 1000", said)

    def test_a_process_without_a_parent_is_killed(self):
        said = run_tests(ALIVE + """
def test_leaves():
    subprocess.run(["sh", "-c", "setsid sleep 1000 >/dev/null & echo $! >pid"])
    assert is_alive("pid")
def test_sees_none():
    assert not is_alive("pid")
""")
        self.assertIn("2 passed", said)

    def test_a_process_that_tests_share_stays(self):
        said = run_tests(ALIVE + """
import pytest
@pytest.fixture(scope="module", autouse=True)
def shared():
    with subprocess.Popen(["sleep", "1000"]) as process:
        pathlib.Path("pid").write_text(str(process.pid))
        yield
        process.kill()
def test_one():
    assert is_alive("pid")
def test_two():
    assert is_alive("pid")
""")
        self.assertIn("2 passed", said)
        self.assertNotIn("killed", said)

    def test_the_teardown_finds_the_process_of_the_call_ended(self):
        said = run_tests(ALIVE + """
import pytest
@pytest.fixture
def checked():
    yield
    assert not is_alive("pid")
def test_leaves(checked):
    pathlib.Path("pid").write_text(str(subprocess.Popen(["sleep", "1000"]).pid))
""")
        self.assertIn("1 passed", said)
        self.assertNotIn("error", said)

    def test_a_with_block_that_fails_does_not_wait_for_the_process(self):
        said = run_tests("""
def test_fails():
    with subprocess.Popen(["sleep", "1000"]):
        assert False, "the reason"
""")
        self.assertIn("1 failed", said)
        self.assertIn("the reason", said)
        self.assertNotIn("takes longer", said)

    def test_a_test_that_hangs_fails(self):
        said = run_tests("""
def test_hangs():
    subprocess.run(["sleep", "1000"])
def test_hangs_in_a_with_block():
    with subprocess.Popen(["sleep", "1000"]):
        pass
def test_works():
    pass
""", limit_s=1)
        self.assertIn("2 failed, 1 passed", said)
        self.assertEqual(said.count("E       Failed: takes longer than 1 s"), 2)

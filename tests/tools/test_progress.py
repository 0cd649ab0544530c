# SPDX-License-Identifier: GPL-2.0-only
"""The tools/progress lines, the estimate, and the file distribution among VMs."""
import io
import os
import pathlib
import unittest

import scripts

TOP = pathlib.Path(__file__).parents[2]


progress = scripts.load(TOP / "tools/progress")


class Lines(unittest.TestCase):
    """One VM with two files, on a clock that the test sets."""
    def setUp(self):
        self.out = io.StringIO()
        self.now = 0

    def start(self, durations):
        self.progress = progress.Progress(2, "", durations, lambda: self.now, self.out)
        self.send("plan", "6.12 (1 of 2)", "6.12", "test_a.py", "test_b.py")
        self.send("begin", "6.12 (1 of 2)")

    def send(self, *words):
        self.progress.handle("\t".join(words) + "\n")

    def last(self):
        return self.out.getvalue().splitlines()[-1]

    def test_counts_are_printed_without_earlier_durations(self):
        self.start({})
        self.assertEqual(self.last(), "[0 of 2] 6.12 (1 of 2): starts; 1 running")
        self.now = 41
        self.send("done", "6.12 (1 of 2)", "test_a.py", "12", "0")
        self.assertEqual(self.last(), "[1 of 2] 6.12 (1 of 2): test_a.py passed "
                         "(12 tests, 41 s); 1 running")

    def test_remaining_time_comes_from_earlier_durations(self):
        self.start({"6.12": {"(start)": 20, "test_a.py": 100, "test_b.py": 200}})
        self.assertTrue(self.last().endswith("1 running, about 5 min remain"), self.last())
        self.now = 20
        self.send("steps", "6.12 (1 of 2)", "test_a.py", "test_b.py")
        self.now = 120
        self.send("done", "6.12 (1 of 2)", "test_a.py", "1", "0")
        self.assertTrue(self.last().endswith("(1 test, 2 min); 1 running, about 3 min remain"),
                        self.last())

    def test_the_longest_job_or_all_of_them_decide(self):
        self.start({"6.12": {"test_a.py": 10, "test_b.py": 10}, "6.1": {"test_c.py": 60}})
        self.send("plan", "6.1", "6.1", "test_c.py")
        self.assertEqual(self.progress.remaining(), 60)
        self.send("plan", "6.1 again", "6.1", "test_c.py")
        self.assertEqual(self.progress.remaining(), 70)

    def test_no_estimate_if_one_duration_is_unknown(self):
        self.start({"6.12": {"test_a.py": 100}})
        self.assertIsNone(self.progress.remaining())

    def test_failures_are_counted(self):
        self.start({})
        self.send("done", "6.12 (1 of 2)", "test_a.py", "11", "1")
        self.assertIn("test_a.py FAILED (1 of 12 tests, 0 s)", self.last())

    def test_a_vm_that_stops_is_a_failure(self):
        self.start({})
        self.send("done", "6.12 (1 of 2)", "test_a.py", "1", "0")
        self.send("end", "6.12 (1 of 2)")
        self.assertEqual(self.last(),
                         "[2 of 2] 6.12 (1 of 2): FAILED, it stopped before its last 1 step")

    def test_the_total_stays_when_a_vm_announces_that_files_have_no_tests(self):
        self.start({})
        self.send("plan", "6.1", "6.1", "test_a.py")
        self.send("steps", "6.12 (1 of 2)", "test_b.py")
        self.send("begin", "6.1")
        self.assertTrue(self.last().startswith("[1 of 3] "), self.last())
        self.send("done", "6.12 (1 of 2)", "test_b.py", "1", "0")
        self.assertTrue(self.last().startswith("[2 of 3] "), self.last())

    def test_an_empty_name_is_not_a_step(self):
        self.start({})
        self.send("plan", "smoke", "smoke", "test_c.py", "")
        self.send("begin", "smoke")
        self.assertTrue(self.last().startswith("[0 of 3] "), self.last())

    def test_short_jobs_print_only_their_end(self):
        self.start({"unit": {"test_x": 2, "build": 60}})
        for job in ("test_x", "build"):
            self.send("plan", job, "unit", job)
            self.send("begin", job)
        self.assertIn("build: starts", self.last())
        self.assertNotIn("test_x: starts", self.out.getvalue())

    def test_a_line_after_a_long_silence_says_what_runs(self):
        self.start({})
        self.send("plan", "unit", "unit", "unit")
        self.send("begin", "unit")
        self.now = 10
        self.assertEqual(self.progress.silence_left(), progress.SILENCE - 10)
        self.send("steps", "6.12 (1 of 2)", "test_a.py", "test_b.py")
        self.now = progress.SILENCE + 10
        self.assertEqual(self.progress.silence_left(), 0)
        self.progress.print_running()
        self.assertEqual(self.last(), "[0 of 3] 6.12 (1 of 2): test_a.py for 25 s, unit for 35 s; "
                         "2 running")
        self.assertEqual(self.progress.silence_left(), progress.SILENCE)

    def test_a_job_that_runs_nothing_yet_starts(self):
        self.start({})
        self.progress.print_running()
        self.assertEqual(self.last(), "[0 of 2] 6.12 (1 of 2): (start) for 0 s; 1 running")

    def test_a_step_that_a_job_did_not_have_is_not_planned_again(self):
        self.start({})
        self.send("steps", "6.12 (1 of 2)", "test_b.py")
        self.start(self.progress.new)
        self.assertTrue(self.last().startswith("[0 of 1] "), self.last())

    def test_the_longest_steps_come_last(self):
        self.start({})
        self.now = 7
        self.send("done", "6.12 (1 of 2)", "test_a.py", "1", "0")
        self.now = 16
        self.send("done", "6.12 (1 of 2)", "test_b.py", "1", "0")
        self.progress.print_longest(1)
        self.assertEqual(self.out.getvalue().splitlines()[-2:],
                         ["-- what took longest", "    9.0 s  6.12: test_b.py"])


class Input(unittest.TestCase):
    """Events that arrive in pieces, and none."""
    def test_lines_are_whole_and_silence_is_none(self):
        reader, writer = os.pipe()
        lines = progress.lines_of(reader, lambda: 0.01)
        self.assertIsNone(next(lines))
        os.write(writer, b"begin\ta\nend\t")
        self.assertEqual(next(lines), "begin\ta")
        self.assertIsNone(next(lines))
        os.write(writer, b"a\n")
        os.close(writer)
        self.assertEqual(list(lines), ["end\ta"])
        os.close(reader)


class Deal(unittest.TestCase):
    """File distribution among VMs."""
    def test_parts_take_about_the_same_time(self):
        dealt = progress.deal({"a": 100, "b": 60, "c": 50, "d": 10}, 2, ["a", "b", "c", "d"])
        self.assertEqual(dealt, [["a", "d"], ["b", "c"]])

    def test_files_without_a_duration_are_dealt_out_evenly(self):
        dealt = progress.deal({}, 2, ["a", "b", "c", "d"])
        self.assertEqual(dealt, [["a", "c"], ["b", "d"]])

    def test_files_without_tests_leave_no_part_empty(self):
        dealt = progress.deal({"a": 5, "b": 0, "c": 0}, 3, ["a", "b", "c"])
        self.assertEqual(dealt, [["a"], ["b"], ["c"]])

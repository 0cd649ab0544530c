# SPDX-License-Identifier: GPL-2.0-only
"""tools/check-layout has an order for a folder's sub-folders, and keeps the apps apart."""
import pathlib
import tempfile
import unittest

import scripts

TOP = pathlib.Path(__file__).parents[2]


class Tree(unittest.TestCase):
    """A tree of a few files."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.layout = scripts.load(TOP / "tools/check-layout")
        self.layout.TOP = pathlib.Path(folder.name)

    def write(self, name, include=None, side="user"):
        path = self.layout.TOP / side / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "{include}"\n' if include else "", encoding="utf-8")


class Suborder(Tree):
    """A sub-folder includes itself and those below it."""
    def test_sub_folder_includes_those_below_it(self):
        self.write("analyze/fault/waits.h")
        self.write("analyze/pages/evictions.c", "analyze/fault/waits.h")
        self.assertEqual([*self.layout.wrong_suborder()], [])

    def test_sub_folder_does_not_include_those_above_it(self):
        self.write("analyze/pages/evictions.h")
        self.write("analyze/fault/waits.c", "analyze/pages/evictions.h")
        self.assertEqual([*self.layout.wrong_suborder()], [
            "user/analyze/fault/waits.c includes analyze/pages/evictions.h: fault is below pages "
            "in the order of analyze/"])

    def test_file_outside_of_sub_folders_has_a_place(self):
        self.write("print/print_report.h")
        self.write("print/text/table.c", "print/print_report.h")
        self.assertEqual(len([*self.layout.wrong_suborder()]), 1)

    def test_new_sub_folder_needs_a_place(self):
        self.write("print/morse/dots.c")
        self.assertEqual([*self.layout.wrong_suborder()], [
            "user/print/morse/dots.c has no place in SUBORDER of tools/check-layout"])


class Apps(Tree):
    """An app includes user/ and itself, and only the files beside the apps include them."""
    def setUp(self):
        super().setUp()
        self.write("run/watch.h")
        self.write("live/live.h", "run/watch.h", side="apps")
        self.write("main.c", "live/live.h", side="apps")

    def wrong(self):
        return [*self.layout.wrong_order(), *self.layout.wrong_side(),
                *self.layout.wrong_neighbour()]

    def test_app_includes_user_and_itself(self):
        self.write("live/live.c", "live/live.h", side="apps")
        self.assertEqual(self.wrong(), [])

    def test_user_includes_no_app(self):
        self.write("cmd/cmd.c", "live/live.h")
        self.assertEqual(len(self.wrong()), 1)

    def test_app_includes_no_other_app(self):
        self.write("doctor/doctor.c", "live/live.h", side="apps")
        self.assertEqual(self.wrong(), [
            "apps/doctor/doctor.c includes live/live.h, which is of another folder"])

    def test_study_includes_no_app_and_no_other_study(self):
        self.write("io/io.h", side="bench")
        self.write("rss/rss.c", "bench/io/io.h", side="bench")
        self.write("io/io.c", "live/live.h", side="bench")
        self.assertEqual(len(self.wrong()), 2)

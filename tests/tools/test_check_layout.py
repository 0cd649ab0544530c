# SPDX-License-Identifier: GPL-2.0-only
"""tools/check-layout has an order for a folder's sub-folders."""
import pathlib
import tempfile
import unittest

import scripts

TOP = pathlib.Path(__file__).parents[2]


class Suborder(unittest.TestCase):
    """A sub-folder includes itself and those below it."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.layout = scripts.load(TOP / "tools/check-layout")
        self.layout.TOP = pathlib.Path(folder.name)

    def write(self, name, include=None):
        path = self.layout.TOP / "user" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "{include}"\n' if include else "", encoding="utf-8")

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

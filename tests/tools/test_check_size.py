# SPDX-License-Identifier: GPL-2.0-only
"""tools/check-size compares folders with their limits."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import scripts

TOP = pathlib.Path(__file__).parents[2]


class Limits(unittest.TestCase):
    """A tree of three files, with limits."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.size = scripts.load(TOP / "tools/check-size")
        self.size.TOP = pathlib.Path(folder.name)
        self.size.LIMITS = self.size.TOP / "limits"
        self.write("user/wait/wait.h", "int wait;\n")
        self.write("user/wait/wait.c", '#include "wait/wait.h"\n\n')
        self.write("user/wait/notes.txt", "\n" * 100)

    def write(self, name, text):
        path = self.size.TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, limits):
        """Returns whether the check failed, and what it printed."""
        self.write("limits", "# a comment\n" + limits)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            failed = self.size.main()
        return failed, out.getvalue()

    def test_folder_within_the_limit_passes(self):
        self.assertEqual(self.check("3 user/wait\n3 user\n"), (False, ""))

    def test_folder_above_the_limit_is_named(self):
        failed, text = self.check("2 user/wait\n3 user\n")
        self.assertTrue(failed)
        self.assertRegex(text, r"^user/wait: 3, at most 2: .*\n$")

    def test_header_of_one_unit_counts_as_private(self):
        self.assertTrue(self.check("0 headers with one includer\n")[0])
        self.write("user/wait/other.c", '#include "wait/wait.h"\n')
        self.assertTrue(self.check("0 headers with one includer\n")[0])
        self.write("user/run/run.c", '#include "wait/wait.h"\n')
        self.assertEqual(self.check("0 headers with one includer\n"), (False, ""))

    def test_apps_have_private_headers_too(self):
        self.write("user/run/run.c", '#include "wait/wait.h"\n')
        self.write("user/run/more.c", '#include "wait/wait.h"\n')
        self.write("apps/live/live.h", "")
        self.write("apps/live/live.c", '#include "live/live.h"\n')
        self.write("apps/main.c", '#include "live/live.h"\n')
        self.assertTrue(self.check("0 headers with one includer\n")[0])
        self.write("apps/live/top.c", '#include "live/live.h"\n')
        self.assertEqual(self.check("0 headers with one includer\n"), (False, ""))

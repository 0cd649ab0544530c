# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx reads this file: `make docs` builds the pages of this folder into build/docs/html."""
import pathlib

project = "pfstat"
copyright = "the authors of pfstat, GPL-2.0"
release = pathlib.Path(__file__).parents[1].joinpath("VERSION").read_text().strip()
root_doc = "index"
# The file's own name is printed, not a quoted paragraph: commands have two dashes.
smartquotes = False
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"nosidebar": False, "page_width": "72em", "body_max_width": "none"}
html_copy_source = False
html_show_sphinx = False

# SPDX-License-Identifier: GPL-2.0-only
"""The documents as a whole: Sphinx reads them without a warning, and their host commands exist."""
import pathlib
import re
import subprocess

import pytest

import documents

TOP = pathlib.Path(__file__).parents[2]
# A Documentation/ file named in a text (not the kernel's), and the texts that may.
NAMED = re.compile(r"\bDocumentation/(?!admin-guide/|arch/)[\w/.-]+\.\w+")
TEXTS = ("*.md", "Documentation/**/*.rst", "apps/**/*", "bpf/**/*", "include/**/*", "module/**/*",
         "tests/**/*", "tools/**/*", "user/**/*")


def test_sphinx_builds_the_pages_without_a_warning():
    done = subprocess.run(["make", "--no-print-directory", "docs"], cwd=TOP, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", documents.pages(), ids=lambda page: page.name)
def test_commands_for_the_host_exist(page):
    wrong = [documents.wrong_on_host(step) for step in page.steps if step.prompt == "$"]
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_files_of_the_documentation_that_a_text_names_exist():
    wrong = [f"{path.relative_to(TOP)} names {name}"
             for pattern in TEXTS for path in TOP.glob(pattern) if path.is_file()
             for name in NAMED.findall(path.read_text(encoding="utf-8", errors="ignore"))
             if not (TOP / name).exists()]
    assert not wrong, "\n".join(wrong)


def test_pages_about_the_layout_describe_its_version():
    header = (TOP / "include/pfstat/record.h").read_text(encoding="utf-8")
    version, = re.findall(r"^#define PFSTAT_ABI_VERSION (\d+)$", header, re.MULTILINE)
    for page, texts in (("user/module", (f"Layout version {version} (",)),
                        ("formats/recording", (f"records and events: {version} (",
                                               f"Version {version} adds"))):
        text = " ".join((TOP / f"Documentation/{page}.rst").read_text(encoding="utf-8").split())
        assert not [words for words in texts if words not in text], page


def test_links_of_the_readme_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)", (TOP / "README.md").read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if "://" not in link and not (TOP / link).exists()]


def test_the_readme_has_at_most_100_lines():
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= 100

# SPDX-License-Identifier: GPL-2.0-only
"""The commands in README.md, tutorial, examples and recipes print what the pages show.

A command runs on the kernel shown in the page. Recipes take long: `make check-long` runs them, and
`make check-recipes` those requiring packages, in a lab with these packages.
"""
import pathlib
import subprocess

import pytest

import documents
import pfstat


def installed(package):
    if package.startswith("pip:"):
        return pathlib.Path("/opt/python", package.removeprefix("pip:")).exists()
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", package],
                          capture_output=True, text=True, check=False)
    return done.stdout.startswith("ii")


def marks(page, steps):
    kernel = steps[0].kernel
    yield pytest.mark.needs(pfstat.KERNEL_NAME == kernel and not pfstat.ARM64,
                            f"Linux {kernel} on x86-64")
    yield pytest.mark.needs(all(map(installed, page.packages)),
                            f"the packages {' '.join(page.packages)}")
    if page.packages:
        yield pytest.mark.packages
    elif "/recipes/" in page.name:
        yield pytest.mark.long
    elif page.name.startswith("Documentation/recipes/"):
        yield pytest.mark.long          # together they take some VM minutes
    if "--deterministic" in page.lab:
        yield pytest.mark.deterministic


@pytest.mark.parametrize("steps", [
    pytest.param(steps, marks=list(marks(page, steps)), id=f"{page.name}:{steps[0].line}")
    for page in documents.pages() for steps in documents.in_guest(page)])
def test_commands_print_what_the_page_shows(steps):
    pfstat.unload()         # as in a lab that has just been booted
    wrong = [documents.difference(*done) for done in documents.run(steps, pfstat.PATIENCE)]
    assert not any(wrong), "\n\n".join(filter(None, wrong))

# SPDX-License-Identifier: GPL-2.0-only
"""Recordings, their pages, and a browser that shows them."""
import os
import pathlib
import subprocess

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

BUILD = pathlib.Path(os.environ["PFSTAT_BUILD"])


def pfdrive(*arguments, status=0, program="pfdrive", **options):
    """Runs pfdrive or pfbench, and returns (standard output, standard error)."""
    done = subprocess.run([BUILD / program, *map(str, arguments)], capture_output=True,
                          text=True, check=False, **options)
    assert done.returncode == status, (arguments, done.stdout[-2000:], done.stderr)
    return done.stdout, done.stderr


class Made:
    """A recording, the page and the figure folder."""
    def __init__(self, folder, name, maker, *arguments, plot=True):
        self.recording = folder / f"{name}.pfs"
        self.page = folder / f"{name}.html"
        self.plots = folder / f"{name}.plots"
        subprocess.run([BUILD / maker, self.recording, *arguments], check=True)
        pfdrive("report", self.recording, "--html", self.page,
                *(["--plot", self.plots] if plot else []))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def small(folder):
    """A recording's page with something for each figure, and with hostile names."""
    return Made(folder, "small", "make_run")


@pytest.fixture(scope="session")
def bare(folder):
    return Made(folder, "bare", "make_run", "bare")


@pytest.fixture(scope="session")
def large(folder):
    """Two million faults by four threads over 100 files."""
    return Made(folder, "large", "make_recording", "2")


@pytest.fixture(scope="session")
def browser():
    options = webdriver.ChromeOptions()
    # In a container Chromium's sandbox does not work as root, but the pages run no script anyway.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--force-color-profile=srgb"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Debian's packages: nothing is downloaded.
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    yield driver
    driver.quit()

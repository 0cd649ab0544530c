# SPDX-License-Identifier: GPL-2.0-only
"""The recipe requiring a Python package missing in Debian."""
import os
import pathlib
import subprocess

import pfstat
from conftest import BUILD, ENVIRONMENT

RECIPES = pathlib.Path(__file__).parents[2] / "Documentation/recipes"


def test_arrow_maps_the_file_only_with_memory_map(recorded, tmp_path):
    del recorded    # only where this machine records
    done = subprocess.run(["sh", RECIPES / "arrow_memory_map.sh", tmp_path], check=True, text=True,
                          env={"PATH": f"{ENVIRONMENT}/bin:{BUILD}:/usr/bin:/bin",
                               "HOME": os.environ["HOME"]}, capture_output=True)
    assert done.stdout.splitlines()[-1] == str(tmp_path / "before.pfs")

    def of_file(name):
        faults = pfstat.faults(tmp_path / name)
        assert len(faults)
        return (faults["file"] == str(tmp_path / "table.arrow")).sum()
    assert of_file("before.pfs") > 0
    assert of_file("read.pfs") == of_file("after.pfs") == 0

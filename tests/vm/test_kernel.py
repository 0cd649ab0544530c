# SPDX-License-Identifier: GPL-2.0-only
"""The build asked this kernel the right questions, and refuses those it is not for."""
import pathlib
import subprocess

import pytest

import pfstat

TOP = pathlib.Path(__file__).parents[2]


def known():
    """{kernel: {probe: yes or no}} of the table."""
    lines = (pathlib.Path(__file__).parent / "kernels").read_text().splitlines()
    names, = [line.split()[2:] for line in lines if line.startswith("# kernel")]
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert all(set(row[1:]) <= {"yes", "no"} for row in rows)
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


def test_the_probes_say_what_is_known_of_this_kernel():
    said = pfstat.run("modinfo", "-F", "probes", pfstat.MODULE).stdout.split()
    answers = known()[pfstat.KERNEL_NAME]
    assert {name: "yes" if name in said else "no" for name in answers} == answers
    assert set(said) <= set(answers)


def test_every_probe_has_a_kernel_that_says_yes_and_one_that_says_no():
    files = {path.stem for path in (TOP / "module/probes").glob("*.c")}
    for row in known().values():
        assert set(row) == files
    for name in files:
        assert {row[name] for row in known().values()} == {"yes", "no"}, name


@pytest.mark.parametrize("version, refused", [
    ("5.19", True), ("6.0", True), ("6.1", False), ("6.12", False), ("7.3", False),
    ("7.4", True), ("10.1", True)])
def test_a_kernel_too_old_or_too_new_is_refused_by_name(version, refused):
    major, minor = version.split(".")
    # Nothing is asked of the compiler: that is another test's.
    build = ["make", "-n", "-f", TOP / "Kbuild", f"VERSION={major}", f"PATCHLEVEL={minor}",
             f"KERNELRELEASE={version}.9-other", f"src={TOP}", "CC=false"]
    result = subprocess.run(build, text=True, capture_output=True, timeout=60, check=False)
    lines = [line for line in result.stderr.splitlines() if "pfstat is for Linux" in line]
    if refused:
        line, = lines
        assert f"headers of {version}.9-other" in line
        tried = subprocess.run([*build, "UNTRIED=yes"], text=True, capture_output=True,
                               timeout=60, check=False)
        assert "pfstat is for Linux" not in tried.stderr
    else:
        assert not lines

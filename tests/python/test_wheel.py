# SPDX-License-Identifier: GPL-2.0-only
"""The wheel: name, programs and types."""
import email.parser
import os
import pathlib
import subprocess
import zipfile

import pfstat
from conftest import BUILD, ENVIRONMENT

TREE = pathlib.Path(__file__).parents[2]
VERSION = (TREE / "VERSION").read_text(encoding="utf-8").strip()


def the_wheel():
    path, = (BUILD / "wheel" / os.uname().machine).glob("*.whl")
    return path


def test_its_name_has_the_version_and_the_machine():
    name = the_wheel().name
    assert name.startswith(f"pfstat-{VERSION}-py3-none-manylinux")
    assert name.endswith(f"_{os.uname().machine}.whl")


def test_it_has_pfdrive_its_types_and_the_license():
    with zipfile.ZipFile(the_wheel()) as wheel:
        program = wheel.getinfo("pfstat/bin/pfdrive")
        assert program.external_attr >> 16 & 0o111
        names = wheel.namelist()
    modules = {f"pfstat/{path.name}" for path in (TREE / "python/pfstat").glob("*.py")}
    assert modules <= set(names) and "pfstat/py.typed" in names
    assert f"pfstat-{VERSION}.dist-info/licenses/LICENSE" in names


def test_its_metadata_has_the_version_and_the_maintainers():
    """The project has no address in the network, so none is named."""
    with zipfile.ZipFile(the_wheel()) as wheel:
        text = wheel.read(f"pfstat-{VERSION}.dist-info/METADATA").decode()
    metadata = email.parser.HeaderParser().parsestr(text)
    maintainers, = (line.split(":", 1)[1].strip()
                    for line in (TREE / "MAINTAINERS").read_text(encoding="utf-8").splitlines()
                    if line.startswith("M:"))
    assert (metadata["Version"], metadata["Author"]) == (VERSION, maintainers)
    assert pfstat.__version__ == VERSION
    assert "Programming Language :: Python :: 3" in metadata.get_all("Classifier")
    assert {"pandas>=1.5", "pyarrow>=14"} <= set(metadata.get_all("Requires-Dist"))


def test_pfdrive_is_a_command_of_the_environment(user):
    for command in ([user.program("pfdrive")], [user.python, "-m", "pfstat"]):
        done = user.run(*command, "--version")
        assert (done.returncode, done.stdout.split(",")[0]) == (0, f"pfdrive {VERSION}")
        done = user.run(*command, "report", "/nowhere")
        assert (done.returncode, done.stderr) == \
            (1, "pfdrive: cannot open /nowhere: No such file or directory\n")


def test_all_names_are_there_with_the_required_packages_only(user):
    """tqdm is not one of them, and a call requiring tqdm names the command to install it."""
    printed = user.script("""
import pydoc
import pfstat
from pfstat import *
listed = set(pfstat.__all__) <= set(dir(pfstat))
print(listed, "A recording's faults, one per row" in pydoc.render_doc(pfstat))
try:
    to_parquet("dataset", "run.pfs")
except ImportError as error:
    print(error)
""")
    assert printed.splitlines() == ["True True", "to_parquet() requires tqdm; run pip install "
                                    "'pfstat[parquet]'"]


def test_recording_and_the_verdict_need_no_package(user):
    """faults() names the command that installs what it requires."""
    assert user.script("""
import sys
import pfstat
print({"numpy", "pandas", "pyarrow"} & set(sys.modules))
sys.modules["pyarrow"] = None
try:
    pfstat.faults("run.pfs")
except ImportError as error:
    print(error)
""").splitlines() == ["set()", "faults() requires pyarrow; run pip install pandas pyarrow"]


def mypy(*words, folder):
    return subprocess.run([ENVIRONMENT / "bin/python", "-m", "mypy", "--strict", "--cache-dir",
                           BUILD / "wheel/mypy", *words], cwd=folder, check=False, text=True,
                          capture_output=True)


def test_the_package_passes_strict_type_checks():
    done = mypy("pfstat", folder=TREE / "python")
    assert done.returncode == 0, done.stdout


def test_a_caller_sees_the_types(tmp_path):
    (tmp_path / "caller.py").write_text(
        'import pfstat\n'
        'rows: int = len(pfstat.faults("run.pfs"))\n'
        'share: str = pfstat.verdict("run.pfs").share\n', encoding="utf-8")
    done = mypy("caller.py", folder=tmp_path)
    wrong, = (line for line in done.stdout.splitlines() if ": error:" in line)
    assert wrong.startswith("caller.py:3:") and 'expression has type "float | None"' in wrong

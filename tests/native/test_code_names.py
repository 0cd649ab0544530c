# SPDX-License-Identifier: GPL-2.0-only
"""Code names for programs in another root directory."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import pfstat

PAGES = 64
NAMED = r"\w+\+0x[0-9a-f]+ \(\S*/opt/native_faults\)"
pytestmark = [pytest.mark.needs(os.geteuid() == 0, "root, for chroot"),
              pytest.mark.parametrize("caller", ["root"], indirect=True)]


def libraries(program):
    """Files that a dynamically linked program needs."""
    return re.findall(r"(/\S+) \(0x", pfstat.run("ldd", program).stdout)


@pytest.fixture(name="root")
def fixture_root(caller, empty):
    """A separate root directory with the program."""
    program = caller.program("native_faults")
    for source, name in [(program, "opt/native_faults"),
                         *[(path, path.lstrip("/")) for path in libraries(program)]]:
        (empty / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, empty / name)
    return empty


@contextlib.contextmanager
def program_in(root):
    """It touches the pages when it gets a line."""
    process = subprocess.Popen(["chroot", root, "/opt/native_faults", "attached", "1", str(PAGES)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == f"ready {process.pid}\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def most_of(text):
    """The row for the code with most faults."""
    return max(pfstat.report_of(text)["groups"]["rows"], key=lambda row: row["faults"])


def has_opened(pid, path):
    """True if the process has this file open, under any name."""
    wanted = os.stat(path)
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(fd.stat(), wanted):
                return True
    return False


def record_code(caller, process, before_it_goes=lambda: None):
    with caller.recorder("-p", process.pid, "--by", "code", "--format", "json") as recorder:
        pfstat.wait_until(lambda: has_opened(recorder.pid, f"/proc/{process.pid}/exe"))
        before_it_goes()
        process.communicate("\n")
        text, messages = recorder.communicate(timeout=pfstat.PATIENCE)
    assert recorder.returncode == 0, messages
    return most_of(text)


def test_code_in_another_root_has_names(caller, root):
    """The mappings come from /proc, which shows paths from pfdrive's root."""
    with program_in(root) as process:
        row = record_code(caller, process)
    assert row["faults"] >= PAGES and re.fullmatch(NAMED, row["name"]), row


def test_code_of_a_command_in_another_root_has_names(caller, root):
    """Perf shows paths from the program's root."""
    report = caller.folder / "report.json"
    with caller.recorder("--by", "code", "--top", 0, "--json", report, "--", "chroot", root,
                         "/opt/native_faults", "attached", "1", PAGES) as recorder:
        assert recorder.stdout.readline().startswith("ready ")
        pfstat.wait_until(lambda: has_opened(recorder.pid, root / "opt/native_faults"))
        recorder.communicate("\n")
    assert recorder.returncode == 0
    row = most_of(report.read_text())
    assert row["faults"] >= PAGES and re.fullmatch(NAMED, row["name"]), row


def test_a_replaced_program_file_gives_no_names_of_the_new_one(caller, root):
    """The new file has the same path but was not executed, so none of the new names is correct."""
    def replace():
        shutil.copy("/bin/true", root / "opt/new")
        os.rename(root / "opt/new", root / "opt/native_faults")

    with program_in(root) as process:
        name = record_code(caller, process)["name"]
    with program_in(root) as process:
        again = record_code(caller, process, replace)["name"]
    assert re.fullmatch(NAMED, name) and again == name, again

# SPDX-License-Identifier: GPL-2.0-only
"""The make lab-image archive boots by the archive's own script, greets, measures, and keeps
files."""
import contextlib
import os
import pathlib
import re
import select
import subprocess
import time

import pytest

ARCHIVE = pathlib.Path(os.environ["PFSTAT_IMAGE"])
MOST_BYTES = 700 << 20
BOOT_SECONDS = 900      # ends a failed boot (a boot takes 10 to 60 s)
PROMPT = re.compile(rb"root@pfstat-lab:[^\n]*# $")


class Lab:
    """A lab, and the console text."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [folder / "start", "--accel", "tcg", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TERM": "dumb"})
        self.greeting = self.until_prompt()

    def until_prompt(self):
        """Returns the console text before the next prompt."""
        text, until = b"", time.monotonic() + BOOT_SECONDS
        while not PROMPT.search(text):
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert data, f"the lab ended or hangs: {text.decode(errors='replace')[-2000:]}"
            text += data
        return PROMPT.sub(b"", text).decode().replace("\r", "")

    def run(self, line):
        """Returns LINE's output."""
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        return self.until_prompt().split("\n", 1)[1].rstrip("\n")

    def exit(self):
        self.process.stdin.write(b"exit\n")
        self.process.stdin.flush()
        self.process.communicate(timeout=BOOT_SECONDS)
        assert self.process.returncode == 0


@contextlib.contextmanager
def booted(folder, *options):
    lab = Lab(folder, *options)
    try:
        yield lab
        lab.exit()
    finally:
        lab.process.kill()
        lab.process.wait()


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("image")
    subprocess.run(["tar", "-C", place, "-xf", ARCHIVE], check=True)
    return next(place.iterdir())


@pytest.fixture(name="lab", scope="module")
def fixture_lab(folder, tmp_path_factory):
    """A lab with the instruction clock, and with the file hello for --in."""
    given = tmp_path_factory.mktemp("in")
    (given / "hello").write_text("hello\n", encoding="ascii")
    with booted(folder, "--deterministic", "--discard", "--in", given) as lab:
        yield lab


def test_archive_is_small():
    assert ARCHIVE.stat().st_size <= MOST_BYTES


def test_lab_greets_with_four_lines(lab):
    what, first, labs, leave = lab.greeting.splitlines()[-4:]
    assert what.startswith("This is the pfstat lab: Linux 6")
    assert "pfdrive run" in first and "course/labs" in labs and "exit" in leave


def test_first_command_of_the_greeting_counts_as_in_the_documents(lab):
    """Documentation/examples/run.rst has these counts."""
    command = re.search(r"Try first: (.*)", lab.greeting)[1]
    report = lab.run(command)
    assert re.search(r"all faults +80 +16 ", report), report
    assert "Requests: 64 reads, 4.0 MiB" in report


def test_lab_has_a_compiler_and_swap(lab):
    assert "zram" in lab.run("cat /proc/swaps")
    assert "status 0" in lab.run("make -C course/labs/make_it_fast/skeleton; echo status $?")


def test_lab_has_the_labs_without_solutions(lab):
    assert "page_faults" in lab.run("ls course/labs")
    assert lab.run("find / -xdev -path '*course/instructor*' -o -name 'course_solutions*'") == ""


def test_lab_grades_a_submission_here(lab):
    answer = lab.run("course/grade --here --question statistics a course/labs/page_faults/skeleton")
    assert re.search(r"statistics +0 of +4", answer), answer


def test_files_go_in_and_out(folder, lab, tmp_path):
    assert lab.run("cat $IN/hello") == "hello"
    with booted(folder, "--discard", "--out", tmp_path / "out") as other:
        other.run("echo result >$OUT/result")
    assert (tmp_path / "out/result").read_text(encoding="ascii") == "result\n"


def test_root_keeps_files_until_the_next_start(folder, tmp_path):
    # QEMU locks a disk it may change, and others read the folder's disk.
    subprocess.run(["cp", "-r", "--sparse=always", folder, tmp_path / "copy"], check=True)
    with booted(tmp_path / "copy") as lab:
        lab.run("echo kept >/root/notes")
    with booted(tmp_path / "copy") as lab:
        assert lab.run("cat /root/notes") == "kept"


@pytest.mark.parametrize("options, sentence", [
    (["--nope"], "unknown option '--nope'"),
    (["--cpus", "x"], "--cpus takes a whole number, not 'x'"),
    (["--in", "/nope"], "--in takes a directory, not '/nope'"),
    (["--deterministic", "--accel", "kvm"], "--deterministic counts the instructions"),
])
def test_bad_options_are_refused(folder, options, sentence):
    result = subprocess.run([folder / "start", *options], capture_output=True, text=True,
                            check=False)
    assert (result.returncode, result.stdout) == (2, "") and sentence in result.stderr

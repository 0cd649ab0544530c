# SPDX-License-Identifier: GPL-2.0-only
"""record --exact: each first touch of a file page is a fault, for any user, through a library in the
watched programs."""
import ctypes
import os
import pathlib
import platform
import re
import stat
import struct

import pytest

import native
import pfstat

PAGES = 4096
STEP = 3577  # of first_touches
ORDER = [page * STEP % PAGES for page in range(PAGES)]
PT_INTERP = 3
# userfaultfd(2), ioctl(2)
NUMBERS = {"x86_64": (323, 16), "aarch64": (282, 29)}[platform.machine()]
UFFDIO_API = 0xc018aa3f


@pytest.fixture(name="file")
def fixture_file(caller):
    path = caller.new_file("exact.data", PAGES)
    yield path
    path.unlink()


def exact(caller, *command, **kwargs):
    return caller.record(*command, options=("--exact", *kwargs.get("options", ())))


def touches(caller, file, how, options=("--exact",)):
    return caller.record(caller.program("first_touches"), file, how, options=options)


def order(recording):
    """The touched pages of each range, in the order of the faults."""
    return [native.pages_of(recording.rows_of(touched), touched) for touched in recording.ranges]


def reach(recording):
    return recording.report()["exact"]


def test_each_first_touch_is_a_fault_in_order(caller, file):
    ordinary = touches(caller, file, "shared", ())
    assert len(order(ordinary)[0]) <= PAGES / 8
    assert not ordinary.report()["environment"]["exact"] and reach(ordinary) is None
    recording = touches(caller, file, "shared")
    assert order(recording) == [ORDER]
    assert recording.report()["environment"]["exact"]
    assert reach(recording) == {"programs": 1, "checked": 1, "not_reached": 0,
                                "not_reached_bytes": 0, "made_private": 1, "no_userfaultfd": 0, "closed": 0}
    text = recording.print()
    assert re.search(r"^Exact +each first touch of a file page is a fault.* 1 read-only shared "
                     r"mapping\s+made private$", text, re.MULTILINE | re.DOTALL)
    assert re.search(r"^Not exact +0 of 1 program starts; 0 file mappings", text, re.MULTILINE)
    assert not list(pathlib.Path("/tmp").glob("pfdrive-exact-*"))


@pytest.mark.parametrize("how", ["private", "moved", "closed", "raw", "forked"])
def test_each_first_touch_is_a_fault(caller, file, how):
    recording = touches(caller, file, how)
    assert order(recording) == [ORDER]
    assert reach(recording)["closed"] == (how == "raw")
    assert reach(recording)["not_reached"] == 0


def test_threads_that_map_at_once(caller, file):
    recording = touches(caller, file, "threads")
    assert len(recording.ranges) == 4
    for touched in recording.ranges:
        rows = [row for row in recording.rows_of(touched) if row["tid"] == str(touched.tid)]
        assert native.pages_of(rows, touched) == ORDER


MAPS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (....) \S+ \S+ \d+ +(/.*)?")


def file_mappings(smaps):
    """The start, the end and the resident pages of each file mapping of private memory."""
    for line in smaps.splitlines():
        words = MAPS.match(line)
        if words:
            start, end, mode, path = int(words[1], 16), int(words[2], 16), words[3], words[4]
        elif line.startswith("Rss:") and path and mode[3] == "p" and "pfdrive-exact" not in path:
            yield path, start, end, int(line.split()[1]) * 1024 // pfstat.PAGE


def test_a_dynamic_program_faults_on_each_page_that_it_has(caller):
    """Its resident pages are those that it touched: no fault mapped another."""
    script = caller.folder / "resident.py"
    script.write_text("import json, ssl, decimal, os\nos.environ.clear()\n"
                      "print(open('/proc/self/smaps').read())\n")
    smaps = caller.folder / "smaps"
    smaps.touch()
    os.chown(smaps, caller.folder.stat().st_uid, -1)
    recording = exact(caller, "/bin/sh", "-c", f"LC_ALL=C exec {native.PYTHON} {script} >{smaps}")
    faulted = {int(row["address"], 16) // pfstat.PAGE for row in recording.rows}
    resident = missed = 0
    for path, start, end, pages in file_mappings(smaps.read_text()):
        has = sum(start // pfstat.PAGE <= page < end // pfstat.PAGE for page in faulted)
        resident += pages
        missed += max(0, pages - has)
    script.unlink()
    smaps.unlink()
    assert resident > 1000 and missed <= resident / 100, (resident, missed)


def test_a_chain_of_programs(caller):
    script = ("import subprocess; subprocess.run(['/bin/true']); "
              "subprocess.run('env true; /bin/true | cat', shell=True)")
    recording = exact(caller, "/bin/sh", "-c", f"exec env {native.PYTHON} -c \"{script}\"")
    starts = 8  # sh, env, python3, true, sh, env, true, true, cat; the first is sh
    assert reach(recording)["programs"] == starts + 1
    assert f"0 of {starts + 1} program starts" in recording.print()


def test_programs_that_do_not_load_the_library_are_counted(caller):
    recording = exact(caller, "env", "-i", "/bin/sh", "-c", "/bin/true; /bin/true")
    assert reach(recording)["programs"] == 1
    assert re.search(r"^Not exact +3 of 4 program starts", recording.print(), re.MULTILINE)


def test_a_program_with_a_userfaultfd_of_its_own(caller):
    recording = caller.record_faults("handled", 64, options=("--exact",))
    touched, = recording.ranges
    assert len(recording.rows_of(touched)) == 64


def refused(caller, *command):
    return caller.refused(1, "record", "--source", "perf", "--exact", "--", *command)


def test_a_static_program_is_refused(caller):
    """A copy without the header that names ld.so."""
    program = caller.folder / "static"
    content = bytearray(pathlib.Path("/bin/true").read_bytes())
    offset, = struct.unpack_from("<Q", content, 32)
    size, number = struct.unpack_from("<HH", content, 54)
    for at in range(offset, offset + size * number, size):
        if struct.unpack_from("<I", content, at)[0] == PT_INTERP:
            struct.pack_into("<I", content, at, 0)
    program.write_bytes(content)
    program.chmod(0o755)
    script = caller.folder / "script"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    for command in (program, script):
        assert f"{program} is statically linked" in refused(caller, command)
    program.unlink()
    script.unlink()


def test_a_script_that_is_its_own_interpreter_ends_as_without_the_option(caller):
    script = caller.folder / "script"
    script.write_text(f"#!{script}\n")
    script.chmod(0o755)
    said = [caller.run("record", *options, "-o", caller.folder / "own.pfs", "--", script,
                       check=False) for options in ((), ("--exact",))]
    assert said[0].returncode == said[1].returncode != 0
    assert said[0].stderr == said[1].stderr
    script.unlink()


@pytest.mark.parametrize("caller", ["user"], indirect=True)
@pytest.mark.needs(os.geteuid() == 0, "root")
def test_a_set_user_id_program_is_refused(caller):
    program = caller.folder / "setuid"
    program.write_bytes(pathlib.Path("/bin/true").read_bytes())
    program.chmod(0o4755)
    assert program.stat().st_mode & stat.S_ISUID
    assert f"{program} is set-user-ID" in refused(caller, program)
    program.unlink()


def test_a_process_that_runs_already_is_refused(caller):
    message = caller.refused(2, "record", "--exact", "-p", "1")
    assert "--exact requires a COMMAND" in message


def without(number, error, argument=None):
    """A preexec_fn: the system call fails, if its second argument is this."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 3 if argument else 1, number)]
    if argument:
        code += [(0x20, 0, 0, 24), (0x15, 0, 1, argument)]
    code += [(0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in code))
    filter_ = struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(text))

    def install():
        assert not pfstat.LIBC.prctl(38, 1, 0, 0, 0)
        assert not pfstat.LIBC.prctl(22, 2, filter_, 0, 0), text
    return install


@pytest.mark.parametrize("filtered, reason", [
    ((NUMBERS[0], 1), "userfaultfd(2) is not available: Operation not permitted"),
    ((NUMBERS[1], 22, UFFDIO_API), "requires Linux 6.7 or later"),
])
def test_a_kernel_without_the_protection_is_refused(caller, filtered, reason):
    process = caller.run("record", "--source", "perf", "--exact", "--", "/bin/true",
                         preexec_fn=without(*filtered), check=False)
    assert process.returncode == 1 and process.stdout == ""
    assert process.stderr.startswith("pfdrive: cannot record --exact: ")
    assert reason in process.stderr and process.stderr.count("\n") == 1

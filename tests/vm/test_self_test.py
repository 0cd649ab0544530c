# SPDX-License-Identifier: GPL-2.0-only
"""The session the module tries when it is loaded (self_test=1, or by default on a kernel newer than
all in tools/kernels/list): it passes here, and if it fails the module is not loaded."""
import pathlib
import shutil

import pytest

import pfstat

KPROBES = pathlib.Path("/sys/kernel/debug/kprobes/enabled")


@pytest.fixture(autouse=True)
def unloaded():
    pfstat.unload()
    yield
    pfstat.load()


def insmod(*command):
    command = command or ("insmod",)
    return pfstat.run(*command, pfstat.MODULE, "self_test=1", check=False).returncode


def lines_of(kernel_log):
    return [line.partition("pfstat: ")[2] for line in kernel_log() if "pfstat: " in line]


def fails_with(reason, kernel_log, *command):
    assert insmod(*command)
    assert not pfstat.loaded() and not pfstat.DEBUGFS.exists()
    # busybox tries twice: insmod from the file, then from memory.
    assert {line for line in lines_of(kernel_log) if "self-test" in line} == \
        {f"the self-test failed: {reason}"}


def test_it_passes_and_leaves_the_recorder_idle(kernel_log, small_file):
    for _ in range(5):
        assert insmod() == 0
        assert lines_of(kernel_log)[-1:] == ["the self-test passed"]
        assert pfstat.targets().startswith("recorder none") and pfstat.hooked() == 0
        with pfstat.Mapping(small_file) as mapping, \
                pfstat.Session("fault_around off", f"file {mapping.fd()}"):
            mapping.read(0)
            assert pfstat.stats()["calls"] >= 1
        pfstat.unload()


def test_a_kernel_that_calls_no_probes_is_refused(kernel_log):
    """They can be registered, but are not armed."""
    KPROBES.write_text("0")
    try:
        fails_with("the loading process cannot be watched", kernel_log)
    finally:
        KPROBES.write_text("1")
    assert insmod() == 0


def test_without_a_file_on_a_disk_it_is_refused(kernel_log, tmp_path):
    program = tmp_path / "busybox"      # static, because /tmp is memory
    shutil.copy("/bin/busybox", program)
    fails_with("the loading process maps no file that can be wrapped; "
               "load the module from a file system on a disk", kernel_log, program, "insmod")

# SPDX-License-Identifier: GPL-2.0-only
"""Bad input: the documented errno, at most one line in the kernel log, no change of state."""
import errno
import os
import pathlib
import stat
import subprocess

import pytest

import pfstat
from pfstat import Mapping, Session


def pfstat_lines(kernel_log):
    return [line for line in kernel_log() if line.startswith("pfstat:")
            and "out-of-tree" not in line and "verification failed" not in line]


def name_of_error(number):
    """As the kernel prints it: a number without CONFIG_SYMBOLIC_ERRNAME."""
    has_names = pfstat.kernel_config().get("CONFIG_SYMBOLIC_ERRNAME") == "y"
    return f"-{errno.errorcode[number]}" if has_names else f"-{number}"


COMMANDS = ("pid, follow, file, only, fault_around, ring_size, mode, faults, handler, watch, "
            "ignore, stop or clear")


# Few lines: the module limits the message rate. test_command.c covers the parser.
@pytest.mark.parametrize("line, error, sentence", [
    ("frobnicate", errno.EINVAL, f"invalid command 'frobnicate'; use {COMMANDS}"),
    ("ring_size 1", errno.EINVAL,
     "invalid command 'ring_size 1'; use ring_size SIZE, from 4K to 1G"),
    pytest.param("x" * 4000, errno.EINVAL, f"invalid command '{'x' * 64}'; use {COMMANDS}",
                 id="a-long-word"),
    pytest.param("y" * 5000, errno.EOVERFLOW, None, id="a-write-too-long"),
    ("pid 4194303", errno.ESRCH, "'pid 4194303' failed: {name}"),
    ("pid 2", errno.EPERM, "'pid 2' failed: {name}"),   # kthreadd
    # The shell's file has no descriptors to look up.
    ("file 0", errno.EINVAL, "'file 0' failed: {name}"),
])
def test_control_refuses_bad_commands(line, error, sentence, kernel_log):
    before = pfstat.targets()
    with pytest.raises(OSError) as refusal:
        pfstat.control(line)
    assert refusal.value.errno == error
    assert pfstat.targets() == before
    text = sentence and "pfstat: " + sentence.replace("{name}", name_of_error(error))
    assert pfstat_lines(kernel_log) == ([text] if text else [])


def test_a_dead_pid_is_refused():
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(OSError) as refusal:
        pfstat.control(f"pid {child.pid}")
    assert refusal.value.errno == errno.ESRCH


def session_refuses(line):
    with Session() as session:
        with pytest.raises(OSError) as refusal:
            session.command(line)
        assert pfstat.hooked() == 0
    return refusal.value.errno


def test_session_refuses_closed_and_unmapped_descriptors(small_file):
    assert session_refuses("file 987654") == errno.EBADF
    with open(small_file) as unmapped:
        assert session_refuses(f"file {unmapped.fileno()}") == errno.ENOENT


def test_mappings_that_must_not_be_hooked_are_refused():
    tmpfs = pfstat.make_file("/dev/shm/pfstat-test", pfstat.PAGE)
    with Mapping(tmpfs) as mapping:
        assert session_refuses(f"file {mapping.fd()}") == errno.EOPNOTSUPP
    os.unlink(tmpfs)


def test_second_recorder_gets_ebusy_and_the_holder_is_named(kernel_log):
    with Session() as session:
        with pytest.raises(OSError) as refusal:
            Session()
        assert refusal.value.errno == errno.EBUSY
        with pytest.raises(OSError) as refusal:
            pfstat.control(f"pid {os.getpid()}")
        assert refusal.value.errno == errno.EBUSY
        assert pfstat.targets().splitlines()[0].startswith(f"recorder {os.getpid()} ")
        assert any(f"pid {os.getpid()}" in line for line in pfstat_lines(kernel_log))
        session.command("stop")


@pytest.mark.parametrize("switch", [
    "/sys/kernel/debug/kprobes/enabled",
    pytest.param("/proc/sys/kernel/ftrace_enabled", marks=pytest.mark.needs(
        not pfstat.ARM64, "kprobes that are ftrace's (x86-64)"))])
def test_a_session_is_refused_while_kprobes_are_disabled(switch, kernel_log):
    """Without the probes the module could not classify retried faults."""
    path = pathlib.Path(switch)
    path.write_text("0")
    try:
        with Session() as session:
            with pytest.raises(OSError) as refusal:
                session.command(f"pid {os.getpid()}")
        assert refusal.value.errno == errno.ENODEV
        assert any("kprobes are disabled" in line for line in pfstat_lines(kernel_log))
    finally:
        path.write_text("1")
    with Session() as session:
        session.command(f"pid {os.getpid()}")


def test_options_are_refused_once_a_target_is_watched(small_file):
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        with Session(f"file {mapping.fd()}") as session:
            for line in ("fault_around off", "ring_size 8K", "mode overwrite"):
                with pytest.raises(OSError) as refusal:
                    session.command(line)
                assert refusal.value.errno == errno.EBUSY


def test_rings_that_do_not_fit_are_refused_without_an_oom_kill(small_file, kernel_log):
    """The size is a CPU's share of all memory, or the largest accepted size."""
    fields = dict(line.split(":") for line in
                  pathlib.Path("/proc/meminfo").read_text().splitlines())
    share = int(fields["MemTotal"].split()[0]) // os.cpu_count()
    size = min(share, 1 << 20)      # KiB
    if size * os.cpu_count() < int(fields["MemAvailable"].split()[0]):
        pytest.fail("this machine has room for any ring: give it less memory or more CPUs")
    with Mapping(small_file) as mapping:
        with Session(f"ring_size {size}K") as session:
            with pytest.raises(OSError) as refusal:
                session.command(f"file {mapping.fd()}")
            assert refusal.value.errno == errno.ENOMEM
            assert pfstat.hooked() == 0
    assert not [line for line in kernel_log() if "Out of memory" in line]


def test_lines_before_a_bad_one_take_effect():
    with Session() as session:
        with pytest.raises(OSError):
            session.command("fault_around off\nbogus\nmode overwrite\n")
        assert "fault_around off, mode drop" in pfstat.targets()


def test_a_write_from_unmapped_memory_is_efault():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(pfstat.DEBUGFS / "control", os.O_WRONLY)
    assert libc.write(fd, ctypes.c_void_p(8), 16) == -1
    assert ctypes.get_errno() == errno.EFAULT
    os.close(fd)


def test_files_are_accessible_only_to_root():
    for name in ("log", "stats", "targets", "faults", "control", "session", "ring/cpu0"):
        mode = stat.S_IMODE(os.stat(pfstat.DEBUGFS / name).st_mode)
        assert mode & 0o177 == 0, (name, oct(mode))

# SPDX-License-Identifier: GPL-2.0-only
"""Every allocation of the module fails once: the result is a clean error or none, nothing is left
behind, and the same operation works afterwards. Only on kernels with fail-nth."""
import ctypes
import itertools
import mmap
import os
import pathlib
import subprocess
import time

import pytest

import failnth
import kmemleak
import pfstat
from pfstat import PAGE, Mapping, Session, Workload

pytestmark = pytest.mark.needs(failnth.available(),
                               "a kernel that fails when it is asked to (fail-nth)")

FILES = ("control", "session", "log", "stats", "targets", "faults", "ring/cpu0")


@pytest.fixture
def target(small_file):
    """A waiting process with one or two mappings, on a separate file system type."""
    workload = Workload("fork", small_file)
    yield workload
    workload.kill()


def idle():
    return pfstat.targets().startswith("recorder none") and pfstat.hooked() == 0


def counts_are_exact(path):
    """A normal session: each page is one call."""
    pfstat.warm(path)
    with Mapping(path) as mapping:
        with Session("fault_around off", "ring_size 64K", f"file {mapping.fd()}"):
            for page in range(256):
                assert mapping.read(page) == 0x5a
    head, records = pfstat.log()
    return head == {"records": 256, "here": 256, "lost": 0} and len(records) == 256


@pytest.mark.parametrize("parameters", (b"", b"self_test=1"))
def test_failed_insmod_leaves_nothing(small_file, parameters):
    """Loaded with all files, or not at all."""
    def check(err, _):
        assert pfstat.loaded() == (err == 0)
        assert pfstat.DEBUGFS.exists() == (err == 0)
        if not err:
            assert all((pfstat.DEBUGFS / name).exists() for name in FILES)
            assert len(os.listdir(pfstat.DEBUGFS / "ring")) == os.cpu_count()

    failures = failnth.each(failnth.below_function("do_one_initcall"),
                            lambda: failnth.insmod(parameters), check, begin=pfstat.unload)
    assert failures > 2 * len(FILES)        # an inode and a dentry each
    assert counts_are_exact(small_file)


@pytest.mark.parametrize("name", FILES)
def test_failed_open_leaves_nothing(name):
    opened = []

    def act():
        opened.append(os.open(pfstat.DEBUGFS / name, os.O_RDWR if name == "session" or
                              name.startswith("ring") else
                              os.O_WRONLY if name == "control" else os.O_RDONLY))

    def check(err, _):
        assert len(opened) == (err == 0)
        while opened:
            os.close(opened.pop())
        assert idle()

    assert failnth.each(failnth.EVERYWHERE, act, check) >= 1


@pytest.mark.parametrize("name", ("log", "stats", "targets", "faults"))
def test_failed_read_returns_no_partial_text(name, target):
    """ENOMEM or the full text, never a truncated text that looks complete."""
    buffer = bytearray(1 << 16)
    files = []
    pfstat.control(f"pid {target.pid}")
    text = (pfstat.DEBUGFS / name).read_bytes()
    got = []

    def begin():
        files.append(os.open(pfstat.DEBUGFS / name, os.O_RDONLY))

    def act():
        got.append(os.readv(files[0], [buffer]))

    def check(err, _):
        if not err:
            size = got.pop()
            while size < len(text):
                more = os.read(files[0], 1 << 16)
                assert more, "it ended too early"
                buffer[size:size + len(more)] = more
                size += len(more)
            assert name == "stats" or buffer[:size] == text
        os.close(files.pop())

    assert failnth.each(failnth.EVERYWHERE, act, check, begin) >= 1
    pfstat.control("stop")


def is_held():
    return "held           yes" in (pfstat.DEBUGFS / "faults").read_text()


def test_failed_faults_on_leaves_the_function_free():
    """And it can be taken afterwards."""
    sessions = []

    def begin():
        if sessions:
            sessions.pop().close()
        pfstat.unload()     # the module's tables stay until then
        pfstat.load()
        sessions.append(Session())

    def check(err, _):
        assert is_held() == (err == 0)
        sessions[0].command("faults off")
        sessions[0].command("faults on")
        assert is_held()

    assert failnth.each(failnth.EVERYWHERE, lambda: os.write(sessions[0].fd, b"faults on"),
                        check, begin) >= 3
    sessions.pop().close()


@pytest.mark.parametrize("command", ("follow {}",))
def test_failed_first_target_leaves_nothing(command, target, small_file):
    """With rings, probes and shadows: a session's complete start."""
    sizes = itertools.cycle(("8K", "12K"))      # existing rings are reused
    files, bounds = [], [0, 0]

    def begin():
        if files:
            os.close(files.pop())
            pfstat.control("stop")
        if not bounds[0] or pfstat.stats()["shadow_bytes"]:
            pfstat.unload()     # shadows are kept for the next session
            pfstat.load()
            bounds[:] = failnth.below_module()
        pfstat.control(f"ring_size {next(sizes)}")
        files.append(os.open(pfstat.DEBUGFS / "control", os.O_WRONLY))

    line = command.format(target.pid).encode()

    def check(err, _):
        assert idle() == bool(err)
        if not err:
            assert pfstat.hooked() > 3      # the program, the libraries, the file

    assert failnth.each(bounds, lambda: os.write(files[0], line), check, begin) > 10
    os.close(files.pop())
    pfstat.control("stop")
    assert counts_are_exact(small_file)
    target.finish()


@pytest.mark.parametrize("command", ("pid {}", "follow {}"))
def test_failed_further_target_changes_nothing(command, target, small_file):
    """Existing targets stay, and no process becomes a target in part."""
    with pfstat.mounted_disk("failing", 1000, features=()) as folder:
        other = Workload("fork", pfstat.make_file(folder / "other", 16 * PAGE))
        fd = os.open(pfstat.DEBUGFS / "control", os.O_WRONLY)
        line = command.format(other.pid).encode()
        before = []

        def begin():
            pfstat.control("stop")
            pfstat.control(f"pid {target.pid}")
            before[:] = [pfstat.targets()]

        def check(err, _):
            assert (pfstat.targets() == before[0]) == bool(err)

        assert failnth.each(failnth.below_module(), lambda: os.write(fd, line), check,
                            begin) >= 2
        os.close(fd)
        pfstat.control("stop")
        other.kill()


def test_failed_session_command_changes_nothing(small_file):
    """A program's session file. A failed command leaves the session unchanged."""
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        line = f"file {mapping.fd()}".encode()
        sessions = []

        def begin():
            while sessions:
                sessions.pop().close()
            assert idle()
            sessions.append(Session("ring_size 4K"))

        def check(err, _):
            assert pfstat.hooked() == (err == 0)
            assert mapping.read(3) == 0x5a

        failnth.each(failnth.below_module(), lambda: os.write(sessions[0].fd, line), check, begin)
        # All other allocations for the write.
        failnth.each(failnth.EVERYWHERE, lambda: os.write(sessions[0].fd, line), check, begin)
        sessions.pop().close()
    assert counts_are_exact(small_file)


@pytest.mark.parametrize("line", ("stop", "clear", "fault_around off"))
def test_commands_that_stop_or_set_work_without_memory(line, target):
    fd = os.open(pfstat.DEBUGFS / "control", os.O_WRONLY)

    def begin():
        pfstat.control("stop")
        if line != "fault_around off":
            pfstat.control(f"pid {target.pid}")

    def check(err, _):
        if line == "stop":
            assert idle() == (err == 0)

    assert failnth.each(failnth.EVERYWHERE, lambda: os.write(fd, line.encode()), check,
                        begin) >= 1
    os.close(fd)
    pfstat.control("stop")
    pfstat.control("fault_around keep")


def test_close_of_a_session_works_without_memory(small_file):
    """It cannot be refused."""
    pfstat.warm(small_file)
    with Mapping(small_file) as mapping:
        sessions = []

        def begin():
            sessions[:] = [Session("ring_size 4K", f"file {mapping.fd()}")]

        def check(err, _):
            assert err == 0 and idle()

        failnth.each(failnth.EVERYWHERE, lambda: sessions[0].close(), check, begin)


def test_failed_mmap_of_a_ring_leaves_nothing(target):
    pfstat.control(f"pid {target.pid}")
    mapped = []
    fd = os.open(pfstat.DEBUGFS / "ring/cpu0", os.O_RDWR)

    def act():
        mapped.append(pfstat.map_memory(fd, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                                        mmap.MAP_SHARED))

    def check(err, _):
        assert len(mapped) == (err == 0)
        while mapped:
            header = (ctypes.c_uint32 * 2).from_address(mapped[0])
            assert header[1] == 120         # bytes in a record
            pfstat.LIBC.munmap(ctypes.c_void_p(mapped.pop()), ctypes.c_size_t(2 * PAGE))

    assert failnth.each(failnth.EVERYWHERE, act, check) >= 2
    os.close(fd)
    pfstat.control("stop")


def test_a_fault_is_recorded_without_memory(small_file):
    """Below the wrapper the file system runs out of memory: read-ahead skips the page, or the
    kernel lets the program retry. The program reads correct data, and each call has a record."""
    with Mapping(small_file) as mapping:
        def begin():
            pfstat.LIBC.madvise(ctypes.c_void_p(mapping.address), ctypes.c_size_t(mapping.size),
                                mmap.MADV_DONTNEED)
            pfstat.drop_cache()
            session.command("clear")

        def check(err, failed):
            assert err == 0
            head, records = pfstat.log()
            assert head["records"] == head["here"] and head["here"] == len(records)
            assert records and pfstat.classes(records)["error"] <= int(failed)

        def act():
            assert mapping.read(100) == 0x5a

        with Session("fault_around off", f"file {mapping.fd()}") as session:
            assert failnth.each(failnth.below_module(), act, check, begin) >= 2


def test_fork_of_a_target_is_followed_or_counted(small_file):
    """The child is followed at once, or a moment later if an allocation failed and was counted."""
    pfstat.warm(small_file)
    own = failnth.Own()
    nth, failed = 0, True
    while failed:
        nth += 1
        with Mapping(small_file) as mapping, failnth.counted(failnth.below_module()), \
                Session(f"only {mapping.fd()}", "fault_around off", f"follow {os.getpid()}"):
            own.arm(nth)
            child = os.fork()
            if not child:
                os._exit(any(mapping.read(page) != 0x5a for page in range(256)))
            failed = own.disarm()
            assert os.waitpid(child, 0)[1] == 0
            assert all(mapping.read(page) == 0x5a for page in range(256))
            missed = pfstat.stats()["follow_missed"]
        head, records = pfstat.log()
        assert head["records"] == len(records)
        assert len(records) == 512 or (failed and missed and 256 <= len(records) < 512)
    own.close()
    assert nth > 2      # the child, the child's memory


def arm(pid, nth):
    failnth.path_of(pid).write_text(str(nth))


def is_over(pid):
    """The allocation was reached and failed."""
    return int(failnth.path_of(pid).read_text()) == 0


def program_is_hooked(pid):
    return any(line.startswith(f"vma pid {pid} ") and line.endswith("/workload")
               for line in pfstat.targets().splitlines())


def test_exec_of_a_target_is_hooked_or_counted(small_file):
    """The new program is hooked from the first mapping on, possibly a moment later. Allocations by
    the kernel's own checks below the module may also fail, which does not matter."""
    missed = 0
    with failnth.counted(failnth.below_module()):
        for nth in range(1, failnth.MOST):
            pfstat.control(f"follow {os.getpid()}")
            child = subprocess.Popen([pfstat.BUILD / "workload", "touch", small_file],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     preexec_fn=lambda nth=nth: arm(os.getpid(), nth))
            assert int(child.stdout.readline()) == child.pid
            failed = is_over(child.pid)
            pfstat.wait_until(lambda pid=child.pid: program_is_hooked(pid))
            assert failed or not pfstat.stats()["follow_missed"]
            missed += bool(pfstat.stats()["follow_missed"])
            child.communicate("\n")
            assert child.returncode == 0
            assert len(pfstat.of_file(pfstat.log()[1], small_file)) > 0
            pfstat.control("stop")
            if not failed:
                break
    assert nth > 1 and missed


def test_mmap_of_a_target_is_hooked_or_counted(small_file):
    """The new mapping is hooked at once or a moment later."""
    state, bounds, missed = {}, [0, 0], []
    fd = os.open(small_file, os.O_RDONLY)

    def end():
        if "address" in state:
            pfstat.LIBC.munmap(ctypes.c_void_p(state.pop("address")), ctypes.c_size_t(PAGE))
        if state:
            state.pop("session").close()

    def begin():
        end()
        pfstat.unload()     # including the shadows, otherwise nothing is allocated
        pfstat.load()
        bounds[:] = failnth.below_module()
        state["session"] = Session(f"only {fd}", f"pid {os.getpid()}")
        assert pfstat.hooked() == 0

    def act():
        state["address"] = pfstat.map_memory(fd, PAGE, mmap.PROT_READ, mmap.MAP_SHARED)

    def check(err, failed):
        assert err == 0
        pfstat.wait_until(lambda: pfstat.hooked() == 1)
        missed.append(bool(pfstat.stats()["follow_missed"]))
        assert failed or not missed[-1]

    try:
        assert failnth.each(bounds, act, check, begin) >= 1 and any(missed)
    finally:
        end()
        os.close(fd)


def test_rmmod_works_without_memory(target):
    """It cannot be refused: everything is released, and former targets run on."""
    def begin():
        pfstat.load()
        pfstat.control(f"pid {target.pid}")
        pfstat.control("stop")

    def check(err, _):
        assert err == 0 and not pfstat.loaded() and not pfstat.DEBUGFS.exists()
        assert "do_mmap" not in pathlib.Path("/sys/kernel/debug/kprobes/list").read_text()

    failnth.each(failnth.EVERYWHERE, failnth.rmmod, check, begin)
    target.finish()


def test_no_memory_leaked():
    pfstat.unload()
    time.sleep(1)
    assert kmemleak.scan() == ""

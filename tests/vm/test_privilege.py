# SPDX-License-Identifier: GPL-2.0-only
"""Privileges pfdrive has, drops or lacks, and other users' access."""
import contextlib
import ctypes
import errno
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess

import pytest

import pfstat
import users
from users import sudo, without

CLOEXEC = 0o2000000
# capabilities(7): user/privilege/privilege.c keeps these if root works for itself.
DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, KILL, SETGID, SETUID = 1, 2, 3, 5, 6, 7
SYS_PTRACE, PERFMON = 19, 38
KEPT = sum(1 << number for number in
           (DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, KILL, SETGID, SETUID, SYS_PTRACE, PERFMON))
KERNEL_ADDRESS = re.compile(r"\b(0x)?ffff[89a-f][0-9a-f]{11}\b")
PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
PARAMETERS = pathlib.Path("/sys/module/pfstat/parameters")
# A program printing its own properties as JSON. ls opens the listed folder.
LOOK = """import json, os
print(json.dumps({"ids": os.getresuid() + os.getresgid(), "groups": os.getgroups(),
    "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
    "status": open("/proc/self/status").read(), "environment": dict(os.environ)}))"""


@pytest.fixture(name="home", scope="module")
def fixture_home():
    with users.user() as home:
        yield home


def look(options, home):
    """The properties of a command under `sudo pfdrive record`, and the recording's report as
    JSON."""
    recording = home / "run.pfs"
    seen = json.loads(sudo(pfstat.PFDRIVE.absolute(), "record", "-o", recording, *options, "--",
                           "python3", "-c", LOOK).stdout)
    seen["capabilities"] = int(re.search(r"CapEff:\s*(\w+)", seen["status"])[1], 16)
    seen["file"] = recording.stat()
    seen["report"] = pfstat.report(recording)
    recording.unlink()
    return seen


def refused(result):
    """The single message with which pfdrive failed."""
    assert result.returncode == 1 and result.stdout == "", result
    assert result.stderr.startswith("pfdrive") and result.stderr.count("\n") == 1, result.stderr
    return result.stderr


@contextlib.contextmanager
def watching():
    """A recording pfdrive, and the pid."""
    process = pfstat.begin_record("-o", "/dev/null", "--", "sleep", "600")
    try:
        # The command is released when all threads run and privileges are dropped.
        pfstat.wait_until(lambda: [pathlib.Path(f"/proc/{pid}/comm").read_text()
                                   for pid in pfstat.children(process.pid)] == ["sleep\n"])
        yield process.pid
    finally:
        for pid in pfstat.children(process.pid):
            os.kill(pid, signal.SIGKILL)    # otherwise the command would run on
        process.communicate()


def test_a_command_under_sudo_runs_as_the_caller(home):
    seen = look([], home)
    assert seen["ids"] == [users.UID] * 3 + [users.GID] * 3
    assert sorted(seen["groups"]) == [users.GID, users.EXTRA_GID]
    assert seen["capabilities"] == 0
    assert seen["environment"]["HOME"] == str(home)
    assert seen["environment"]["USER"] == users.NAME
    assert not [name for name in seen["environment"] if name.startswith("SUDO_")]
    # The standard three, and the one that listdir() opened.
    assert seen["fds"] == [0, 1, 2, 3]
    # Changing the user causes faults, but not in the command: the counts add up.
    assert seen["report"]["ledger"]["unexplained"] == 0
    assert seen["report"]["parts"]["all"]["count"] > 100
    # The recording belongs to the caller and is private.
    assert (seen["file"].st_uid, seen["file"].st_gid) == (users.UID, users.GID)
    assert stat.S_IMODE(seen["file"].st_mode) == 0o600


def test_command_runs_as_root_on_request(home):
    seen = look(["--user", "root"], home)
    assert seen["ids"] == [0] * 6
    everything = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text())
    assert seen["capabilities"] == (1 << (everything + 1)) - 1
    assert seen["file"].st_uid == 0
    assert stat.S_IMODE(seen["file"].st_mode) == 0o600


def test_output_respects_the_permissions_of_the_caller(home, tmp_path):
    tmp_path.chmod(0o755)
    result = sudo(pfstat.PFDRIVE.absolute(), "record", "-o", tmp_path / "run.pfs", "--", "touch",
                  home / "ran", check=False)
    assert f"Permission denied, as user {users.NAME}" in refused(result)
    assert not list(tmp_path.iterdir()) and not (home / "ran").exists()


def test_a_command_that_only_root_may_execute_is_refused(home):
    script = home / "roots"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    result = sudo(pfstat.PFDRIVE.absolute(), "record", "-o", "/dev/null", "--", script,
                  check=False)
    assert result.returncode == 126
    assert f"cannot run {script}: Permission denied, as user {users.NAME}" in result.stderr


@pytest.mark.parametrize("options, status, words", [
    (["--user", "nobody-at-all"], 2, "there is no user 'nobody-at-all'"),
    (["--user", "4000000000"], 2, "there is no user '4000000000'"),
])
def test_an_invalid_user_is_refused(options, status, words):
    result = pfstat.run(pfstat.PFDRIVE, "record", *options, "--", "true", check=False)
    assert result.returncode == status and words in result.stderr, result
    assert result.stderr.count("\n") == 1


def test_only_root_chooses_another_user():
    result = pfstat.run(pfstat.PFDRIVE, "record", "--user", "daemon", "--", "true", check=False,
                        user=65534, group=65534, extra_groups=[])
    assert result.returncode == 2 and "only root can work for another" in result.stderr


def test_malformed_ids_of_sudo_are_refused():
    result = pfstat.run(pfstat.PFDRIVE, "record", "--", "true", check=False,
                        env={**os.environ, "SUDO_UID": "0x10", "SUDO_GID": "1"})
    assert "SUDO_UID '0x10'" in refused(result)


def test_helpers_of_pfdrive_also_run_as_the_caller(home, small_file):
    """`study rss` starts a process which maps and touches. The process must still read its own page
    frames.
    """
    trace = home / "trace"
    caller = {"SUDO_UID": str(users.UID), "SUDO_GID": str(users.GID)}
    text = pfstat.run("strace", "-f", "-o", trace, "-e", "trace=setresuid,setresgid,setgroups",
                      pfstat.PFDRIVE, "study", "rss", "--no-bpf", "--format", "json", small_file,
                      env={**os.environ, **caller}).stdout
    calls = trace.read_text()
    assert f"setresuid({users.UID}, {users.UID}, {users.UID})" in calls
    assert f"setresgid({users.GID}, {users.GID}, {users.GID})" in calls
    assert json.loads(text)["steps"]


def users_of_competitors(pid):
    for child in pfstat.children(pid):
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{child}/status").read_text()
            if status.startswith("Name:\tcompetitor"):     # the name is set after the user
                yield int(re.search(r"Uid:\s*(\d+)", status)[1])


def test_competitors_run_as_the_caller(home):
    # Enough accesses to leave time for a look at all processes.
    command = [pfstat.PFDRIVE, "study", "pressure", "--no-bpf", "--map", "anon", "--size", "8M",
               "--accesses", "2M", "--compete", "8M", "--memory-limit", "64M"]
    caller = {"SUDO_UID": str(users.UID), "SUDO_GID": str(users.GID)}
    seen = set()
    with subprocess.Popen(command, env={**os.environ, **caller}, cwd=home, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            seen.update(users_of_competitors(process.pid))
        assert process.returncode == 0, process.stderr.read()
    assert seen == {users.UID}


def test_descriptors_close_on_exec_and_privileges_are_dropped():
    with watching() as pid:
        flags = {}
        for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
            with contextlib.suppress(FileNotFoundError):    # closed in the meantime
                flags[int(info.name)] = int(re.search(r"flags:\s*(\d+)", info.read_text())[1], 8)
        threads = [int(re.search(r"CapPrm:\s*(\w+)", (task / "status").read_text())[1], 16)
                   for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    assert len(flags) > 20
    assert [fd for fd, bits in flags.items() if fd > 2 and not bits & CLOEXEC] == []
    assert len(threads) >= 2 and set(threads) == {KEPT}


@pytest.mark.parametrize("lacking, options, words", [
    ("-perfmon,-sys_admin", ["--source", "module"], "requires CAP_PERFMON"),
    ("-bpf,-sys_admin", ["--source", "module"], "load the eBPF programs without CAP_BPF"),
])
def test_a_missing_privilege_is_named(lacking, options, words):
    assert words in refused(without(lacking, pfstat.PFDRIVE, "record", *options, "--", "true"))


def test_process_of_another_user_needs_a_privilege(home):
    sleeper = subprocess.Popen(["sleep", "600"], user=users.UID, group=users.GID,
                               extra_groups=[], cwd=home)
    command = [pfstat.PFDRIVE, "record", "-o", "/dev/null", "--no-bpf", "-d", "0.1", "-p",
               str(sleeper.pid)]
    try:
        # 7.x shows the mappings of a process with CAP_PERFMON, too, without which access is denied.
        shown = without("-sys_ptrace", "cat", f"/proc/{sleeper.pid}/maps").returncode == 0
        assert shown == (pfstat.KERNEL > (6, 12))
        if shown:
            assert without("-sys_ptrace", *command).returncode == 0
        else:
            assert "without CAP_SYS_PTRACE" in refused(without("-sys_ptrace", *command))
        assert pfstat.run(*command).returncode == 0
    finally:
        sleeper.kill()
        sleeper.wait()


def test_file_of_another_user_needs_a_privilege(home):
    theirs = pfstat.make_file(home / "theirs", 8 * pfstat.PAGE)
    theirs.chmod(0o600)
    os.chown(theirs, users.UID, users.GID)
    command = [pfstat.PFDRIVE, "--no-bpf", "--accesses", "1", theirs]
    result = without("-dac_override,-dac_read_search", *command)
    assert f"cannot read {theirs}: permission denied" in refused(result)
    assert without("-dac_override", *command).returncode == 0


def test_missing_privilege_to_load_modules_is_reported():
    pfstat.unload()
    result = without("-sys_module", "insmod", pfstat.MODULE)
    assert result.returncode == 1 and "Operation not permitted" in result.stderr
    assert not pfstat.loaded()
    assert "insmod" in refused(pfstat.run(pfstat.PFDRIVE, "record", "--source", "module", "--",
                                          "true", check=False))


def test_command_does_not_run_as_root_if_setuid_fails():
    result = without("-setuid", "env", f"SUDO_UID={users.UID}", f"SUDO_GID={users.GID}",
                     pfstat.PFDRIVE, "record", "--", "id")
    assert "without CAP_SETUID" in refused(result)


def test_capabilities_suffice_without_root(home):
    """As setcap(8) gives them to an installed pfdrive."""
    program = shutil.copy(pfstat.PFDRIVE, home / "pfdrive")
    user = {"user": users.UID, "group": users.GID, "extra_groups": [], "cwd": home}
    record = [program, "record", "--source", "ebpf", "--format", "json", "--", "true"]
    result = pfstat.run(*record, check=False, **user)
    assert "without CAP_PERFMON and CAP_BPF" in refused(result)
    pfstat.run("setcap", "cap_perfmon,cap_bpf+ep", program)
    before = PARANOID.read_text()
    try:
        PARANOID.write_text("2")
        result = pfstat.report_of(pfstat.run(*record, **user).stdout)
        PARANOID.write_text("3")            # in Debian's kernels: the capability does not suffice
        assert "CAP_SYS_ADMIN" in refused(pfstat.run(*record, check=False, **user))
    finally:
        PARANOID.write_text(before)
    assert result["ledger"]["unexplained"] == 0
    assert sum(row["count"] or 0 for row in result["classes"].values()) > 0
    assert result["syscalls"]


@pytest.mark.parametrize("folder", [pfstat.DEBUGFS, pfstat.DEVICES])
def test_root_of_a_user_namespace_is_denied(folder):
    files = ["control", "session", "log", "stats", "targets", "ring/cpu0"]
    opened = pfstat.run("unshare", "--user", "--map-root-user", "python3", "-c", f"""
import os
for name in {files!r}:
    flags = os.O_WRONLY if name in ("control", "session") else os.O_RDONLY
    try:
        os.open(os.path.join("{folder}", name), flags)
        print(name, 0)
    except OSError as error:
        print(name, error.errno)
""").stdout
    assert opened.splitlines() == [f"{name} {errno.EPERM}" for name in files]
    result = pfstat.run("unshare", "--user", "--map-root-user", pfstat.PFDRIVE, "record",
                        "--source", "module", "--", "true", check=False)
    assert "refuses processes in a user namespace" in refused(result)


@pytest.mark.parametrize("value", ["0", "91", "-1", "half", "", "4294967297"])
def test_a_parameter_out_of_range_is_refused_by_name(value, kernel_log):
    pfstat.unload()
    result = pfstat.run("insmod", pfstat.MODULE, f"ring_limit={value}", check=False)
    assert result.returncode == 1 and not pfstat.loaded()
    lines = [line for line in kernel_log() if "ring_limit" in line]
    assert len(lines) == 1 and f"`{value}' invalid for parameter `ring_limit'" in lines[0]


def test_rings_take_at_most_their_share_of_memory():
    pages = os.sysconf("SC_PHYS_PAGES")
    size = pages * pfstat.PAGE // 25 // os.cpu_count() // 4096 * 4096    # 4 %
    for limit, fits in (("1", False), ("5", True)):
        pfstat.unload()
        pfstat.run("insmod", pfstat.MODULE, f"ring_limit={limit}")
        assert (PARAMETERS / "ring_limit").read_text() == limit + "\n"
        result = pfstat.run(pfstat.PFDRIVE, "record", "--no-bpf", "-o", "/dev/null",
                            "--ring-size", str(size), "--", "true", check=False)
        if fits:
            assert result.returncode == 0, result.stderr
            assert size <= pfstat.stats()["ring_bytes"] // os.cpu_count() < size + 3 * pfstat.PAGE
        else:
            assert "cannot allocate the module's rings" in refused(result)
            assert pfstat.stats()["ring_bytes"] == 0
    pfstat.unload()


def readable_by_all(folder):
    for path in pathlib.Path(folder).rglob("*"):
        if not path.is_symlink() and path.is_file() and path.stat().st_mode & stat.S_IROTH:
            yield path


def test_no_kernel_address_is_readable_by_all(small_file, kernel_log):
    with pfstat.Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}"):
        mapping.read(0)
        read = 0
        for path in readable_by_all("/sys/module/pfstat"):
            with contextlib.suppress(OSError):
                assert not KERNEL_ADDRESS.search(path.read_bytes().decode("latin-1")), path
                read += 1
        assert read > 5
        # Root's own files have program addresses, but no kernel addresses.
        for name in ("log", "stats", "targets"):
            assert not KERNEL_ADDRESS.search((pfstat.DEBUGFS / name).read_text()), name
    assert (PARAMETERS / "ring_limit").stat().st_mode & 0o077 == 0
    assert not [line for line in kernel_log() if KERNEL_ADDRESS.search(line)]


# Faults on a page in the argument file in a session of its own. Prints the `log` frames, and the
# `session` text.
SESSION = """
import mmap, os, sys
debugfs, path = sys.argv[1:]
fd = os.open(path, os.O_RDONLY)
memory = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
session = os.open(debugfs + "/session", os.O_RDWR)
os.write(session, b"file %d" % fd)
memory[0]
def attempt(action):
    try:
        return action()
    except OSError as error:
        return error.errno
lines = open(debugfs + "/log").read().splitlines()
column = lines[1].split().index("pfn") - 1
print([line.split()[column] for line in lines[2:]])
print(attempt(lambda: os.read(session, 64).decode()))
"""


def frames_and_wrapper(result):
    assert result.returncode == 0, result.stderr
    frames, wrapper = result.stdout.splitlines()[:2]
    return [frame for frame in json.loads(frames.replace("'", '"')) if frame != "-"], wrapper


def test_page_frames_need_cap_sys_admin(small_file):
    command = ["python3", "-c", SESSION, pfstat.DEBUGFS, small_file]
    frames, wrapper = frames_and_wrapper(pfstat.run(*command))
    assert frames and wrapper.startswith("wrapper 0x")
    # A process that may load eBPF sees an address, but no frame.
    frames, wrapper = frames_and_wrapper(without("-sys_admin", *command))
    assert not frames and wrapper.startswith("wrapper 0x")
    frames, wrapper = frames_and_wrapper(without("-sys_admin,-bpf", *command))
    assert not frames and wrapper == str(errno.EPERM)


def test_frames_of_a_privileged_session_stay_hidden_from_others(small_file):
    reader = ["python3", "-c", f"""
import ctypes, os
lines = open("{pfstat.DEBUGFS}/log").read().splitlines()
column = lines[1].split().index("pfn") - 1
print(sorted(set(line.split()[column] for line in lines[2:])))
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
fd = os.open("{pfstat.DEBUGFS}/ring/cpu0", os.O_RDONLY)
print(libc.mmap(None, 4096, 1, 1, fd, 0) == ctypes.c_void_p(-1).value, ctypes.get_errno())
"""]
    with pfstat.Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}"):
        mapping.read(0)
        mapping.read(100)
        frames, ring = without("-sys_admin", *reader).stdout.splitlines()
        assert frames == "['-']" and ring == f"True {errno.EPERM}"
        frames, ring = pfstat.run(*reader).stdout.splitlines()
        assert "0x" in frames and ring == "False 0"


@pytest.mark.parametrize("words", [
    (), pytest.param(("faults",), marks=pytest.mark.needs(
        not pfstat.ARM64, "the module's count of all faults (x86-64)"))])
def test_frames_do_not_pass_through_a_ring_that_must_not_have_them(words):
    """A process without CAP_SYS_ADMIN looks at the records while they are stored."""
    path = pfstat.make_file(pfstat.DISK / "spied", 256 * pfstat.PAGE)
    assert pfstat.run(pfstat.BUILD / "frame_spy", path, *words).stdout == "0\n"


def test_ring_of_a_session_holds_no_kernel_address(small_file):
    with pfstat.Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}"):
        mapping.read(0)
        fd = os.open(pfstat.DEBUGFS / "ring/cpu0", os.O_RDONLY)
        address = pfstat.map_memory(fd, pfstat.PAGE, mmap.PROT_READ, mmap.MAP_SHARED)
        words = (ctypes.c_uint64 * (pfstat.PAGE // 8)).from_address(address)
        assert words[0] and not [hex(word) for word in words if KERNEL_ADDRESS.search(hex(word))]
        pfstat.LIBC.munmap(address, pfstat.PAGE)
        os.close(fd)


def test_a_symlink_at_the_pin_path_is_not_followed(tmp_path):
    """All users may write to bpffs, unless it is mounted otherwise."""
    victim = tmp_path / "precious"
    victim.write_text("keep me")
    pfstat.run("ln", "-s", tmp_path, pfstat.PINS, user=65534, group=65534, extra_groups=[])
    try:
        result = pfstat.run(pfstat.PFDRIVE, "record", "--source", "ebpf", "--", "true",
                            check=False)
        assert victim.read_text() == "keep me"
        assert f"cannot pin the eBPF maps under {pfstat.PINS}" in refused(result)
    finally:
        pfstat.PINS.unlink()

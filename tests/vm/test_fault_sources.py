# SPDX-License-Identifier: GPL-2.0-only
"""eBPF alone records the same file operation calls as the module."""
import collections
import json
import os
import pathlib
import subprocess

import pytest

import filesystems
import pfstat

MIB = 1 << 20
AROUND = pathlib.Path("/sys/kernel/debug/fault_around_bytes")
# A frame is unknown to eBPF. The durations contain a part of each source's own.
SAME = ("op", "class", "address", "pgoff", "dev", "inode", "result", "order")
WRITE = 1

EXPERIMENTS = {
    "random-cold": ("--pattern", "random", "--cache", "cold"),
    "random-warm": ("--pattern", "random", "--cache", "warm"),
    "sequential": ("--pattern", "sequential", "--cache", "cold"),
    "stride-4K": ("--pattern", "stride:4K", "--cache", "cold"),
    "stride-256K": ("--pattern", "stride:256K", "--cache", "cold"),
}


@pytest.fixture
def without_module():
    pfstat.unload()
    yield
    pfstat.load()


@pytest.fixture
def single_pages():
    """eBPF cannot disable fault-around for one program, so it is disabled for all."""
    before = AROUND.read_text()
    AROUND.write_text(str(pfstat.PAGE))
    yield
    AROUND.write_text(before)


def counts(result):
    return {name: row["count"] for name, row in result["classes"].items() if row["count"]}


@pytest.mark.deterministic
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_has_the_same_counts_without_the_module(name, single_pages):
    path = pfstat.make_file(pfstat.DISK / "sources.bin", 16 * MIB)
    module, bpf = (pfstat.drive("--source", source, *EXPERIMENTS[name], path)
                   for source in ("module", "ebpf"))
    assert module["environment"]["source"] == "module"
    assert bpf["environment"]["source"] == "ebpf"
    assert bpf["lost"] == 0
    assert bpf["calls"] == module["calls"] == sum(counts(bpf).values())
    assert bpf["faults"] == module["faults"]
    assert bpf["ledger"]["unexplained"] == 0, bpf["ledger"]
    # Whether a read is still in flight when the page is touched depends on the pace.
    met = [counts(result).get("wait", 0) + counts(result).get("readahead", 0)
           for result in (module, bpf)]
    assert met[0] == met[1]
    for other in ("disk", "short", "long", "around", "pass", "mkwrite", "raced", "error"):
        assert counts(bpf).get(other, 0) == counts(module).get(other, 0), other


def dump(recording):
    """A recording's records, in the form of pfstat.log() for the module's."""
    lines = subprocess.run([pfstat.BUILD / "records_dump", recording], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    names = lines[0].lstrip("# ").split()
    return [pfstat.parse_record(names, line.split()) for line in lines[1:]]


def by_thread(records):
    threads = collections.defaultdict(list)
    for record in records:
        threads[record["tid"]].append(record)
    return {tid: sorted(calls, key=lambda call: call["start_ns"])
            for tid, calls in threads.items()}


def facts(record):
    """Without p: the thread may lose the CPU between the starts of the two sources."""
    return record["facts"].replace("p", "-")


def flags(record):
    """The kernel calls page_mkwrite() with other flags than those of the fault, which the module
    knows only if it counts all faults."""
    return record["flags"] & WRITE if record["op"] == "page_mkwrite" else record["flags"]


def is_within(inner, outer):
    return outer["start_ns"] <= inner["start_ns"] and \
        inner["start_ns"] + inner["duration_ns"] <= outer["start_ns"] + outer["duration_ns"]


def pairs(calls, of_bpf):
    """Each of a thread's calls by the module, with the same one by eBPF or None. One source's call
    encloses the other's."""
    others = collections.deque(of_bpf)
    for call in calls:
        found = others and (is_within(call, others[0]) or is_within(others[0], call))
        yield call, others.popleft() if found else None
    assert not others, others[0]


def differences(module, bpf):
    """Both sources' calls, thread by thread. What follows a skipped call is not compared."""
    assert bpf.keys() <= module.keys()
    for tid, calls in module.items():
        skipped = set()
        for of_module, of_bpf in pairs(calls, bpf.get(tid, ())):
            if of_bpf is None or of_module["earlier_ns"] in skipped:
                skipped.add(of_module["start_ns"])
            if of_bpf is None:
                yield "skipped", of_module, {}
            if of_module["start_ns"] in skipped:
                continue
            for name in SAME:
                if of_module[name] != of_bpf[name]:
                    yield name, of_module, of_bpf
            if flags(of_module) != flags(of_bpf):
                yield "flags", of_module, of_bpf
            if facts(of_module) != facts(of_bpf) or \
                    bool(of_module["earlier_ns"]) != bool(of_bpf["earlier_ns"]):
                yield "facts", of_module, of_bpf


# Threads, fork, execve, strides, shared and private writes, two writers at a time, then a
# truncation.
PROGRAM = """
cold() { sync; echo 3 > /proc/sys/vm/drop_caches; }
cold; $workload same $file 8
cold; $workload apart $file 4
cold; echo | $workload fork $file
cold; echo | $workload exec $file
cold; $workload strided $file 16
cold; $touch $file read $(seq 0 3 255)
cold; $touch $file private $(seq 0 5 255) drop=5 5
cold; $touch $file write $(seq 0 63) drop=9 9 & $touch $file write $(seq 255 -1 32) & wait
$touch $file read $(seq 256 7 511) $(seq 0 63)
cold; $touch $file read 5 cut=2 5 0
"""


def both(tmp_path, path, program=PROGRAM):
    """All calls recorded by both sources for one run of a shell program, and how many eBPF programs
    the kernel skipped meanwhile, if these may be programs at faults."""
    recording = tmp_path / "run.pfs"
    words = {"file": path, "workload": pfstat.BUILD / "workload",
             "touch": pfstat.BUILD / "touch_pages"}
    shell = subprocess.Popen(["sh", "-c", "read line;" + program], stdin=subprocess.PIPE, text=True,
                             stdout=subprocess.DEVNULL,
                             env={name: str(word) for name, word in words.items()})
    process = pfstat.begin_record("--source", "ebpf", "--ring-size", "16M", "-o", recording,
                                  "-p", shell.pid)
    assert process.poll() is None, process.communicate()
    pfstat.control("ring_size 16M")
    pfstat.control(f"follow {shell.pid}")
    shell.communicate("\n", timeout=pfstat.PATIENCE)
    _, errors = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, errors
    head, records = pfstat.log()
    pfstat.control("stop")
    assert head["lost"] == 0
    assert ", 0 lost, " in errors
    skipped = pfstat.report(recording)["events_skipped"] if pfstat.may_skip_faults() else 0
    return records, dump(recording), skipped


# With the program for a fault's start, eBPF loses the calls map_pages, fault and page_mkwrite.
CALLS_OF_FAULT = 3

# Only the module records calls to these operations.
OF_MODULE = ("huge_fault", "pfn_mkwrite")


def without_huge_faults(records):
    """As if the kernel had not tried a huge page first: a link to such a call leads past it."""
    links = {(r["tid"], r["start_ns"]): r["earlier_ns"] for r in records if r["op"] in OF_MODULE}
    kept = [dict(r) for r in records if r["op"] not in OF_MODULE]
    for record in kept:
        while (record["tid"], record["earlier_ns"]) in links:
            record["earlier_ns"] = links[record["tid"], record["earlier_ns"]]
    return kept


RACES = {("wait", "readahead"), ("readahead", "wait"), ("lock", "wait"), ("readahead", "lock"),
         ("short", "around")}


def is_race(name, of_module, of_bpf):
    """eBPF looks the page up when the call begins, the module when the call waits: between the two
    another thread may have begun to read the page, ended it, or moved the read-ahead mark. The retry
    after such a call is short or not, as the call before it."""
    return name == "class" and (of_module.get("class"), of_bpf.get("class")) in RACES


def compare(tmp_path, path, *others, program=PROGRAM):
    """The module's calls for these files, if both sources recorded the same."""
    *recorded, skipped = both(tmp_path, path, program)
    inodes = {os.stat(file).st_ino for file in (path, *others)}
    module, bpf = ([record for record in records if record["inode"] in inodes]
                   for records in recorded)
    found = list(differences(by_thread(without_huge_faults(module)), by_thread(bpf)))
    races = [difference for difference in found if is_race(*difference)]
    assert len(races) <= len(module) / 1000, (len(races), races[:3])
    missing = [difference for difference in found if difference[0] == "skipped"]
    assert len(missing) <= CALLS_OF_FAULT * skipped, (skipped, len(missing), missing[:3])
    found = [difference for difference in found
             if not is_race(*difference) and difference[0] != "skipped"]
    assert not found, (len(found), found[:3])
    return module


def assert_varied(records):
    """The run was long enough that a difference could be seen."""
    assert len(records) > 1000
    assert len({record["tid"] for record in records}) > 16
    assert {record["op"] for record in records} == {"fault", "map_pages", "page_mkwrite"}
    assert {"disk", "around", "mkwrite", "error"} <= {record["class"] for record in records}


def file_system(name):
    return pytest.mark.needs(name in filesystems.here(), name)


@pytest.mark.parametrize("name", [pytest.param(name, marks=file_system(name))
                                  for name in ("ext4", "xfs", "btrfs", "nfs")])
def test_both_sources_record_the_same_calls(name, tmp_path):
    with filesystems.mounted(name) as place:
        path = place.file("both", 1024)
        module = compare(tmp_path, path)
        assert_varied(without_huge_faults(module))
        # XFS has no huge pages: such a call solves nothing, and another one follows.
        assert {record["class"] for record in module if record["op"] in OF_MODULE} <= {"pass"}


@pytest.mark.needs(filesystems.has_module("fuse"), "FUSE")
def test_both_sources_record_the_same_calls_of_fuse(tmp_path):
    with filesystems.fuse() as place:
        filesystems.Place("ext4", place.below, None).file("both", 1024)
        assert_varied(compare(tmp_path, place.folder / "both"))


@file_system("overlay")
def test_both_sources_record_the_same_calls_of_an_overlay(tmp_path):
    """A write copies the file up: mappings from then on belong to another file."""
    with filesystems.overlay() as place:
        below = filesystems.Place("ext4", place.below / "lower", None)
        lower = below.file("both", 1024)
        place.unmount()
        place.mount()
        path = place.folder / "both"
        compared = compare(tmp_path, path, lower, place.below / "upper/both")
        assert_varied(compared)
        assert len({record["inode"] for record in compared}) == 2


def faults_of(recording, path, name):
    """A file's faults in a recording, with this class."""
    lines = pfstat.run(pfstat.PFDRIVE, "report", "-f", "faults-jsonl", recording).stdout
    rows = map(json.loads, lines.splitlines())
    return [row for row in rows if row["file"] == str(path) and row["class"] == name]


@pytest.mark.needs(filesystems.has_persistent_memory(),
                   "memory that is taken for persistent: tools/lab run --pmem")
def test_both_sources_count_the_same_faults_of_dax(tmp_path):
    """A fault mapping a huge page leaves no record with eBPF, and is counted by kind."""
    with filesystems.dax() as place:
        path = place.folder / "both"
        path.write_bytes(b"".join(map(filesystems.page_of, range(1024))))
        module = compare(tmp_path, path, program="""
            $touch $file read $(seq 0 1023)
            $touch $file write $(seq 0 7 1023)
            $touch $file private $(seq 0 9 1023)
            $touch $file read 5 cut=2 5 0
        """)
        assert {"fault", "huge_fault"} <= {record["op"] for record in module}
        huge = [r for r in module if r["op"] in OF_MODULE and r["class"] != "pass"]
        assert len(faults_of(tmp_path / "run.pfs", path, "file")) == len(huge)
        path.unlink()


@pytest.fixture(name="in_memory")
def fixture_in_memory(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    pfstat.run("mount", "-t", "tmpfs", "tmpfs", folder)
    yield pfstat.make_file(folder / "file.bin", 64 * pfstat.PAGE)
    pfstat.run("umount", folder)


def test_faults_of_tmpfs_are_counted_and_leave_no_records(in_memory, tmp_path):
    recording = tmp_path / "run.pfs"
    pfstat.record(pfstat.BUILD / "touch_pages", in_memory, "write", *range(64),
                  options=("--source", "ebpf", "-o", recording))
    result = pfstat.report(recording)
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    assert len(faults_of(recording, in_memory, "file")) == 64
    inode = os.stat(in_memory).st_ino
    assert not [record for record in dump(recording) if record["inode"] == inode]


def test_fault_around_off_requires_the_module():
    command = ("record", "--source", "ebpf")
    assert "--fault-around off requires the module" in \
        pfstat.refused(2, *command, "--fault-around", "off", "true")
    assert "--source ebpf requires eBPF" in pfstat.refused(2, *command, "--no-bpf", "true")


def test_recording_without_the_module_states_its_source(without_module, tmp_path):
    path = pfstat.make_file(tmp_path / "file.bin", 64 * pfstat.PAGE)
    recording = tmp_path / "run.pfs"
    pfstat.record("cat", path, options=("-o", recording))   # the default then
    result = pfstat.report(recording)
    assert result["environment"]["source"] == "ebpf"
    assert result["calls"] > 0
    assert result["lost"] == 0
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    text = pfstat.run(pfstat.PFDRIVE, "report", recording).stdout
    assert text.startswith("Measured with eBPF, without the pfstat module: page frames are not known")
    assert "Source eBPF, without the pfstat module; adds " in " ".join(text.split())


@pytest.mark.parametrize("command", [
    ("check", "--max-major", "100000", "--", "true"),
    ("top", "-i", "0.2", "--", "sleep", "0.5"),
], ids=lambda command: command[0])
def test_other_commands_state_the_source(command, without_module):
    lines = pfstat.run(pfstat.PFDRIVE, *command).stdout.splitlines()
    assert "measured with eBPF, without the pfstat module" in lines[:2]


def test_a_second_measurement_is_refused_with_both_sources():
    program = subprocess.Popen(["sleep", "1000"])
    process = pfstat.begin_record("--source", "ebpf", "-p", program.pid)
    try:
        for source in ("ebpf", "module"):
            assert "another pfdrive measures with eBPF" in \
                pfstat.refused(1, "record", "--source", source, "true")
    finally:
        program.kill()
        program.wait()
        process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0

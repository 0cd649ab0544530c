# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive study rss: the effect of mapping a file, and touching bytes in it, on a process."""
import json
import os

import pytest

import pfstat
import users

# The study's numbers are for this size.
pytestmark = pytest.mark.needs(pfstat.PAGE == 4096, "pages of 4 KiB")

PAGES = 2442
SIZE = 10_000_000	# the study's file: 10 MB


@pytest.fixture(scope="module", name="path")
def make_path():
    return pfstat.make_file(pfstat.DISK / "touched", SIZE)


def touch(*arguments):
    result = pfstat.run("pfdrive", "study", "rss", "--format", "json", *arguments)
    return json.loads(result.stdout)


def grown(steps, what):
    return [after[what] - before[what] for before, after in zip(steps, steps[1:])]


def check_sizes(steps):
    """Holds for any page cache and fault-around: the study's two columns."""
    assert grown(steps, "virtual_bytes") == [PAGES * pfstat.PAGE] + [0] * (len(steps) - 2)
    assert grown(steps, "resident_bytes")[0] == 0
    assert steps[1]["nr_faults"] == 0
    pages = grown(steps, "mapped_pages")
    assert grown(steps, "resident_bytes") == [count * pfstat.PAGE for count in pages]
    # One fault for each step that mapped pages, none for the others.
    assert [step["nr_faults"] for step in steps[1:]] == [int(count > 0) for count in pages]


def test_each_byte_maps_one_page_without_fault_around(path):
    run = touch("--fault-around", "off", path)
    steps = run["steps"]
    check_sizes(steps)
    assert [step["mapped_pages"] for step in steps] == [0, 0, 1, 2]
    first, second = steps[2]["faults"][0], steps[3]["faults"][0]
    assert (first["class"], first["page"], first["major"]) == ("disk", 0, True)
    # Read-ahead has read byte 10000's page together with byte 0's.
    assert (second["class"], second["page"], second["major"]) == ("long", 2, False)
    assert first["ns"] > 100_000	# disk latency
    assert run["lost"] == 0 and run["bpf_missing"] is None


@pytest.mark.smoke
def test_fault_around_maps_its_window(path):
    steps = touch("--cache", "warm", path, "0", "10000", "5000000", "9999999")["steps"]
    check_sizes(steps)
    # 64 KiB around the page. The file ends with page 2441, within 2432 to 2447.
    assert [step["mapped_pages"] for step in steps] == [0, 0, 16, 16, 32, 42]
    assert [fault["class"] for step in steps for fault in step["faults"]] == ["around"] * 3


def outcome(run):
    """The steps without the process's times and sizes."""
    return [(step["step"], step["mapped_pages"],
             [(fault["class"], fault["page"], fault["major"], fault["attempts"])
              for fault in step["faults"]]) for step in run["steps"]]


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_both_fault_sources_report_the_same_faults(path, cache):
    module = touch("--cache", cache, path)
    pfstat.unload()
    ebpf = touch("--cache", cache, path)
    assert (module["environment"]["source"], ebpf["environment"]["source"]) == ("module", "ebpf")
    assert ebpf["lost"] == 0 and ebpf["bpf_missing"] is None
    assert sum(step["nr_faults"] for step in ebpf["steps"]) > 0
    assert outcome(ebpf) == outcome(module)
    assert "eBPF, without the pfstat module" in pfstat.run("pfdrive", "study", "rss", path).stdout


def test_fault_around_off_requires_the_module(path):
    pfstat.unload()
    assert "is not loaded" in pfstat.refused(1, "study", "rss", "--fault-around", "off", path)


@pytest.fixture(name="others_file")
def fixture_others_file():
    """Another user's file, readable by all."""
    path = pfstat.make_file(pfstat.DISK / "others", 4 * pfstat.PAGE)
    os.chown(path, users.UID, users.GID)
    path.chmod(0o644)
    yield path
    path.unlink()


@pytest.mark.parametrize("command", [("study", "rss"), ("--accesses", "10")])
def test_file_without_visible_cache_state_is_refused(others_file, command):
    result = users.without("-fowner,-dac_override", pfstat.PFDRIVE, *command, others_file)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"pfdrive: cannot look up the pages of {others_file} in the page " \
        "cache: the kernel reports them only to the file's owner and to those who may write to " \
        "it; run as root\n"


@pytest.mark.parametrize("command", [("study", "rss"), ("--accesses", "10")])
def test_missing_privilege_is_reported_before_other_errors(others_file, command):
    nobody = "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"
    result = pfstat.run(*nobody, pfstat.PFDRIVE, *command, others_file, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert "requires root" in result.stderr and "cache" not in result.stderr


@pytest.mark.parametrize("command", [("study", "rss"), ("--accesses", "10")])
def test_a_tmpfs_is_refused_by_name(command):
    path = pfstat.make_file("/dev/shm/no-disk", 4 * pfstat.PAGE)
    try:
        said = pfstat.refused(1, *command, path)
    finally:
        path.unlink()
    assert said == f"pfdrive: {path} is on a tmpfs, which has no disk; use a file on one\n"


def test_table_has_steps_and_faults(path):
    text = pfstat.run("pfdrive", "study", "rss", "--no-bpf", path).stdout
    assert "n/a (--no-bpf was given)" in text
    lines = text.split("\n\n", 1)[1].splitlines()
    assert [line.split()[0] for line in lines] == ["Step", "start", "mmap", "byte", "byte"]
    assert "none: mmap reserves addresses only" in lines[2]
    assert "disk (major) of page 0" in lines[3]

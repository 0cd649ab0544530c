# SPDX-License-Identifier: GPL-2.0-only
"""A process's memory map, with resident and hooked mappings."""
import mmap
import os
import pathlib
import re
import subprocess

import pytest

import pfstat


def show_maps(pid):
    return pfstat.report_of(pfstat.run(pfstat.PFDRIVE, "maps", "--format", "json", "-p",
                                       pid).stdout)


def of_kind(maps, kind):
    return [line for line in maps["maps"] if line["kind"] == kind]


def test_map_of_a_drive_shows_the_file_as_hooked_and_resident(small_file):
    maps = pfstat.drive("--with", "maps", "--pattern", "sequential", small_file)["maps"]
    measured, = of_kind(maps, "measured")
    assert measured["path"] == str(small_file) and measured["rights"] == "r--s"
    assert measured["bytes"] == measured["resident_bytes"] == 256 * pfstat.PAGE
    assert [line for line in maps["maps"] if line["hooked"]] == [measured]
    cpus = len(list((pfstat.DEBUGFS / "ring").iterdir()))
    assert len(of_kind(maps, "pfstat_ring")) == cpus
    assert len(of_kind(maps, "bpf")) >= 2       # the consumer and the producer part
    assert len(of_kind(maps, "thread_stack")) == 1      # the ring reader
    for kind in ("heap", "stack", "vdso", "vvar"):
        assert of_kind(maps, kind), kind
    assert any(line["path"] == maps["program"] for line in of_kind(maps, "text"))
    assert sum("libc.so" in (line["path"] or "") for line in of_kind(maps, "text")) == 1


def test_map_shows_half_of_a_file_as_resident(small_file):
    maps = pfstat.drive("--with", "maps", "--fault-around", "off", "--pattern", "sequential",
                        "--accesses", 128 * pfstat.PAGE, small_file)["maps"]
    measured, = of_kind(maps, "measured")
    # On a file system with large folios, one fault maps a folio.
    assert 128 * pfstat.PAGE <= measured["resident_bytes"] < 256 * pfstat.PAGE


def test_map_matches_the_kernels():
    with subprocess.Popen(["sleep", "1000"]) as process:
        pfstat.wait_until(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith("/sleep"))
        pfstat.wait_until(lambda: "nanosleep" in
                          pathlib.Path(f"/proc/{process.pid}/wchan").read_text())
        maps = show_maps(process.pid)
        lines = pathlib.Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        process.kill()
    assert len(maps["maps"]) == len(lines)
    for line, shown in zip(lines, maps["maps"]):
        begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        assert int(shown["address"]) == int(begin, 16)
        assert shown["bytes"] == int(end, 16) - int(begin, 16)
        assert shown["rights"] == rights
        assert shown["explanation"] and shown["hooked"] is False
    resident = sum(line["resident_bytes"] for line in maps["maps"]
                   if line["kind"] not in ("vdso", "vvar", "vsyscall"))
    # The kernel's own counters may lag by some pages for each CPU.
    counted = int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024
    assert abs(resident - counted) <= 64 * 4 * pfstat.PAGE


def test_advice_of_a_mapping_is_shown(small_file):
    with open(small_file, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        data.madvise(mmap.MADV_RANDOM, 0, 128 * pfstat.PAGE)
        lines = [line for line in show_maps(os.getpid())["maps"]
                 if line["path"] == str(small_file)]
    assert [line["explanation"] for line in lines] == [
        f"mapped file: {small_file}; MADV_RANDOM: no read-ahead", f"mapped file: {small_file}"]


def test_hooked_mappings_are_shown_until_they_are_unhooked(small_file):
    with pfstat.Mapping(small_file) as mapping:
        with pfstat.Session(f"file {mapping.fd()}"):
            line, = [line for line in show_maps(os.getpid())["maps"] if line["hooked"]]
            assert line["path"] == str(small_file) and line["kind"] == "file"
            assert line["address"] == mapping.address
        assert not [line for line in show_maps(os.getpid())["maps"] if line["hooked"]]


def test_hooked_mappings_are_unknown_without_the_module():
    pfstat.unload()
    assert {line["hooked"] for line in show_maps(os.getpid())["maps"]} == {None}


def test_the_map_of_a_kernel_thread_is_refused():
    assert "kernel thread" in pfstat.refused(1, "maps", "-p", "2")


def test_map_of_another_user_is_refused():
    assert "permission denied" in pfstat.refused(1, "maps", "-p", "1", user=65534, group=65534,
                                                 extra_groups=[])

# SPDX-License-Identifier: GPL-2.0-only
"""eBPF programs and maps as bpftool shows them while pfdrive runs, compared with the page about
them."""
import json
import pathlib
import re
import signal
import subprocess

import pytest

import pfstat

TOP = pathlib.Path(__file__).parents[2]
PAGE = TOP / "Documentation/internals/bpftool.rst"
STATS = "make bpf-stats"
HOLD_FAULTS = pathlib.Path("/sys/module/pfstat/parameters/hold_faults")


@pytest.fixture(name="pfdrive")
def fixture_pfdrive(small_file):
    """A pfdrive making accesses and already an eBPF target, which counts all faults."""
    HOLD_FAULTS.write_text("N")
    process = subprocess.Popen([pfstat.PFDRIVE, "--accesses", "100G", small_file],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pfstat.wait_until(lambda: pfstat.makes_accesses(process.pid))
    yield process
    process.kill()
    process.communicate()
    HOLD_FAULTS.write_text("Y")


def bpftool(*words):
    return json.loads(pfstat.run("bpftool", "-j", *words).stdout)


def examples():
    """[(command, output lines)] in the page."""
    found = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("    # "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
    return found


def documented_names(text):
    """The text with the names of programs as on the page's kernel. Additional programs for a kernel
    with preemption do the same as these, the name of a function may begin with "__",
    userfaultfd_read_iter() has this name since 6.10, and on_note may be several programs."""
    text = re.sub(r"\b(on_\w+)_kprobe\b", r"\1", text)
    text = re.sub(r"\b(on_\w+)_inner", r"\1", text)
    text = re.sub(r"\bon_(huge_(access|migration|write)|migration|numa_fault|userfault_wait)\b",
                  "on_note", text)
    return re.sub(r"\bon_userfault_read\b", "on_userfault_read_iter", text)


def shape(line):
    """A line with the figures replaced."""
    line = re.sub(r"\b[0-9a-f]{16}\b", "H", documented_names(line))
    line = re.sub(r"\d+", "0", line)
    return " ".join(re.sub(r"0(,0)+", "0", line).split())


def documented_figures():
    """{kernel: {program: figures}} in the page, as `make bpf-stats` prints them."""
    tables, table = {}, None
    for line in dict(examples())[STATS]:
        words = line.split()
        if line.startswith("-- kernel "):
            table = tables[words[2]] = {}
        elif line.startswith("on_"):
            table[words[0]] = [int(word) for word in words[1:]]
    return tables


def test_programs_and_maps_are_readable_by_bpftool_while_it_runs(pfdrive):
    dump = bpftool("map", "dump", "pinned", str(pfstat.PINS / "targets"))
    assert [entry["formatted"]["key"] for entry in dump] == [pfdrive.pid]
    names = {program.get("name") for program in bpftool("prog", "show")}
    assert {"on_sched_switch", "on_sys_enter", "on_sys_exit"} <= names
    pfdrive.send_signal(signal.SIGINT)
    out, _ = pfdrive.communicate(timeout=pfstat.PATIENCE)
    assert pfdrive.returncode == 130 and out == ""
    assert not pfstat.PINS.exists()
    assert pfstat.hooked() == 0
    # The kernel frees them after a grace period.
    pfstat.wait_until(lambda: not {program.get("name") for program in bpftool("prog", "show")} &
                      names - {None})


@pytest.mark.long
def test_commands_of_the_page_print_the_documented_output(pfdrive):
    assert pfdrive.poll() is None
    commands = [(command, shown) for command, shown in examples()
                if command != STATS and not command.endswith("&")]
    assert len(commands) >= 15
    for command, shown in commands:
        result = subprocess.run(["bash", "-c", command], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=pfstat.PATIENCE, check=False)
        assert result.returncode == 0, (command, result.stdout)
        printed = {shape(line) for line in result.stdout.splitlines()}
        missing = [line for line in shown if line != "…" and shape(line) not in printed]
        assert shown and not missing, (command, missing, result.stdout)


def test_page_lists_every_pinned_object(pfdrive):
    assert pfdrive.poll() is None
    names = {documented_names(path.name)
             for path in pfstat.PINS.iterdir() if not path.name.endswith("_again")}
    assert names == set(dict(examples())["ls /sys/fs/bpf/pfstat"])


@pytest.fixture(name="stats", scope="module")
def fixture_stats():
    """What tools/bpf-stats prints on this kernel."""
    return pfstat.run(TOP / "tools/bpf-stats", pfstat.BUILD.resolve() / "pfstat.bpf.o").stdout


def test_programs_for_missing_functions_have_no_figures(stats):
    functions = {line.split()[2] for line in
                 pathlib.Path("/proc/kallsyms").read_text().splitlines()}
    for program, function in (("on_swap_cache_delete", "__delete_from_swap_cache"),
                              ("on_swap_cache_del_folio", "__swap_cache_del_folio"),
                              ("on_swap_read_page", "swap_readpage"),
                              ("on_swap_read_folio", "swap_read_folio")):
        assert (f"\n{program} " in stats) == (function in functions), program


@pytest.mark.needs(pfstat.KERNEL_NAME in documented_figures() and not pfstat.KMEMLEAK.exists()
                   and not pfstat.ARM64, "a kernel of x86-64 whose figures the page has")
def test_programs_have_the_documented_size(stats):
    """Within a tenth, otherwise correct the page or make the programs smaller."""
    documented = documented_figures()[pfstat.KERNEL_NAME]
    names = [line.split()[0] for line in stats.splitlines()[1:]]
    assert names == list(documented)
    for line in stats.splitlines()[1:]:
        name, *figures = line.split()
        for figure, said in zip(map(int, figures), documented[name]):
            assert abs(figure - said) <= max(said // 10, 8), (name, figures, documented[name])
        assert int(figures[0]) <= 2150 and int(figures[1]) <= 256

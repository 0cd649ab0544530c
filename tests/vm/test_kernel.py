# SPDX-License-Identifier: GPL-2.0-only
"""The build probes this kernel correctly, and refuses unsupported kernels."""
import pathlib
import shutil
import subprocess

import pytest

import pfstat

TOP = pathlib.Path(__file__).parents[2]
CHECK_PROBES = TOP / "tools/check-probes"


PERCPU_MOST = 2048      # bytes (all modules together have 8 KiB: PERCPU_MODULE_RESERVE)


def test_the_module_takes_little_of_the_static_memory_of_each_cpu():
    lines = pfstat.run("objdump", "--section-headers", pfstat.MODULE).stdout.splitlines()
    sizes = [int(words[2], 16) for words in map(str.split, lines)
             if len(words) > 2 and words[1].startswith(".data..percpu")]
    assert 0 < sum(sizes) <= PERCPU_MOST, sizes


def said_yes():
    return pfstat.run("modinfo", "-F", "probes", pfstat.MODULE).stdout.split()


def check_probes(*words):
    return pfstat.run(CHECK_PROBES, pfstat.KERNEL_NAME, *words, check=False)


def test_probes_match_the_list_for_this_kernel():
    """For each probe there is a kernel with the answer yes and one with the answer no."""
    result = check_probes(*said_yes())
    assert (result.returncode, result.stdout) == (0, ""), result.stdout


def test_a_probe_that_differs_from_the_list_is_named():
    said = said_yes()
    lost = said.pop()
    result = check_probes(*said, "never_heard_of")
    assert result.returncode == 1
    assert set(result.stdout.splitlines()) == {f"{lost}: this kernel is known to say yes",
                                               "never_heard_of: this kernel is known to say no"}


def test_a_probe_with_one_answer_on_all_kernels_is_named(tmp_path):
    """In a list of three kernels, of which one answers as its release."""
    (tmp_path / "tools/kernels").mkdir(parents=True)
    (tmp_path / "module/probes").mkdir(parents=True)
    shutil.copy(CHECK_PROBES, tmp_path / "tools")
    for probe in ("told_apart", "always", "never", "forgotten"):
        (tmp_path / f"module/probes/{probe}.c").touch()
    (tmp_path / "tools/kernels/list").write_text(
        "1 1 - - - - - - always -\n"
        "2 2 - - - - - - always,told_apart always,told_apart\n"
        "like_2 2 - - - - - - release release\n")
    for kernel in "2", "like_2":
        result = pfstat.run(tmp_path / "tools" / CHECK_PROBES.name, kernel, "told_apart", "always",
                            check=False)
        assert result.returncode == 1
        assert result.stdout.splitlines() == [
            "always: no kernel is known that says no",
            "forgotten: no kernel is known that says yes",
            "never: no kernel is known that says yes"]


@pytest.mark.parametrize("arch, answer", [("x86-64", "yes"), ("arm64", "no")])
def test_each_architecture_has_its_own_answers(arch, answer):
    """Linux 6.12 has pcpu_hot on x86-64 only."""
    said = {"vma_lock", "module_memory", "file_user_inode", "ftrace_direct_ops",
            "ftrace_regs_argument", "pcpu_hot"}
    if answer == "yes":
        said.remove("pcpu_hot")
    result = pfstat.run("env", f"LAB_ARCH={arch}", CHECK_PROBES, "6.12", *said, check=False)
    assert result.stdout == f"pcpu_hot: this kernel is known to say {answer}\n"


@pytest.mark.parametrize("version, refused", [
    ("5.19", True), ("6.0", True), ("6.1", False), ("6.12", False), ("7.3", False)])
def test_a_kernel_too_old_is_refused_by_name(version, refused):
    lines = [line for line in kbuild(version)[0] if "pfstat is for Linux" in line]
    if refused:
        line, = lines
        assert f"headers of {version}.9-other" in line
        assert not any("pfstat is for Linux" in line for line in kbuild(version, "UNTRIED=yes")[0])
    else:
        assert not lines


NEWEST = {"file_user_inode", "ftrace_direct_ops", "ftrace_regs_argument", "memdesc_flags",
          "module_memory", "vma_lock"}


@pytest.mark.parametrize("version", ("7.4", "10.1"))
@pytest.mark.parametrize("answers, differ", [
    (NEWEST, ""), (NEWEST - {"vma_lock"}, "vma_lock"), (NEWEST | {"pcpu_hot"}, "pcpu_hot"),
    (set(), " ".join(sorted(NEWEST)))])
def test_a_newer_kernel_is_tried_if_the_probes_answer_as_on_the_newest(version, answers, differ,
                                                                       tmp_path):
    lines, flags = kbuild(version, f"CC={compiler(tmp_path, answers)}")
    line, = (line for line in lines if "pfstat was tested up to Linux 7.3" in line)
    assert f"the headers of {version}.9-other" in line
    assert ("***" in line) == bool(differ)
    if differ:
        assert f"these probes otherwise: {differ} (UNTRIED=yes" in line
        lines, flags = kbuild(version, f"CC={compiler(tmp_path, answers)}", "UNTRIED=yes")
        assert not any("***" in line and "pfstat" in line for line in lines)
    assert "-DPFSTAT_NEWER=1" in flags      # self_test is on, see test_self_test.py


def test_a_tested_kernel_is_not_newer():
    assert "-DPFSTAT_NEWER=0" in kbuild("7.3")[1]


SUITABLE = {f"CONFIG_{name}": "y" for name in
            ("X86_64", "KPROBES", "KRETPROBES", "TRACEPOINTS", "DEBUG_FS")}


def kbuild(version, *settings):
    """Kbuild's statements about a kernel, and the compiler's flags for main.c."""
    major, minor = version.split(".")
    # CC=false: this test must not run the compiler.
    result = subprocess.run(
        ["make", "-pn", "-f", TOP / "Kbuild", f"VERSION={major}", f"PATCHLEVEL={minor}",
         f"KERNELRELEASE={version}.9-other", f"src={TOP}", "CC=false",
         *(f"{name}={set_to}" for name, set_to in SUITABLE.items()), *settings],
        text=True, capture_output=True, timeout=pfstat.PATIENCE, check=False)
    flags = [line for line in result.stdout.splitlines() if line.startswith("CFLAGS_module/main.o")]
    return result.stderr.splitlines(), " ".join(flags)


def compiler(folder, answers):
    """A compiler that succeeds with these probes only."""
    script = folder / "cc"
    script.write_text('#!/bin/sh\nfor last; do :; done\n'
                      'last=${last##*/}\ncase " ' + " ".join(sorted(answers)) +
                      ' " in *" ${last%.c} "*) ;; *) exit 1 ;; esac\n')
    script.chmod(0o755)
    return script


ARM64 = {"CONFIG_X86_64": "", "CONFIG_ARM64": "y"}


@pytest.mark.parametrize("changes, reason", [
    ({"CONFIG_X86_64": ""}, "pfstat is for x86-64 and for little-endian arm64"),
    (ARM64 | {"CONFIG_CPU_BIG_ENDIAN": "y"}, "pfstat is for x86-64 and for little-endian arm64"),
    (ARM64 | {"PATCHLEVEL": "1"}, "pfstat is for Linux 6.12 to 7.3"),
    ({"CONFIG_KPROBES": ""}, "pfstat needs CONFIG_KPROBES, which"),
    ({"CONFIG_KRETPROBES": ""}, "pfstat needs CONFIG_KRETPROBES, which"),
    ({"CONFIG_PREEMPT_RT": "y"}, "with PREEMPT_RT"),
    (ARM64, None),
    ({}, None)])
def test_an_unsuitable_kernel_is_refused_in_one_sentence(changes, reason):
    config = {"VERSION": "6", "PATCHLEVEL": "12"} | SUITABLE | changes
    result = subprocess.run(
        ["make", "-n", "-f", TOP / "Kbuild", f"src={TOP}", "CC=false",
         *(f"{name}={set_to}" for name, set_to in config.items())],
        text=True, capture_output=True, timeout=pfstat.PATIENCE, check=False)
    refusals = [line for line in result.stderr.splitlines() if "pfstat" in line and "***" in line]
    if reason:
        line, = refusals
        assert reason in line
    else:
        assert not refusals

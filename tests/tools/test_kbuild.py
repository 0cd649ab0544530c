# SPDX-License-Identifier: GPL-2.0-only
"""Kbuild refuses unsupported kernels, and tools/check-probes names answers that are not listed."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).parents[2]
CHECK_PROBES = TOP / "tools/check-probes"
NEWEST = {"file_user_inode", "ftrace_direct_ops", "ftrace_regs_argument", "memdesc_flags",
          "module_memory", "vma_lock"}
SUITABLE = {f"CONFIG_{name}": "y" for name in
            ("X86_64", "KPROBES", "KRETPROBES", "TRACEPOINTS", "DEBUG_FS")}
ARM64 = {"CONFIG_X86_64": "", "CONFIG_ARM64": "y"}


def run(*command, **environment):
    # The variables of a make that runs the tests are not for this one.
    inherited = {name: value for name, value in os.environ.items()
                 if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          env=inherited | environment, timeout=60, check=False)


def kbuild(version, *settings):
    """Kbuild's statements about a kernel, and the compiler's flags for main.c."""
    major, minor = version.split(".")
    # CC=false: this test must not run the compiler.
    result = run("make", "-pn", "-f", TOP / "Kbuild", f"VERSION={major}", f"PATCHLEVEL={minor}",
                 f"KERNELRELEASE={version}.9-other", f"src={TOP}", "CC=false",
                 *(f"{name}={value}" for name, value in SUITABLE.items()), *settings)
    flags = [line for line in result.stdout.splitlines() if line.startswith("CFLAGS_module/main.o")]
    return result.stderr.splitlines(), " ".join(flags)


def compiler(folder, answers):
    """A compiler that succeeds with these probes only."""
    script = pathlib.Path(folder, "cc")
    script.write_text('#!/bin/sh\nfor last; do :; done\n'
                      'last=${last##*/}\ncase " ' + " ".join(sorted(answers)) +
                      ' " in *" ${last%.c} "*) ;; *) exit 1 ;; esac\n')
    script.chmod(0o755)
    return script


class Probes(unittest.TestCase):
    """tests/vm/test_kernel.py compares the answers of the kernel that runs."""
    def test_a_probe_with_one_answer_on_all_kernels_is_named(self):
        """In a list of three kernels, of which one answers as its release."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tools/kernels").mkdir(parents=True)
            (folder / "module/probes").mkdir(parents=True)
            shutil.copy(CHECK_PROBES, folder / "tools")
            for probe in ("told_apart", "always", "never", "forgotten"):
                (folder / f"module/probes/{probe}.c").touch()
            (folder / "tools/kernels/list").write_text(
                "1 1 - - - - - - always -\n"
                "2 2 - - - - - - always,told_apart always,told_apart\n"
                "like_2 2 - - - - - - release release\n")
            for kernel in "2", "like_2":
                result = run(folder / "tools" / CHECK_PROBES.name, kernel, "told_apart", "always")
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout.splitlines(), [
                    "always: no kernel is known that says no",
                    "forgotten: no kernel is known that says yes",
                    "never: no kernel is known that says yes"])

    def test_each_architecture_has_its_own_answers(self):
        """Linux 6.12 has pcpu_hot on x86-64 only."""
        for arch, answer in ("x86-64", "yes"), ("arm64", "no"):
            said = {"vma_lock", "module_memory", "file_user_inode", "ftrace_direct_ops",
                    "ftrace_regs_argument"} | ({"pcpu_hot"} if answer == "no" else set())
            result = run(CHECK_PROBES, "6.12", *said, LAB_ARCH=arch)
            self.assertEqual(result.stdout, f"pcpu_hot: this kernel is known to say {answer}\n")


class Releases(unittest.TestCase):
    """What Kbuild says about the release of a kernel."""
    def test_a_kernel_too_old_is_refused_by_name(self):
        for version in "5.19", "6.0":
            line, = (line for line in kbuild(version)[0] if "pfstat is for Linux" in line)
            self.assertIn(f"headers of {version}.9-other", line)
            self.assertNotIn("pfstat is for Linux", "".join(kbuild(version, "UNTRIED=yes")[0]))
        for version in "6.1", "6.12", "7.3":
            self.assertNotIn("pfstat is for Linux", "".join(kbuild(version)[0]))

    def test_a_newer_kernel_is_tried_if_the_probes_answer_as_on_the_newest(self):
        for answers, differ in ((NEWEST, ""), (NEWEST - {"vma_lock"}, "vma_lock"),
                                (NEWEST | {"pcpu_hot"}, "pcpu_hot"),
                                (set(), " ".join(sorted(NEWEST)))):
            for version in "7.4", "10.1":
                with self.subTest(version=version, differ=differ), \
                        tempfile.TemporaryDirectory() as folder:
                    self.check_newer(version, f"CC={compiler(folder, answers)}", differ)

    def check_newer(self, version, setting, differ):
        lines, flags = kbuild(version, setting)
        line, = (line for line in lines if "pfstat was tested up to Linux 7.3" in line)
        self.assertIn(f"the headers of {version}.9-other", line)
        self.assertEqual("***" in line, bool(differ))
        if differ:
            self.assertIn(f"these probes otherwise: {differ} (UNTRIED=yes", line)
            lines, flags = kbuild(version, setting, "UNTRIED=yes")
            self.assertFalse([line for line in lines if "***" in line and "pfstat" in line])
        self.assertIn("-DPFSTAT_NEWER=1", flags)    # self_test is on, see test_self_test.py

    def test_a_tested_kernel_is_not_newer(self):
        self.assertIn("-DPFSTAT_NEWER=0", kbuild("7.3")[1])

    def test_an_unsuitable_kernel_is_refused_in_one_sentence(self):
        for changes, reason in (
                ({"CONFIG_X86_64": ""}, "pfstat is for x86-64 and for little-endian arm64"),
                (ARM64 | {"CONFIG_CPU_BIG_ENDIAN": "y"},
                 "pfstat is for x86-64 and for little-endian arm64"),
                (ARM64 | {"PATCHLEVEL": "1"}, "pfstat is for Linux 6.12 to 7.3"),
                ({"CONFIG_KPROBES": ""}, "pfstat needs CONFIG_KPROBES, which"),
                ({"CONFIG_KRETPROBES": ""}, "pfstat needs CONFIG_KRETPROBES, which"),
                ({"CONFIG_PREEMPT_RT": "y"}, "with PREEMPT_RT"),
                (ARM64, None),
                ({}, None)):
            config = {"VERSION": "6", "PATCHLEVEL": "12"} | SUITABLE | changes
            result = run("make", "-n", "-f", TOP / "Kbuild", f"src={TOP}", "CC=false",
                         *(f"{name}={value}" for name, value in config.items()))
            refusals = [line for line in result.stderr.splitlines()
                        if "pfstat" in line and "***" in line]
            with self.subTest(changes=changes):
                self.assertEqual(len(refusals), 1 if reason else 0)
                self.assertIn(reason or "", "".join(refusals))

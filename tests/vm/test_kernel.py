# SPDX-License-Identifier: GPL-2.0-only
"""The build probes this kernel correctly. tests/tools has the kernels that Kbuild refuses."""
import pathlib

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

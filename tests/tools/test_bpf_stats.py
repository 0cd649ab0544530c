# SPDX-License-Identifier: GPL-2.0-only
"""tools/bpf-stats reads each kernel's verifier log."""
import pathlib
import unittest

import scripts

TOP = pathlib.Path(__file__).parents[2]
STACKS = {
    "up to 6.12": "stack depth 32+0+16",
    "7.2": "stack depth 32+0+16 max 48\ninsns processed 41",
    "7.3": "stack depth max 48\nsubprog 0 (on_a) main insns_self 30 insns_total 41 stack 32\n"
           "subprog 1 (f) static insns_self 9 insns_total 9 stack 0\n"
           "subprog 2 (g) static insns_self 2 insns_total 2 stack 16",
}


class Figures(unittest.TestCase):
    """One program has functions with 32, 0 and 16 stack bytes."""
    def test_figures_are_found_in_each_format_of_the_verifier(self):
        stats = scripts.load(TOP / "tools/bpf-stats")
        for kernel, stack in STACKS.items():
            log = ("libbpf: map 'x': created\nlibbpf: prog 'on_a': -- BEGIN PROG LOAD LOG --\n"
                   f"verification time 93 usec\n{stack}\nprocessed 41 insns (limit 1000000)\n")
            with self.subTest(kernel):
                self.assertEqual(stats.verified(log), {"on_a": (41, 48)})
                self.assertFalse(stats.verified(log.replace("stack", "heap")))

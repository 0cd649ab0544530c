# SPDX-License-Identifier: GPL-2.0-only
"""layout: functions in the order of the first touches of their pages."""
import shutil

import pytest

import pfstat

pytestmark = pytest.mark.needs(shutil.which("gcc"), "gcc")

CALLED = (5, 2, 7, 0)
FUNCTION = """
__attribute__((noinline, aligned(4096))) int function_{0}(int x)
{{
    if (never)
        __asm__ volatile(".skip 3000");
    return x + {0} + never;
}}
__attribute__((noinline)) int neighbour_{0}(int x)
{{
    return x * {0} + never;
}}
"""
SOURCE = ("volatile int never;" + "".join(map(FUNCTION.format, range(8))) +
          "__attribute__((aligned(4096))) int main(void) { return 0" +
          "".join(f" * function_{number}(1)" for number in CALLED) + "; }\n")


@pytest.fixture(name="program")
def fixture_program(empty):
    source, program = empty / "program.c", empty / "program"
    source.write_text(SOURCE, encoding="ascii")
    pfstat.run("gcc", "-O1", "-ffunction-sections", "-o", program, source)
    return program


def exact(caller, program):
    return caller.record(program, options=("--exact",)).path


def of_test(lines):
    return [line for line in lines if "function_" in line or "neighbour_" in line]


def test_functions_are_in_the_order_of_first_touches(caller, program):
    names = caller.run("layout", exact(caller, program)).stdout.split()
    assert len(set(names)) == len(names) and "main" in names
    assert of_test(names) == [name for number in CALLED
                              for name in (f"function_{number}", f"neighbour_{number}")]


def test_gold_gets_section_names(caller, program):
    order = program.with_suffix(".order")
    text = caller.run("layout", "--format", "gold", "--file", program, "--output", order,
                      exact(caller, program)).stdout
    sections = order.read_text(encoding="ascii").split()
    assert of_test(sections)[0] == f".text.function_{CALLED[0]}"
    assert ".text.startup.main" in sections
    assert "Touched: " in text and "Ordered: " in text
    assert "in this order, all used" in text or "Cannot predict major faults: " in text


def test_what_cannot_be_ordered_is_refused(caller, program):
    ordinary = caller.record(program).path
    assert ("lacks the touches that fault-around hid; record with --exact"
            in caller.refused(1, "layout", ordinary))
    recording = exact(caller, program)
    assert "no first touch of code in /absent was recorded" in caller.refused(
        1, "layout", "--file", "/absent", recording)
    pfstat.run("strip", "-o", program.with_suffix(".new"), program)
    program.with_suffix(".new").rename(program)
    assert "another file has this name now" in caller.refused(1, "layout", recording)
    assert "no symbol table" in caller.refused(1, "layout", exact(caller, program))


def test_a_damaged_file_is_refused(caller, program):
    recording = exact(caller, program)
    whole = program.read_bytes()
    for size in (0, 40, 64, len(whole) // 2, len(whole) - 1):
        program.write_bytes(whole[:size])
        assert "cannot use" in caller.refused(1, "layout", recording)

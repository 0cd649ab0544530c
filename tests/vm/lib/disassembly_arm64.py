# SPDX-License-Identifier: GPL-2.0-only
"""The same as disassembly.py for arm64 machine code.

The address of per-CPU memory is a sum with tpidr_el1. A register's value comes from the last
preceding instruction that writes it, in code order. Code behind a jump continues where one jumps to
it: loops with exclusive loads and stores are at the end of a function. A pointer loaded from
per-CPU memory counts as per-CPU, too. this_cpu_inc() and the like are loops with exclusive loads
and stores, or atomic instructions, so these are listed as ATOMIC only if they are for other
memory."""
import re

from disassembly import Store, code_of, print_stores

OPERANDS = re.compile(r"\[[^\]]*\]|[^,\s][^,]*")
STORE = re.compile(r"^st(?!g)[a-z]*$")
# Of Armv8.1: they load and store at once. stadd and the like are among the stores.
ATOMIC = re.compile(r"^(ld(add|clr|eor|set|[su]max|[su]min)|swp|cas|stx|stlx|st(add|clr|eor|set))")
LOAD = re.compile(r"^ld")
NO_RESULT = re.compile(r"^(cmp|cmn|tst|ccmp|b|bl|blr|br|cb|tb|ret|st|prfm|dmb|dsb|isb|nop|msr|brk)")
LEAVE = re.compile(r"^(b|br|ret)\b(?!\.)")
JUMP = re.compile(r"^(?:b|b\.\w+|cbn?z|tbn?z)\t.*<\w+\+0x([0-9a-f]+)>$")
STACK = ("sp", "x29")
# sp_el0 is `current`: a preemptible kernel counts there how often preemption is disabled.
REGISTERS = {"tpidr_el1": "per-CPU", "sp_el0": "thread"}
KEPT_BY_CALLS = {f"x{number}" for number in range(19, 30)}


def wide(register):
    """x3 for w3."""
    return re.sub(r"^w(?=\d)", "x", register)


def split(line):
    """("str", ["x1", "[x2, #8]"]) for an instruction."""
    name, _, rest = line.partition("\t")
    return name, [text.strip() for text in OPERANDS.findall(rest)]


def registers_in(operand):
    return [wide(name) for name in re.findall(r"\b(?:[xw]\d+|sp)\b", operand)]


def written_by(name, operands):
    """The registers written by an instruction, except for an address's base."""
    if not operands or (NO_RESULT.match(name) and not ATOMIC.match(name)):
        return []
    pair = name.startswith(("ldp", "ldxp"))
    return [wide(operand) for operand in operands[:2 if pair else 1]]


def target_of(line):
    """The line to which an instruction jumps in the same function, or None. All take four bytes."""
    match = JUMP.match(line)
    return match and int(match[1], 16) // 4


def lines_before(code, at):
    """The numbers of the lines run before line `at`, backwards."""
    seen = set()
    while at > 0:
        sources = [source for source, line in enumerate(code)
                   if target_of(line) == at and source not in seen]
        # Without one, the kernel replaces the jump before by a nop.
        at = sources[0] if sources and LEAVE.match(code[at - 1]) else at - 1
        if at in seen:
            return
        seen.add(at)
        yield at


def value_of(code, at, register):
    """The origin of a register's value before line `at`."""
    if register in STACK:
        return "stack"
    for before in lines_before(code, at):
        name, operands = split(code[before])
        if name in ("bl", "blr") and register not in KEPT_BY_CALLS:
            return "UNKNOWN, from a call"
        if register not in written_by(name, operands):
            continue
        if name == "mrs":
            return REGISTERS.get(operands[1], f"UNKNOWN, from {operands[1]}")
        if name == "adrp":
            return "GLOBAL"
        if LOAD.match(name):
            place = address_of(code, before, operands[-1])
            return place if place == "per-CPU" else f"UNKNOWN, from {code[before]}"
        return sum_of(code, before, [part for text in operands[1:] for part in registers_in(text)])
    return "UNKNOWN, from an argument"


def sum_of(code, at, registers):
    """The origin of an address computed as a sum of registers."""
    values = [value_of(code, at, register) for register in registers]
    for value in ("per-CPU", "thread", "stack"):
        if value in values:
            return value
    return values[0] if values else "UNKNOWN, from a constant"


def address_of(code, at, operand):
    return sum_of(code, at, registers_in(operand))


def stores_of(module, function):
    """All stores, in code order."""
    code = code_of(module, function, comment="//")
    found = []
    for at, line in enumerate(code):
        name, operands = split(line)
        memory = [operand for operand in operands if operand.startswith("[")]
        if not memory or not (STORE.match(name) or ATOMIC.match(name)):
            continue
        place = address_of(code, at, memory[0])
        if ATOMIC.match(name) and place != "per-CPU":
            place = "ATOMIC"
        found.append(Store(place, line))
    return found


if __name__ == "__main__":
    print_stores(stores_of)

# SPDX-License-Identifier: GPL-2.0-only
"""Lists the stores of a module function from its machine code: `disassembly.py KO [FUNCTION]`.

Each store goes to per-CPU memory (%gs), to the stack, or through a pointer. A pointer also counts
as per-CPU if the register's last loaded value came from %gs, and as stack if it came from the
stack's pointers. A hash used as the index in a table of 256 bytes each leads to the thread's own
slot (module/mm_thread.h). All other stores go to memory CPUs may share."""
import collections
import re
import subprocess
import sys

Store = collections.namedtuple("Store", "place text")
# The last operand is memory: in AT&T syntax it is the destination.
MEMORY = re.compile(r"(?:^|[\s,])((?:%[a-z]s:)?[-+\w]*\([^()]*\)|%gs:[-+\w]+)$")
# These only read memory, although it is their last operand.
LOOK = re.compile(r"^(cmp|test|bt[wlq]?\b|jmp|call|push|prefetch|nop|lea|mul|imul|div|idiv|ucomis)")
READ_ONLY_SINGLE = re.compile(r"^(call|jmp|push|prefetch|nop|mul|imul|div|idiv)")
STACK = ("rsp", "rbp")
KEPT_BY_CALLS = ("rbx", "rbp", "r12", "r13", "r14", "r15")


def wide(register):
    """rax for %eax, %ax and %al, r13 for %r13d."""
    name = register.lstrip("%")
    if re.fullmatch(r"r\d+[dwb]?", name):
        return name.rstrip("dwb")
    if len(name) == 3 and name[0] in "re":
        return "r" + name[1:]
    if name in ("al", "ah", "bl", "bh", "cl", "ch", "dl", "dh"):
        return f"r{name[0]}x"
    return "r" + (name.removesuffix("l") if len(name) == 3 else name)


def code_of(module, function, comment="#"):
    """A function's instructions, without objdump's text behind the comment sign."""
    instruction = re.compile(rf"^\s*[0-9a-f]+:\s+(.*?)\s*(?:{comment}.*)?$")
    said = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}",
                           module], capture_output=True, text=True, check=True)
    lines = [match[1] for match in map(instruction.match, said.stdout.splitlines()) if match]
    if not lines:
        raise ValueError(f"{module} has no function {function}")
    return lines


def source_of(code, at, register):
    """The last value written to the register before line `at`, in the order of the code."""
    for before in range(at - 1, -1, -1):
        words = code[before].split(None, 1)
        operands = words[1] if len(words) > 1 else ""
        if words and words[0].startswith("call") and register not in KEPT_BY_CALLS:
            return "a call"
        if not operands.endswith("%" + register) or (LOOK.match(words[0]) and words[0] != "lea"):
            continue
        other = re.fullmatch(r"%(r\w+),%" + register, operands)
        return source_of(code, before, other[1]) if words[0] == "mov" and other else code[before]
    return "an argument"


def is_slot(code, at, register):
    """The table's address is added to an index shifted by the slot size."""
    for before in range(at - 1, 0, -1):
        if re.fullmatch(rf"add\s+0x0\(%rip\),%{register}", code[before]):
            return bool(re.fullmatch(rf"shl\s+\$0x8,%{register}", code[before - 1]))
        if code[before].endswith(f",%{register}") and not LOOK.match(code[before]):
            return False
    return False


def place_of(code, at, operand):
    if operand.startswith("%gs:"):
        return "per-CPU"
    if "(%rip)" in operand:
        return "GLOBAL"
    base = re.search(r"\((%\w+)", operand)
    register = wide(base[1]) if base else ""
    if register in STACK:
        return "stack"
    if is_slot(code, at, register):
        return "slot"
    source = source_of(code, at, register)
    if source.startswith("lea") and re.search(r"\(%r[sb]p\)", source):
        return "stack"
    return "per-CPU pointer" if "%gs:" in source else f"UNKNOWN, from {source}"


def stores_of(module, function):
    """All stores, in code order."""
    code = code_of(module, function)
    found = []
    for at, line in enumerate(code):
        text = re.sub(r"^(rep|repz|data16|notrack)\s+", "", line)
        if re.match(r"^(lock|xchg)\b", text) and "(" in text:
            found.append(Store("ATOMIC", line))
            continue
        match = MEMORY.search(text)
        if match and not LOOK.match(text) and not READ_ONLY_SINGLE.match(text):
            found.append(Store(place_of(code, at, match[1]), line))
    return found


def print_stores(find):
    """find: an architecture's stores_of()."""
    function = sys.argv[2] if len(sys.argv) > 2 else "pfstat_fault_fast"
    for store in find(sys.argv[1], function):
        print(f"{store.place:16} {store.text}")


if __name__ == "__main__":
    print_stores(stores_of)

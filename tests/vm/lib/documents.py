# SPDX-License-Identifier: GPL-2.0-only
"""The command blocks in README.md and the pages: parses, runs and compares them.

A block is `.. code-block:: console` in a page and ```console in README.md. A line beginning with `$
` runs on the host, at the top of the tree. One beginning with `# ` runs in the lab, as root, in one
shell per page. A command ending in a backslash goes on in the next line. All other lines are
output: the words must be printed, in that order. A line, or a word, `...` stands for any number of
lines, or words. A number matches any number, and a time unit behind it any other: one run takes 900
ms, the next 1.1 s.

Comments above a block (`.. exact` in a page, `<!-- exact -->` in README.md): `exact`: numbers must
match as well. `status: N`: the last command exits with N, not with 0. Comments in a page:
`lab: OPTIONS` for tools/lab, `packages: A pip:B` required in the lab as well.
"""
import pathlib
import re
import shlex
import subprocess
import typing

TOP = pathlib.Path(__file__).parents[3]
PAGES = ("README.md", "Documentation/tutorial.rst", "Documentation/examples/*.rst",
         "Documentation/recipes/*.rst")
OMITTED = ("...", "…")
# The kernel for all commands except `tools/lab run --kernel`: the lab's default.
KERNEL = "6.12"
NUMBER = re.compile(r"<?[-+]?(0x[0-9a-f]+|\d+([.,]\d+)*)")
TIME = re.compile(r"(?<=\d) (ns|µs|ms|s)(?![\w/])")
# The two ways to write a block, and a comment.
BLOCK = re.compile(r"( *)(\.\. code-block:: console|```console)$")
COMMENT = re.compile(r"(?:\.\.|<!--) (exact|status: \d+|lab: .+?|packages: .+?)(?: -->)?$")
MARK = "end of command, status"


class Step(typing.NamedTuple):
    """A command, the command's line in the page, and what the page says about it."""
    line: int
    prompt: str
    command: str
    output: tuple = ()
    exact: bool = False
    status: int = 0
    kernel: str = KERNEL


class Page(typing.NamedTuple):
    """A document's name, the lab required, and the commands."""
    name: str
    lab: tuple
    packages: tuple
    steps: tuple


def pages():
    return [parse(str(path.relative_to(TOP)), path.read_text(encoding="utf-8"))
            for pattern in PAGES for path in sorted(TOP.glob(pattern))]


def parse(name, text):
    lines = text.splitlines()
    settings, above, steps = {}, {}, []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        comment = COMMENT.match(line.strip())
        if comment:
            key, _, value = comment[1].partition(": ")
            (above if key in ("exact", "status") else settings)[key] = value
        elif BLOCK.match(line):
            end = end_of_block(lines, number)
            found = parse_block(number + 1, lines[number:end], "exact" in above)
            if found:
                found[-1] = found[-1]._replace(status=int(above.get("status", 0)))
            steps += found
            number = end
        if line.strip() and not comment:
            above = {}
    return Page(name, tuple(settings.get("lab", "").split()),
                tuple(settings.get("packages", "").split()), tuple(steps))


def end_of_block(lines, start):
    """The index of the first line after a block whose first line is at start."""
    indent = len(BLOCK.match(lines[start - 1])[1])
    for index in range(start, len(lines)):
        line = lines[index]
        if lines[start - 1].endswith("```console"):
            if line.strip() == "```":
                return index
        elif line.strip() and len(line) - len(line.lstrip()) <= indent:
            return index
    return len(lines)


def parse_block(first, lines, exact):
    """A block's steps. first is the number of the block's first line."""
    steps = []
    for number, line in enumerate((line.strip() for line in lines), first):
        if steps and steps[-1].command.endswith("\\") and not steps[-1].output:
            steps[-1] = steps[-1]._replace(command=f"{steps[-1].command}\n{line}")
        elif line[:2] in ("$ ", "# "):
            steps.append(Step(number, line[0], line[2:], exact=exact))
        elif line:
            if not steps:
                raise ValueError(f"line {number}: there is output before the first command")
            steps[-1] = steps[-1]._replace(output=steps[-1].output + (line,))
    return steps


def in_guest(page):
    """Lists of steps, each for a shell of its own: the page's, then those for `tools/lab run`."""
    shells = [[step for step in page.steps if step.prompt == "#"]]
    for step in page.steps:
        if step.prompt == "$" and step.command.startswith("tools/lab run "):
            words = shlex.split(step.command.replace("\\\n", " ").partition(" -- ")[2])
            command = words[0] if len(words) == 1 else shlex.join(words)
            kernel = re.search(r"--kernel[ =](\S+)", step.command)
            shells.append([step._replace(command=command,
                                         kernel=kernel[1] if kernel else step.kernel)])
    return [steps for steps in shells if steps]


def run(steps, timeout):
    """Runs the steps in one shell: yields (step, output, exit status)."""
    script = "".join(f"{{ {step.command}\n}} </dev/null 2>&1\nprintf '\\n{MARK} %s\\n' $?\n"
                     for step in steps)
    output = subprocess.run(["bash"], input=script, text=True, cwd=TOP, timeout=timeout,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False).stdout
    parts = re.split(rf"^{MARK} (\d+)\n", output, flags=re.MULTILINE)
    for index, step in enumerate(steps):
        status = parts[2 * index + 1] if 2 * index + 1 < len(parts) else -1
        yield step, parts[2 * index] if 2 * index < len(parts) else "", int(status)


def match(pattern, items, same):
    """Matches items with a pattern. Returns None, or the index of the first missing pattern
    element, or len(pattern) if there are items after the pattern's end."""
    reached = {0}
    for index, wanted in enumerate(pattern):
        if wanted in OMITTED:
            reached = set(range(min(reached), len(items) + 1))
        else:
            reached = {i + 1 for i in reached if i < len(items) and same(wanted, items[i])}
        if not reached:
            return index
    return None if len(items) in reached else len(pattern)


def same_words(exact):
    def text(word):
        return word if exact else NUMBER.sub("0", word)

    def words(line):
        return (line if exact else TIME.sub(" s", line)).split()

    def same(wanted, line):
        return match(words(wanted), words(line), lambda a, b: text(a) == text(b)) is None
    return same


def difference(step, output, status):
    """A sentence if the command did not do what the page says, else None."""
    lines = [line for line in output.splitlines() if line.strip()]
    index = match(step.output, lines, same_words(step.exact))
    if index is not None:
        wrong = (f"does not print this line of the page: {step.output[index]}"
                 if index < len(step.output) else "prints more than the page has")
    elif status != step.status:
        wrong = f"exits with {status}, not with {step.status}"
    else:
        return None
    return f"line {step.line}: `{step.command}` {wrong}. It printed:\n" + "\n".join(lines)


def targets():
    """The targets in the Makefile and the included files."""
    text = "".join(path.read_text() for path in [TOP / "Makefile", *TOP.glob("tools/make/*.mk")])
    rules = re.findall(r"^([\w -]+):(?!=)", text, re.MULTILINE)
    return {word for rule in rules for word in rule.split()}


def wrong_on_host(step):
    """A sentence, if a command for the host names a target, tool or option that is not there."""
    words = shlex.split(step.command.partition(" -- ")[0], comments=True)
    if words[0] == "sudo":
        words = words[1:]
    wrong = []
    if words[0] == "make":
        wrong = [word for word in words[1:] if not set("=-/") & set(word[:1] + word)
                 and word not in targets()]
    elif words[0].startswith("tools/"):
        tool = TOP / words[0]
        if not tool.is_file():
            return f"line {step.line}: there is no {words[0]}"
        text = tool.read_text()
        wrong = [option for option in (word.partition("=")[0] for word in words[1:])
                 if option.startswith("--") and not re.search(rf"{option}(?![\w-])", text)]
    return f"line {step.line}: {words[0]} does not have {', '.join(wrong)}" if wrong else None

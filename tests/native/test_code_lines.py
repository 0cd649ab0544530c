# SPDX-License-Identifier: GPL-2.0-only
"""The function, object, source file and line of each fault, against the source."""
import os
import shutil

import pytest

import pfstat

PAGES = 300
SOURCE = """
#include <stdlib.h>
#include <sys/mman.h>

static inline __attribute__((always_inline)) void store(volatile char *at)
{
	*at = 1;                                /* inlined store */
}

__attribute__((noinline)) void write_pages(volatile char *pages, long nr)
{
	for (long i = 0; i < nr; i++)
		store(pages + i * %(page)d);
}

__attribute__((noinline)) int read_pages(volatile char *pages, long nr)
{
	int sum = 0;

	for (long i = 0; i < nr; i++)
		sum += pages[i * %(page)d];     /* read */
	return sum;
}

int main(void)
{
	const size_t bytes = %(pages)d * %(page)dUL;
	char *pages = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, 2 * bytes, MADV_NOHUGEPAGE);
	write_pages(pages, %(pages)d);
	return read_pages(pages + bytes, %(pages)d);
}
""" % {"page": pfstat.PAGE, "pages": PAGES}


def line_of(comment):
    line, = (number for number, text in enumerate(SOURCE.split("\n"), 1) if comment in text)
    return line


# A place without a function, a source file and a line.
UNKNOWN = ("", "", "")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


def compiled(folder, compiler, *options):
    """The program, and its source in the same folder."""
    source, program = folder / "touch.c", folder / "touch"
    source.write_text(SOURCE)
    pfstat.run(compiler, *options, "-o", program, source)
    return program


def places_of(recording, program):
    """How many faults each place in the program's two functions has."""
    places = {}
    for row in recording.rows:
        if row["object"] == str(program):
            key = row["function"], row["source_file"], row["line"]
            places[key] = places.get(key, 0) + 1
    return {key: count for key, count in places.items() if count >= PAGES}


def expected_of(source):
    return {("write_pages", str(source), str(line_of("inlined store"))): PAGES,
            ("read_pages", str(source), str(line_of("/* read"))): PAGES}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("options", [["-pie"], ["-no-pie"], ["-static"]], ids=" ".join)
def test_each_fault_has_its_function_and_line(caller, empty, compiler, options):
    """clang writes no .debug_aranges."""
    program = compiled(empty, compiler, "-g", "-O2", *options)
    assert places_of(caller.record(program), program) == expected_of(empty / "touch.c")


def sums_of(recording, by):
    """{name: (faults, time)} of a grouping, as JSON has it."""
    groups = recording.report("--by", by, "--top", 0)["groups"]
    assert groups["by"] == by
    return {row["name"]: (row["faults"], row["total_ns"]) for row in groups["rows"]}


def test_groups_by_function_and_line_are_the_sums_of_the_rows(caller, empty):
    program = compiled(empty, "gcc", "-g", "-O2")
    recording = caller.record(program)
    sums = {"function": {}, "line": {}}
    for row in recording.rows:
        place = row["object"] or f"pid {row['pid']}"
        function = f"{row['function'] or '(no name)'} ({place})" if row["code"] != "0" else \
            "(not known)"
        line = f"{row['source_file']}:{row['line']} ({place})" if row["line"] else function
        for by, name in (("function", function), ("line", line)):
            faults, time = sums[by].get(name, (0, 0))
            sums[by][name] = faults + 1, time + int(row["duration_ns"] or 0)
    assert sums_of(recording, "function") == sums["function"]
    assert sums_of(recording, "line") == sums["line"]
    assert sums["function"][f"write_pages ({program})"][0] == PAGES
    text = recording.print("--by", "line")
    assert "Faults by line, costliest first" in text
    assert f"{empty / 'touch.c'}:{line_of('inlined store')} ({program})" in text


@pytest.mark.parametrize("folder", ["", ".debug"], ids=["beside", "in .debug"])
def test_a_debug_link_leads_to_the_lines(caller, empty, folder):
    """A build ID would lead to /usr/lib/debug. Another file with the link's name is not used."""
    program = compiled(empty, "gcc", "-g", "-O2", "-Wl,--build-id=none")
    debug = empty / folder / "touch.debug"
    debug.parent.mkdir(exist_ok=True)
    pfstat.run("objcopy", "--only-keep-debug", program, debug)
    pfstat.run("strip", program)
    pfstat.run("objcopy", f"--add-gnu-debuglink={debug}", program)
    os.chmod(debug, 0o644)
    assert places_of(caller.record(program), program) == expected_of(empty / "touch.c")
    with open(debug, "ab") as file:
        file.write(b"changed")
    assert list(places_of(caller.record(program), program)) == [UNKNOWN]


def test_a_program_without_debug_information_has_functions_only(caller, empty):
    program = compiled(empty, "gcc", "-O2")
    assert places_of(caller.record(program), program) == \
        {("write_pages", "", ""): PAGES, ("read_pages", "", ""): PAGES}
    pfstat.run("strip", program)
    assert list(places_of(caller.record(program), program)) == [UNKNOWN]

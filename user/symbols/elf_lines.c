// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the source line of an address in an ELF file's DWARF. The compilation units are sorted by
 * address here, because .debug_aranges, which libdw searches, is optional: clang does not write it.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbols/symbols.h"
#include "util/array.h"

/* Code of one compilation unit. */
struct elf_lines_range {
	Dwarf_Addr from, to;
	Dwarf_Addr last_to; /* the largest `to` in this range and those before it */
	Dwarf_Off unit;	    /* offset of the unit's first entry */
};

void elf_lines_exit(struct elf_lines *lines)
{
	free(lines->ranges);
	*lines = (struct elf_lines){ 0 };
}

/* A function that the linker discarded has address 0, or 1 in a list that 0 would end. */
static int elf_lines_add(struct elf_lines *lines, const struct elf_lines_range *range)
{
	if (range->from <= 1 || range->from >= range->to)
		return 0;
	if (array_reserve((void **)&lines->ranges, lines->nr, &lines->room, sizeof(*range)))
		return -ENOMEM;
	lines->ranges[lines->nr++] = *range;
	return 0;
}

static int elf_lines_add_unit(struct elf_lines *lines, Dwarf_Die *unit)
{
	struct elf_lines_range range = { .unit = dwarf_dieoffset(unit) };
	ptrdiff_t next = 0;
	Dwarf_Addr base;
	int err = 0;

	while (!err && (next = dwarf_ranges(unit, next, &base, &range.from, &range.to)) > 0)
		err = elf_lines_add(lines, &range);
	return err;
}

static int elf_lines_compare(const void *a, const void *b)
{
	const struct elf_lines_range *left = a, *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->unit > right->unit) - (left->unit < right->unit);
}

static void elf_lines_sort(struct elf_lines *lines)
{
	Dwarf_Addr last_to = 0;
	size_t i;

	if (lines->nr)
		qsort(lines->ranges, lines->nr, sizeof(*lines->ranges), elf_lines_compare);
	for (i = 0; i < lines->nr; i++) {
		if (lines->ranges[i].to > last_to)
			last_to = lines->ranges[i].to;
		lines->ranges[i].last_to = last_to;
	}
}

int elf_lines_read(struct elf_lines *lines, struct Dwfl_Module *module)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;
	int err = 0;

	*lines = (struct elf_lines){ 0 };
	lines->dwarf = dwfl_module_getdwarf(module, &lines->bias);
	while (!err && lines->dwarf &&
	       !dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL))
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = elf_lines_add_unit(lines, &die);
	if (err)
		elf_lines_exit(lines);
	elf_lines_sort(lines);
	return err;
}

/* Number of ranges starting at or before the address. */
static size_t elf_lines_until(const struct elf_lines *lines, Dwarf_Addr address)
{
	size_t from = 0, to = lines->nr, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (lines->ranges[middle].from <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* NULL if no unit has the address. */
static const struct elf_lines_range *elf_lines_range_at(const struct elf_lines *lines,
							Dwarf_Addr address)
{
	size_t i = elf_lines_until(lines, address);

	while (i-- && lines->ranges[i].last_to > address)
		if (lines->ranges[i].to > address)
			return &lines->ranges[i];
	return NULL;
}

const char *elf_lines_find(const struct elf_lines *lines, uint64_t address, uint32_t *number)
{
	const struct elf_lines_range *range = elf_lines_range_at(lines, address - lines->bias);
	Dwarf_Line *line;
	Dwarf_Die unit;
	int found = 0;

	if (!range || !dwarf_offdie(lines->dwarf, range->unit, &unit))
		return NULL;
	line = dwarf_getsrc_die(&unit, address - lines->bias);
	/* Line 0: the compiler made the code for no line. */
	if (!line || dwarf_lineno(line, &found) || found <= 0)
		return NULL;
	*number = found;
	return dwarf_linesrc(line, NULL, NULL);
}

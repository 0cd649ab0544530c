// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory map of a process, one line for each mapping. The maps come from the report's extras.
 */
#include <inttypes.h>

#include "print/text/cells.h"
#include "print/text/table_measures.h"
#include "util/array.h"
#include "util/text.h"

#include <sys/mman.h>

#define WHAT_WIDTH 42

static void cell_kilobytes(struct grid *grid, uint64_t bytes)
{
	cell_count(grid, bytes == COUNT_NA ? COUNT_NA : bytes / 1024);
}

/* A separate row, for a hooked mapping. */
static void map_readahead_row(struct grid *grid, const struct map_line *line)
{
	static const char *const advices[] = MAPPING_ADVICE_NAMES;

	if (line->ra_pages == COUNT_NA)
		return;
	grid_row(grid);
	cells_text(grid, "", 6);
	grid_cell(grid, "%s, %" PRIu64 " KiB ahead, %" PRIu64 " misses",
		  line->advice_known ? advices[line->advice] : "n/a",
		  map_line_ra_bytes(line) / 1024, line->mmap_miss);
}

static void map_rows(struct grid *grid, const struct map_list *maps, const struct map_line *line)
{
	const char *rest;
	char text[4352];

	map_line_explain(line, maps, text, sizeof(text));
	grid_row(grid);
	grid_cell(grid, "%" PRIx64, line->start);
	grid_cell(grid, "%c%c%c%c", line->prot & PROT_READ ? 'r' : '-',
		  line->prot & PROT_WRITE ? 'w' : '-', line->prot & PROT_EXEC ? 'x' : '-',
		  line->shared ? 's' : 'p');
	cell_kilobytes(grid, line->end - line->start);
	cell_kilobytes(grid, line->resident);
	cell_kilobytes(grid, line->swapped);
	if (maps->hooks_known)
		grid_cell(grid, line->hooked ? "yes" : "-");
	else
		grid_cell(grid, "n/a");
	rest = grid_text(grid, WHAT_WIDTH, text);
	while (*rest) {
		grid_row(grid);
		cells_text(grid, "", 6);
		rest = grid_text(grid, WHAT_WIDTH, rest);
	}
	map_readahead_row(grid, line);
}

static void add(uint64_t *sum, uint64_t bytes)
{
	*sum = *sum == COUNT_NA || bytes == COUNT_NA ? COUNT_NA : *sum + bytes;
}

int table_maps(FILE *out, const struct map_list *maps)
{
	static const char *const headings[] = { "<Address", "<Rights", ">KiB",	      ">Resident",
						">Swapped", "<Hooked", "<Description" };
	uint64_t size = 0, resident = 0, swapped = 0;
	struct grid grid;
	size_t i;

	fprintf(out, "Memory map of process %d%s", maps->pid, maps->program[0] ? ", " : "");
	utf8_print(out, maps->program);
	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < maps->nr_lines; i++) {
		map_rows(&grid, maps, &maps->lines[i]);
		add(&size, maps->lines[i].end - maps->lines[i].start);
		add(&resident, maps->lines[i].resident);
		add(&swapped, maps->lines[i].swapped);
	}
	grid_row(&grid);
	grid_cell(&grid, "all");
	grid_cell(&grid, "%s", "");
	cell_kilobytes(&grid, size);
	cell_kilobytes(&grid, resident);
	cell_kilobytes(&grid, swapped);
	return grid_close(&grid, out);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of a run with competitors and the same run without, and which process swapped out whose
 * pages. The figures come from the report's competition.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "bench/pressure/competition.h"
#include "print/text/cells.h"
#include "print/view_run.h"
#include "util/array.h"

#define MIB (1024.0 * 1024)

/* Several runs, and an array for one figure per run. */
struct runs {
	const struct view *views;
	size_t nr;
	double *values;
};

static const struct competition *competition_of(const struct runs *runs, size_t run)
{
	return (const struct competition *)runs->views[run].run->extras.study;
}

static double runs_number(uint64_t count)
{
	return count == COUNT_NA ? NAN : count;
}

static const struct competition_side *runs_side(const struct runs *runs, size_t run, bool alone)
{
	const struct competition *competition = competition_of(runs, run);

	return alone ? &competition->alone : &competition->with;
}

/* Prints the mean over all runs, and the deviation if there are several. */
static void cell_values(struct grid *grid, const struct runs *runs, bool whole)
{
	const struct spread spread = view_spread(runs->values, runs->nr);

	if (isnan(spread.mean))
		grid_cell(grid, "n/a");
	else if (runs->nr > 1)
		grid_cell(grid, "%.1f ± %.1f", spread.mean, spread.stddev);
	else
		grid_cell(grid, whole ? "%.0f" : "%.2f", spread.mean);
}

static void cell_figure(struct grid *grid, const struct runs *runs, enum competition_figure figure,
			bool alone)
{
	const bool ms = figure == COMPETITION_ELAPSED;
	size_t i;

	for (i = 0; i < runs->nr; i++)
		runs->values[i] =
			runs_number(runs_side(runs, i, alone)->figures[figure]) / (ms ? 1e6 : 1);
	cell_values(grid, runs, !ms);
}

static void cell_class(struct grid *grid, const struct runs *runs, enum fault_class class,
		       bool alone, bool major)
{
	const struct competition_side *side;
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		side = runs_side(runs, i, alone);
		runs->values[i] = runs_number(major ? side->major[class] : side->faults[class]);
	}
	cell_values(grid, runs, true);
}

/* True if no run had a fault in this class, with or without competitors. */
static bool is_class_of_none(const struct runs *runs, enum fault_class class)
{
	size_t i;

	for (i = 0; i < runs->nr; i++)
		if (runs_side(runs, i, true)->faults[class] ||
		    runs_side(runs, i, false)->faults[class])
			return false;
	return true;
}

static int table_figures(FILE *out, const struct runs *runs)
{
	static const char *const headings[] = { "<", ">Alone", ">With competitors", "<Counted by" };
	enum competition_figure figure;
	struct grid grid;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (figure = 0; figure < NR_COMPETITION_FIGURES; figure++) {
		grid_row(&grid);
		grid_cell(&grid, "%s", competition_names[figure].name);
		cell_figure(&grid, runs, figure, true);
		cell_figure(&grid, runs, figure, false);
		grid_cell(&grid, "%s", competition_names[figure].source);
	}
	return grid_close(&grid, out);
}

static int competition_table_classes(FILE *out, const struct runs *runs)
{
	static const char *const headings[] = { "<Faults of the run", ">Alone", ">Major",
						">With competitors", ">Major" };
	enum fault_class class;
	struct grid grid;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (is_class_of_none(runs, class))
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", fault_class_name(class));
		grid_title(&grid, fault_classes[class].title);
		cell_class(&grid, runs, class, true, false);
		cell_class(&grid, runs, class, true, true);
		cell_class(&grid, runs, class, false, false);
		cell_class(&grid, runs, class, false, true);
	}
	return grid_close(&grid, out);
}

static void cell_of_competitor(struct grid *grid, const struct runs *runs, unsigned int number,
			       size_t offset)
{
	const char *figures;
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		figures = (const char *)&competition_of(runs, i)->competitors[number];
		runs->values[i] = runs_number(*(const uint64_t *)(figures + offset));
	}
	cell_values(grid, runs, true);
}

static int table_competitors(FILE *out, const struct runs *runs)
{
	static const char *const headings[] = { "<Competitor (/proc/PID/stat)", ">majflt",
						">minflt", ">Accesses" };
	char name[32];
	struct grid grid;
	unsigned int i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < competition_of(runs, 0)->nr; i++) {
		grid_row(&grid);
		grid_cell(&grid, "%s", swap_role_name(SWAP_COMPETITOR + i, name, sizeof(name)));
		cell_of_competitor(&grid, runs, i, offsetof(struct competitor_figures, majflt));
		cell_of_competitor(&grid, runs, i, offsetof(struct competitor_figures, minflt));
		cell_of_competitor(&grid, runs, i, offsetof(struct competitor_figures, accesses));
	}
	return grid_close(&grid, out);
}

static void open_matrix(struct grid *grid, const struct swap_matrix *matrix)
{
	const char *headings[NR_SWAP_ROLES + 2] = { "<Evicted by" };
	char names[NR_SWAP_ROLES][32], buffer[24];
	unsigned int role, nr = 1;

	for (role = 0; role < NR_SWAP_ROLES; role++) {
		if (!swap_role_owns(matrix, role))
			continue;
		snprintf(names[role], sizeof(names[role]), ">%s",
			 swap_role_name(role, buffer, sizeof(buffer)));
		headings[nr++] = names[role];
	}
	headings[nr++] = ">total";
	grid_open(grid, headings, nr);
}

static void cell_pages(struct grid *grid, const struct runs *runs, unsigned int evictor,
		       unsigned int owner)
{
	const struct swap_matrix *matrix;
	unsigned int from = owner, to = owner + 1, column;
	size_t i;

	if (owner == NR_SWAP_ROLES)
		from = 0, to = NR_SWAP_ROLES;
	for (i = 0; i < runs->nr; i++) {
		matrix = &competition_of(runs, i)->matrix;
		runs->values[i] = 0;
		for (column = from; column < to; column++)
			runs->values[i] += matrix->pages[evictor][column];
	}
	cell_values(grid, runs, true);
}

static void line_of_matrix(FILE *out, const struct runs *runs)
{
	struct spread read, not_seen;
	size_t i;

	for (i = 0; i < runs->nr; i++)
		runs->values[i] = competition_of(runs, i)->matrix.read;
	read = view_spread(runs->values, runs->nr);
	for (i = 0; i < runs->nr; i++)
		runs->values[i] = competition_of(runs, i)->matrix.not_seen;
	not_seen = view_spread(runs->values, runs->nr);
	fprintf(out,
		"Read from swap: %.*f pages; the eviction of %.*f of them was not seen, for "
		"example before the run\n",
		runs->nr > 1, read.mean, runs->nr > 1, not_seen.mean);
}

static int table_matrix(FILE *out, const struct runs *runs)
{
	const struct competition *first = competition_of(runs, 0);
	unsigned int evictor, owner;
	struct grid grid;
	char name[32];
	int err;

	if (!first->have_matrix) {
		fputs("Pages swapped out and read again: n/a (there is no eBPF, or this kernel "
		      "lacks\n"
		      "__delete_from_swap_cache and __swap_cache_del_folio, or swap_readpage and\n"
		      "swap_read_folio)\n",
		      out);
		return 0;
	}
	fputs("Pages swapped out and read again, by the process that evicted them and their "
	      "owner\n",
	      out);
	open_matrix(&grid, &first->matrix);
	for (evictor = 0; evictor < NR_SWAP_ROLES; evictor++) {
		if (!swap_role_evicts(&first->matrix, evictor))
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", swap_role_name(evictor, name, sizeof(name)));
		for (owner = 0; owner < NR_SWAP_ROLES; owner++)
			if (swap_role_owns(&first->matrix, owner))
				cell_pages(&grid, runs, evictor, owner);
		cell_pages(&grid, runs, evictor, NR_SWAP_ROLES);
	}
	err = grid_close(&grid, out);
	line_of_matrix(out, runs);
	return err;
}

static void competition_heading(FILE *out, const struct runs *runs)
{
	const struct competition *competition = competition_of(runs, 0);

	fprintf(out, "Competition: %u × %.1f MiB, pages %s, every eighth access a store; ",
		competition->nr, competition->bytes / MIB,
		competition->random ? "at random" : "in order");
	if (competition->limit == COUNT_NA)
		fputs("NO LIMIT (--unsafe)", out);
	else
		fprintf(out, "all under a %.1f MiB limit", competition->limit / MIB);
	fprintf(out, ";\nswap %.1f MiB", competition->swap_bytes / MIB);
	if (runs->nr > 1)
		fprintf(out, "; mean ± standard deviation of %zu runs each", runs->nr);
	fputc('\n', out);
}

int table_competition(FILE *out, const struct view *views, size_t nr)
{
	struct runs runs = { .views = views, .nr = nr, .values = calloc(nr, sizeof(double)) };
	int (*const tables[])(FILE *out,
			      const struct runs *runs) = { table_figures, competition_table_classes,
							   table_competitors, table_matrix };
	size_t i;
	int err = 0;

	if (!runs.values)
		return -ENOMEM;
	competition_heading(out, &runs);
	for (i = 0; i < ARRAY_SIZE(tables) && !err; i++) {
		if (i)
			fputc('\n', out);
		err = tables[i](out, &runs);
	}
	free(runs.values);
	return err;
}

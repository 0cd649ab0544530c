// SPDX-License-Identifier: GPL-2.0-only
/* Tables about pages: evictions, faults that more memory would avoid, and copies. */
#include <inttypes.h>
#include <math.h>

#include "analyze/fault/mechanism.h"
#include "print/text/cells.h"
#include "print/text/table.h"
#include "report/more_memory.h"
#include "report/view.h"
#include "util/array.h"

/*
 * A table with the processes whose pages were evicted and faulted again later, by evicting process.
 * The pairs come from the report, most pages first.
 */

static void why_cell(struct grid *grid, const struct report *run, const struct evictions_pair *pair)
{
	static const char *const reasons[EVICTIONS_NR_REASONS] = {
		[EVICTIONS_UNKNOWN] = "n/a",
		[EVICTIONS_RECLAIMED] = "reclaimed",
		[EVICTIONS_DROPPED] = "dropped",
		[EVICTIONS_PROACTIVE] = "proactive",
	};
	char call[VIEW_WAKER];

	view_waker_call(call, run, pair->doing);
	grid_cell(grid, "%s%s%s%s", reasons[pair->reason], pair->anon ? " to swap" : "",
		  call[0] ? ", " : "", call);
}

static void pair_row(struct grid *grid, const struct report *run, const struct evictions_pair *pair)
{
	grid_row(grid);
	cell_count(grid, pair->pages);
	cell_count(grid, pair->faults);
	cell_scaled(grid, pair->total_ns / 1e6);
	why_cell(grid, run, pair);
	if (pair->victim)
		grid_cell(grid, "%" PRIu32, pair->victim);
	else
		grid_cell(grid, EVICTIONS_OTHERS);
	if (evictions_is_itself(pair))
		grid_cell(grid, "itself");
	else if (evictions_is_others(pair))
		grid_cell(grid, EVICTIONS_OTHERS);
	else
		grid_cell(grid, "%s (%" PRIu32 ")", pair->evictor_name, pair->evictor);
}

static void evictions_left_out_line(FILE *out, const struct report *run, size_t rows)
{
	uint64_t pages = 0, faults = 0;
	size_t i;

	for (i = rows; i < run->pages.nr_pairs; i++) {
		pages += run->pages.pairs[i].pages;
		faults += run->pages.pairs[i].faults;
	}
	if (rows < run->pages.nr_pairs)
		fprintf(out,
			"Not shown: %zu more rows, with %" PRIu64 " pages and %" PRIu64 " faults\n",
			run->pages.nr_pairs - rows, pages, faults);
}

static void not_followed_line(FILE *out, const struct report *run)
{
	if (run->pages.evictions.overflow)
		fprintf(out,
			"Not tracked: %" PRIu64
			" evicted pages, because the memory for them was used up\n",
			run->pages.evictions.overflow);
	if (run->pages.untracked != COUNT_NA && run->pages.untracked)
		fprintf(out,
			"Not tracked: the pages of %" PRIu64
			" requests, for files beyond eBPF's limit\n",
			run->pages.untracked);
}

int table_evictions(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">Pages", ">Faults",  ">Total ms",
						"<Why",	  ">Process", "<Evicted by" };
	const size_t nr = run->pages.nr_pairs;
	const size_t rows = run->top && run->top < nr ? run->top : nr;
	bool has_swap = false;
	struct grid grid;
	size_t i;
	int err;

	for (i = 0; i < nr; i++)
		has_swap |= run->pages.pairs[i].anon;
	if (view_lacks_evictions(run)) {
		fputs("Pages evicted and read again: n/a\n", out);
		return 0;
	}
	if (!run->pages.nr_pairs) {
		fprintf(out, "Pages evicted and read again: none of %" PRIu64 " evicted\n",
			run->pages.evictions.evicted - run->pages.evictions.overflow);
		not_followed_line(out, run);
		return 0;
	}
	fprintf(out, "Pages evicted and read again, of %" PRIu64 " evicted%s\n",
		run->pages.evictions.evicted, has_swap ? " pages of files" : "");
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < rows; i++)
		pair_row(&grid, run, &run->pages.pairs[i]);
	err = grid_close(&grid, out);
	evictions_left_out_line(out, run, rows);
	not_followed_line(out, run);
	return err;
}

/*
 * Which faults on reclaimed pages would not have occurred with more memory: three sizes of the
 * curve that the report has, and the swap-ins that the curve does not have.
 */

/* With these digits, or as a whole number if it has more: never with an exponent. */
static const char *range_figure(char *text, size_t size, double value, int digits)
{
	if (value < pow(10, digits) - 0.5)
		snprintf(text, size, "%.*g", digits, value);
	else
		snprintf(text, size, "%.0f", value);
	return text;
}

static void range_cell(struct grid *grid, double least, double most, const char *unit)
{
	/* Beside a number with four digits, the smaller one is whole too. */
	const int digits = most < 1000 ? 2 : 0;
	char low[32], high[32];

	if (round(least * 10) == round(most * 10))
		grid_cell(grid, "%s%s", range_figure(high, sizeof(high), most, 3), unit);
	else
		grid_cell(grid, "%s to %s%s", range_figure(low, sizeof(low), least, digits),
			  range_figure(high, sizeof(high), most, digits), unit);
}

static void more_memory_row(struct grid *grid, const struct report *run,
			    const struct memory_curve_point *point)
{
	const double ms = run->pages.evictions.curve.figures.total_ns / 1e6;

	grid_row(grid);
	grid_cell(grid, "%.1f MiB", ceil(10 * more_memory_mib(run, point)) / 10);
	range_cell(grid, 100 * point->least.faults, 100 * point->most.faults, " %");
	range_cell(grid, ms * point->least.total_ns, ms * point->most.total_ns, "");
}

static void state_swap_ins(FILE *out, const struct report *run)
{
	const uint64_t unknown = run->pages.evictions.swaps.unknown;

	if (!view_has_hook(run, HOOK_SWAP_OUT) && run->faults.classes[FAULT_SWAP].major)
		fputs("Swap-ins are not in this table: it was not recorded which pages were "
		      "swapped out.\n",
		      out);
	else if (unknown)
		fprintf(out,
			"%" PRIu64 " swap-in%s not in this table: the page left before the "
			"recording or by MADV_PAGEOUT, or processes share it since a fork.\n",
			unknown, unknown == 1 ? " is" : "s are");
}

int table_more_memory(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">More memory", ">Faults avoided", ">Their ms" };
	static const double shares[] = { 0.25, 0.5, 1 };
	const struct memory_curve_figures *figures = &run->pages.evictions.curve.figures;
	const uint64_t swap_ins = run->pages.evictions.swaps.faults;
	const struct memory_curve_point *point, *last = NULL;
	const double ms = figures->total_ns / 1e6;
	struct grid grid;
	size_t i;
	int err;

	if (!run->pages.evictions.curve.nr_points)
		return 0;
	fprintf(out, "More memory would avoid, of %" PRIu64 " faults on reclaimed pages in ",
		figures->faults);
	cells_print_figure(out, ms);
	fputs(" ms", out);
	if (swap_ins)
		fprintf(out, ", %" PRIu64 " of them swap-ins", swap_ins);
	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		point = more_memory_for(run, shares[i]);
		if (point && point != last)
			more_memory_row(&grid, run, point);
		if (point)
			last = point;
	}
	err = grid_close(&grid, out);
	if (more_memory_is_shared(run))
		fputs("Processes without such faults reclaimed some of these pages: their own "
		      "pages may need part of this memory.\n",
		      out);
	state_swap_ins(out, run);
	if (figures->one_of > 1)
		fprintf(out, "Estimated from one of %" PRIu64 " pages, %" PRIu64 " in all.\n",
			figures->one_of, figures->sampled);
	fputc('\n', out);
	return err;
}

/* Prints which pages the faults copied, added to shared memory, or mapped as huge pages. */

/* One line for a list. The heading comes with the first item. */
struct contents_line {
	FILE *out;
	const char *separator; /* before the next item, first the heading */
	bool any;
};

static void contents_item(struct contents_line *line, const struct evidence_sum *sum,
			  const char *what)
{
	if (!sum->count)
		return;
	fprintf(line->out, "%s%" PRIu64 " %s (%.2f ms)", line->separator, sum->count, what,
		sum->total_ns / 1e6);
	line->separator = "; ";
	line->any = true;
}

static void contents_line_end(const struct contents_line *line)
{
	if (line->any)
		fputc('\n', line->out);
}

static const char *const mechanism_headings[NR_MECHANISM_LINES] = {
	[MECHANISM_COPIED] = "Copied when written: ",
	[MECHANISM_WRITABLE] = "Written without a copy: ",
	[MECHANISM_MAPPED] = "Mapped before the fault: ",
	[MECHANISM_WAITED] = "Waited: ",
};

static void contents_mechanisms(FILE *out, const struct contents_figures *contents,
				enum mechanism_line which)
{
	struct contents_line line = { .out = out, .separator = mechanism_headings[which] };
	enum mechanism mechanism;

	for (mechanism = 0; mechanism < NR_MECHANISMS; mechanism++)
		if (mechanisms[mechanism].line == which)
			contents_item(&line, &contents->mechanisms[mechanism],
				      mechanisms[mechanism].words);
	contents_line_end(&line);
}

static void contents_copies(FILE *out, const struct contents_figures *contents)
{
	contents_mechanisms(out, contents, MECHANISM_COPIED);
	contents_mechanisms(out, contents, MECHANISM_WRITABLE);
	if (!contents->after_fork.count)
		return;
	fprintf(out,
		"After a fork in this run: %" PRIu64 " of the pages shared by a fork; %" PRIu64
		" after forks by process %" PRIu32 "\n",
		contents->after_fork.count, contents->fork_pid_count, contents->fork_pid);
}

static void contents_huge(FILE *out, const struct report *run)
{
	struct contents_line line = { .out = out, .separator = "Huge pages: " };
	const struct contents_huge *huge = run->contents.huge;
	char what[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(run->contents.huge) && huge[i].order; i++) {
		const uint64_t kib = (run->environment.page_bytes << huge[i].order) / 1024;

		snprintf(what, sizeof(what), "of %" PRIu64 " KiB, anonymous", kib);
		contents_item(&line, &huge[i].anon, what);
		snprintf(what, sizeof(what), "of %" PRIu64 " KiB, hugetlbfs", kib);
		contents_item(&line, &huge[i].hugetlb, what);
	}
	contents_line_end(&line);
}

void table_contents(FILE *out, const struct report *run)
{
	const struct contents_figures *contents = &run->contents;
	struct contents_line line = { .out = out, .separator = "Shared memory pages: " };

	contents_copies(out, contents);
	contents_item(&line, &contents->by[PFSTAT_CONTENT_NEW], "new");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_PRESENT], "there before");
	contents_line_end(&line);
	contents_huge(out, run);
	contents_mechanisms(out, contents, MECHANISM_MAPPED);
	contents_mechanisms(out, contents, MECHANISM_WAITED);
	if (contents->dax_small)
		fprintf(out, "DAX: %" PRIu64 " faults mapped a single page\n", contents->dax_small);
}

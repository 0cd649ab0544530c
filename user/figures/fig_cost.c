// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws the study's right figures: the time each fault handler call took, over the call number. The
 * calls come from the run's items and are binned, so memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "figures/calls.h"
#include "figures/drawing.h"
#include "figures/figure.h"
#include "figures/scatter.h"
#include "report/view.h"

#define ROWS_AN_OCTAVE 32

struct cost {
	uint64_t page_bytes;
	struct bins bins;
	uint64_t calls;
	struct {
		uint64_t count, total_ns;
	} disk, other;
};

static void *open_cost(uint64_t page_bytes)
{
	struct cost *cost = calloc(1, sizeof(*cost));

	if (cost)
		*cost = (struct cost){ .page_bytes = page_bytes, .bins = SCATTER_BINS };
	return cost;
}

static void close_cost(void *data)
{
	struct cost *cost = data;

	bins_exit(&cost->bins);
	free(cost);
}

static int fig_cost_add_item(void *data, const struct item *item)
{
	struct cost *cost = data;
	struct call call;

	if (!call_of_item(item, cost->page_bytes, &call))
		return 0;
	if (call_is_disk(call.class)) {
		cost->disk.count++;
		cost->disk.total_ns += call.ns;
	} else {
		cost->other.count++;
		cost->other.total_ns += call.ns;
	}
	return bins_add(&cost->bins, cost->calls++, log2(call.ns + !call.ns) * ROWS_AN_OCTAVE,
			call.class, call.ns);
}

static int fig_cost_write_data(struct drawing *drawing, const struct bins *bins)
{
	struct bins_cell *cells = bins_sorted(bins);
	FILE *csv = drawing->streams[DRAWING_CSV];
	size_t i;

	if (!cells)
		return -ENOMEM;
	fputs("first_call,last_call,mean_call,mean_us,class,calls\n", csv);
	for (i = 0; i < bins->nr_cells; i++)
		fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%.1f,%.3f,%s,%" PRIu64 "\n",
			(cells[i].x << bins->x_shift) + 1, (cells[i].x + 1) << bins->x_shift,
			(double)cells[i].x_sum / cells[i].count + 1,
			/*
			 * A logarithmic axis has no 0: times below the clock's resolution are
			 * drawn as 1 ns.
			 */
			fmax((double)cells[i].sum / cells[i].count / 1e3, 0.001),
			fault_class_name(cells[i].kind), cells[i].count);
	free(cells);
	return 0;
}

static void fig_cost_write_script(struct drawing *drawing, const struct bins *bins)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];

	scatter_key(drawing, bins);
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("set xlabel 'call number'\nset ylabel 'call time'\n", script);
	axes_whole(script, 'x', 0, bins->x_max + 1);
	axes_log_time(script, 'y', exp2((double)bins->y_min / ROWS_AN_OCTAVE) / 1e3,
		      exp2((double)(bins->y_max + 1) / ROWS_AN_OCTAVE) / 1e3);
	scatter_plot(drawing, bins, "$3", "$4", 5);
	drawing_script_end(drawing);
}

static void fig_cost_write_caption(struct drawing *drawing, const struct cost *cost,
				   const struct report *report)
{
	const uint64_t all_ns = cost->disk.total_ns + cost->other.total_ns;
	char row[32];

	snprintf(row, sizeof(row), "%.0f %%",
		 100 * (exp2((double)(1ULL << cost->bins.y_shift) / ROWS_AN_OCTAVE) - 1));
	scatter_amount(drawing, &cost->bins, row);
	if (cost->disk.count)
		drawing_say(drawing, DRAWING_READING,
			    "%" PRIu64 " call%s of disk, wait and readahead took %s on "
			    "average, and %.1f %% of the handlers' time.",
			    cost->disk.count, PLURAL(cost->disk.count),
			    drawing_time((double)cost->disk.total_ns / cost->disk.count).text,
			    all_ns ? 100.0 * cost->disk.total_ns / all_ns : 0);
	else if (view_source_is_perf(report))
		drawing_say(drawing, DRAWING_READING,
			    "Which faults read from a disk is not known: perf does not report it.");
	else
		drawing_say(drawing, DRAWING_READING, "There was no disk, wait or readahead call.");
	if (cost->other.count)
		drawing_say(drawing, DRAWING_READING,
			    " The%s %" PRIu64 " call%s took %s on average.",
			    cost->disk.count ? " other" : "", cost->other.count,
			    PLURAL(cost->other.count),
			    drawing_time((double)cost->other.total_ns / cost->other.count).text);
	if (report->cost.subtract && report->cost.inside_ps != COUNT_NA)
		drawing_say(
			drawing, DRAWING_READING,
			" These times include the module's own time; --subtract affects only the "
			"tables.");
	drawing_say(drawing, DRAWING_ALT,
		    "Marks by class, on a log scale: the time of each fault handler call in µs, "
		    "over the call number.");
}

static int fig_cost_draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct cost *cost = data;

	if (!cost->bins.count) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
		return 0;
	}
	fig_cost_write_caption(drawing, cost, source->report);
	fig_cost_write_script(drawing, &cost->bins);
	return fig_cost_write_data(drawing, &cost->bins);
}

const struct figure figure_cost = {
	.name = "cost",
	.title = "Cost of each fault",
	.open = open_cost,
	.close = close_cost,
	.item = fig_cost_add_item,
	.draw = fig_cost_draw,
};

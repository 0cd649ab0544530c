// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws which share of the faults on reclaimed pages more memory would have avoided, as two lines:
 * the least and the most. The points come from the report.
 */
#include <inttypes.h>
#include <math.h>

#include "figures/drawing.h"
#include "figures/figure.h"
#include "report/more_memory.h"
#include "report/view.h"

static double mib_of(const struct report *report, const struct memory_curve_point *point)
{
	return more_memory_bytes(report, point) / 0x1p20;
}

struct memory_text {
	char text[32];
};

static struct memory_text memory_of(const struct report *report,
				    const struct memory_curve_point *point)
{
	const double mib = mib_of(report, point);
	struct memory_text memory;

	if (mib < 1)
		snprintf(memory.text, sizeof(memory.text), "%.1f KiB", ceil(10240 * mib) / 10);
	else
		snprintf(memory.text, sizeof(memory.text), "%.1f MiB", ceil(10 * mib) / 10);
	return memory;
}

static void fig_more_memory_write_data(struct drawing *drawing, const struct report *report)
{
	const struct evictions_curve *curve = &report->pages.evictions.curve;
	FILE *csv = drawing->streams[DRAWING_CSV];
	size_t i;

	fputs("mib,least_percent,most_percent\n0.000,0.00,0.00\n", csv);
	for (i = 0; i < curve->nr_points; i++)
		fprintf(csv, "%.3f,%.2f,%.2f\n", mib_of(report, &curve->points[i]),
			100 * curve->points[i].least.faults, 100 * curve->points[i].most.faults);
}

static void fig_more_memory_write_script(struct drawing *drawing, const struct report *report)
{
	const struct evictions_curve *curve = &report->pages.evictions.curve;
	const double last = mib_of(report, &curve->points[curve->nr_points - 1]);
	FILE *script = drawing->streams[DRAWING_SCRIPT];

	drawing_key(drawing, "at most");
	drawing_key(drawing, "at least");
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	axes_whole(script, 'x', 0, (uint64_t)ceil(last));
	fprintf(script,
		"set xlabel 'more memory (MiB)'\nset ylabel 'faults avoided (%%)'\n"
		"set yrange [0:100]\n"
		"plot 'more_memory.csv' skip 1 using 1:3 with lines lw 2 lc rgb '#%06x' title "
		"'at most', \\\n"
		"\t'more_memory.csv' skip 1 using 1:2 with lines lw 2 lc rgb '#%06x' title "
		"'at least'\n",
		COLOUR_VERMILLION, COLOUR_BLUE);
	drawing_script_end(drawing);
}

static void fig_more_memory_write_caption(struct drawing *drawing, const struct report *report)
{
	const struct evictions_curve *curve = &report->pages.evictions.curve;
	const struct memory_curve_point *half = more_memory_for(report, 0.5);
	const struct memory_curve_point *all = more_memory_for(report, 1);

	drawing_say(drawing, DRAWING_READING,
		    "With %s more, none of %" PRIu64 " fault%s that waited %s for reclaimed pages "
		    "would have been.",
		    memory_of(report, all).text, curve->figures.faults,
		    PLURAL(curve->figures.faults), drawing_time(curve->figures.total_ns).text);
	if (half != all)
		drawing_say(drawing, DRAWING_READING, " With %s, %.0f to %.0f %% fewer.",
			    memory_of(report, half).text, 100 * half->least.faults,
			    100 * half->most.faults);
	if (more_memory_is_shared(report))
		drawing_say(drawing, DRAWING_READING,
			    " Processes without such faults reclaimed some pages, and may "
			    "need part of this memory.");
	drawing_say(drawing, DRAWING_AMOUNT, "%zu sizes, and none.", curve->nr_points);
	drawing_say(drawing, DRAWING_ALT,
		    "Two lines: the least and the most share of faults avoided, over "
		    "the added memory.");
}

static int fig_more_memory_draw(void *data, const struct figure_source *source,
				struct drawing *drawing)
{
	const struct report *report = source->report;
	const char *lack = view_lacks_evictions(report);

	(void)data;
	if (lack) {
		drawing_say(drawing, DRAWING_MISSING, "%s", lack);
		return 0;
	}
	if (!report->pages.evictions.curve.nr_points) {
		drawing_say(drawing, DRAWING_MISSING,
			    "no fault waited for a page that had been reclaimed");
		return 0;
	}
	fig_more_memory_write_caption(drawing, report);
	fig_more_memory_write_data(drawing, report);
	fig_more_memory_write_script(drawing, report);
	return 0;
}

const struct figure figure_more_memory = {
	.name = "more_memory",
	.title = "Faults that more memory would have avoided",
	.draw = fig_more_memory_draw,
};

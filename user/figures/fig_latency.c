// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws how long logical faults took: a histogram and a cumulative curve for each class. The
 * distributions come from the analysis of the run.
 */
#include <inttypes.h>
#include <math.h>

#include "figures/drawing.h"
#include "figures/figure.h"

#define BINS_AN_OCTAVE 4
#define NR_BINS	       (64 * BINS_AN_OCTAVE)

static unsigned int bin_of(uint64_t ns)
{
	return log2(ns + !ns) * BINS_AN_OCTAVE;
}

static double edge_us(unsigned int bin)
{
	return exp2((double)bin / BINS_AN_OCTAVE) / 1e3;
}

/* False: the class has no faults. */
static bool count_bins(const struct figure_source *source, enum fault_class class,
		       uint64_t counts[NR_BINS])
{
	const struct quantiles *times = analysis_histogram(source->analysis, class, NR_PARTS);
	struct quantile_bucket bucket;
	unsigned int cursor = 0, i;

	for (i = 0; i < NR_BINS; i++)
		counts[i] = 0;
	while (times && quantile_next(times, &cursor, &bucket))
		counts[bin_of(bucket.low_ns)] += bucket.count;
	return times;
}

static void plot_lines(struct drawing *drawing, const struct figure_source *source, const char *x,
		       const char *y, const char *style)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const char *separator = "plot ";
	enum fault_class class;
	unsigned int i;

	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_layers[NR_FAULT_CLASSES - 1 - i];
		if (!source->report->faults.classes[class].count)
			continue;
		fprintf(script,
			"%s'%s.csv' skip 1 using (%s):(strcol(1) eq '%s' ? %s : NaN) \\\n"
			"\twith %s lw 2 dt %s lc rgb '#%06x' title '%s (%s)'",
			separator, drawing->name, x, fault_class_name(class), y, style,
			fault_classes[class].dash, fault_classes[class].rgb,
			fault_classes[class].title, fault_class_name(class));
		separator = ", \\\n\t";
	}
	fputc('\n', script);
}

/* Starts the script for lines by class, with the time axis. */
static void begin_lines(struct drawing *drawing, const struct figure_source *source, uint64_t *most)
{
	unsigned int first = NR_BINS, last = 0, bin;
	uint64_t counts[NR_BINS];
	enum fault_class class;
	char title[64];

	*most = 0;
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!count_bins(source, class, counts))
			continue;
		snprintf(title, sizeof(title), "%s (%s)", fault_classes[class].title,
			 fault_class_name(class));
		drawing_key(drawing, title);
		for (bin = 0; bin < NR_BINS; bin++) {
			if (!counts[bin])
				continue;
			first = bin < first ? bin : first;
			last = bin > last ? bin : last;
			*most = counts[bin] > *most ? counts[bin] : *most;
		}
	}
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("set xlabel 'fault time'\nset key samplen 3\n", drawing->streams[DRAWING_SCRIPT]);
	axes_log_time(drawing->streams[DRAWING_SCRIPT], 'x', edge_us(first), edge_us(last + 1));
}

static bool fig_latency_is_empty(const struct figure_source *source, struct drawing *drawing)
{
	if (source->report->faults.all.count)
		return false;
	drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
	return true;
}

static void say_bins(struct drawing *drawing, const struct fault_figures *all)
{
	drawing_say(drawing, DRAWING_AMOUNT, "%" PRIu64 " logical fault%s, in %d bins per octave.",
		    all->count, PLURAL(all->count), BINS_AN_OCTAVE);
}

static void latency_data(const struct figure_source *source, struct drawing *drawing)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	unsigned int first, last, bin;
	uint64_t counts[NR_BINS];
	enum fault_class class;

	fputs("class,from_us,to_us,faults\n", csv);
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!count_bins(source, class, counts))
			continue;
		for (first = 0; !counts[first]; first++)
			;
		for (last = NR_BINS - 1; !counts[last]; last--)
			;
		/* An empty bin on each side: a step begins and ends at the bottom. */
		first -= first > 0;
		last += last < NR_BINS - 1;
		for (bin = first; bin <= last; bin++)
			fprintf(csv, "%s,%.4f,%.4f,%" PRIu64 "\n", fault_class_name(class),
				edge_us(bin), edge_us(bin + 1), counts[bin]);
	}
}

/* Classes with less are only in the table. */
#define LEAST_SHARE 20 /* 1/20 of all faults' time */

static void say_latency(const struct figure_source *source, struct drawing *drawing)
{
	const struct fault_figures *faults;
	const char *separator = "";
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		faults = &source->report->faults.classes[class];
		if (!faults->count || LEAST_SHARE * faults->whole.total_ns <
					      source->report->faults.all.whole.total_ns)
			continue;
		drawing_say(drawing, DRAWING_READING,
			    "%sOf %" PRIu64 " fault%s of the class “%s” (%s) half took up to "
			    "%s, 99 in 100 up to %s, the longest %s.",
			    separator, faults->count, PLURAL(faults->count),
			    fault_classes[class].title, fault_class_name(class),
			    drawing_time(faults->whole.p50_ns).text,
			    drawing_time(faults->whole.p99_ns).text,
			    drawing_time(faults->whole.max_ns).text);
		separator = " ";
	}
}

static int draw_latency(void *data, const struct figure_source *source, struct drawing *drawing)
{
	uint64_t most;

	(void)data;
	if (fig_latency_is_empty(source, drawing))
		return 0;
	say_bins(drawing, &source->report->faults.all);
	drawing_say(drawing, DRAWING_ALT,
		    "One line per class: the fault count over the duration, both on log "
		    "scales.");
	say_latency(source, drawing);
	latency_data(source, drawing);
	begin_lines(drawing, source, &most);
	fputs("set ylabel 'faults in a bin'\n", drawing->streams[DRAWING_SCRIPT]);
	axes_log_count(drawing->streams[DRAWING_SCRIPT], 'y', most);
	/* Empty bins are drawn at the bottom, so that no line crosses the gap. */
	plot_lines(drawing, source, "$2", "($4 > 0 ? $4 : " AXES_LOG_COUNT_END ")", "steps");
	drawing_script_end(drawing);
	return 0;
}

static void cumulative_data(const struct figure_source *source, struct drawing *drawing)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	uint64_t counts[NR_BINS], all, below;
	enum fault_class class;
	unsigned int bin;

	fputs("class,up_to_us,faults,percent\n", csv);
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!count_bins(source, class, counts))
			continue;
		all = source->report->faults.classes[class].count;
		for (bin = 0, below = 0; bin < NR_BINS && below < all; bin++) {
			if (counts[bin] && !below)
				fprintf(csv, "%s,%.4f,0,0\n", fault_class_name(class),
					edge_us(bin));
			below += counts[bin];
			if (below)
				fprintf(csv, "%s,%.4f,%" PRIu64 ",%.4f\n", fault_class_name(class),
					edge_us(bin + 1), below, 100.0 * below / all);
		}
	}
}

static int draw_cumulative(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct fault_figures *all = &source->report->faults.all;
	uint64_t most;

	(void)data;
	if (fig_latency_is_empty(source, drawing))
		return 0;
	say_bins(drawing, all);
	drawing_say(drawing, DRAWING_ALT,
		    "One line per class: the share of faults up to a duration, from 0 to 100 %%, "
		    "over the duration on a log scale.");
	drawing_say(drawing, DRAWING_READING,
		    "Half the faults took up to %s, 99 in 100 up to %s, which is %.1f times as "
		    "long.",
		    drawing_time(all->whole.p50_ns).text, drawing_time(all->whole.p99_ns).text,
		    (double)all->whole.p99_ns / (all->whole.p50_ns + !all->whole.p50_ns));
	cumulative_data(source, drawing);
	begin_lines(drawing, source, &most);
	fputs("set ylabel 'faults that took up to it (%)'\nset yrange [0:100]\n",
	      drawing->streams[DRAWING_SCRIPT]);
	plot_lines(drawing, source, "$2", "$4", "lines");
	drawing_script_end(drawing);
	return 0;
}

const struct figure figure_latency = {
	.name = "latency",
	.title = "How long the faults took",
	.draw = draw_latency,
};

const struct figure figure_cumulative = {
	.name = "cumulative",
	.title = "Cumulative share of faults by duration",
	.draw = draw_cumulative,
};

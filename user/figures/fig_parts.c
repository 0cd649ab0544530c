// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws where each class's fault time went, as bars with stacked parts. All numbers come from the
 * report.
 */
#include <inttypes.h>

#include "figures/drawing.h"
#include "figures/figure.h"
#include "report/view.h"

/* Rows are drawn from bottom to top; reverse order puts the first class on top. */
static unsigned int fig_parts_write_data(struct drawing *drawing, const struct report *report)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	const struct fault_figures *faults;
	unsigned int row = 0, i;
	enum fault_class class;
	uint64_t from;
	enum part part;

	fputs("row,class,part,from_percent,to_percent,ms,class_ms\n", csv);
	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_layers[i];
		faults = &report->faults.classes[class];
		if (!faults->whole.total_ns)
			continue;
		row++;
		for (part = 0, from = 0; part < NR_PARTS; from += faults->parts[part++].total_ns)
			if (faults->parts[part].total_ns)
				fprintf(csv, "%u,%s,%s,%.4f,%.4f,%.6f,%.6f\n", row,
					fault_class_name(class), part_name(part),
					100.0 * from / faults->whole.total_ns,
					100.0 * (from + faults->parts[part].total_ns) /
						faults->whole.total_ns,
					faults->parts[part].total_ns / 1e6,
					faults->whole.total_ns / 1e6);
	}
	return row;
}

static void fig_parts_write_labels(FILE *script, const struct report *report)
{
	const struct fault_figures *faults;
	unsigned int row = 0, i;

	fputs("set ytics scale 0 (", script);
	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		faults = &report->faults.classes[fault_class_layers[i]];
		if (faults->whole.total_ns)
			fprintf(script, "%s\"%s\\n%s: %s\" %u", row ? ", " : "",
				fault_classes[fault_class_layers[i]].title,
				fault_class_name(fault_class_layers[i]),
				drawing_time(faults->whole.total_ns).text, row + 1);
		row += !!faults->whole.total_ns;
	}
	fputs(")\n", script);
}

static void fig_parts_write_script(struct drawing *drawing, const struct report *report,
				   unsigned int rows)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const char *separator = "plot ";
	enum part part;
	char title[64];

	for (part = 0; part < NR_PARTS; part++) {
		snprintf(title, sizeof(title), "%s (%s)", part_title(part), part_name(part));
		if (report->faults.all.parts[part].total_ns)
			drawing_key(drawing, title);
	}
	drawing_script_begin(drawing, 90 + 44 * rows);
	fprintf(script,
		"set xlabel 'share of class time (%%)'\nset xrange [0:100]\n"
		"set yrange [0.4:%u.6]\nunset grid\n"
		"set style fill solid border lc rgb '#ffffff'\n",
		rows);
	fig_parts_write_labels(script, report);
	for (part = 0; part < NR_PARTS; part++) {
		if (!report->faults.all.parts[part].total_ns)
			continue;
		fprintf(script,
			"%s'parts.csv' skip 1 using ($4+$5)/2:(strcol(3) eq '%s' ? $1 : NaN)"
			":4:5:($1-0.36):($1+0.36) \\\n"
			"\twith boxxyerror fc rgb '#%06x' title '%s (%s)'",
			separator, part_name(part), part_rows[part].rgb, part_title(part),
			part_name(part));
		separator = ", \\\n\t";
	}
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void fig_parts_write_caption(struct drawing *drawing, const struct report *report)
{
	const struct fault_figures *all = &report->faults.all, *most = &report->faults.classes[0];
	enum fault_class class, costliest = 0;
	enum part part, longest = 0;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (report->faults.classes[class].whole.total_ns <= most->whole.total_ns)
			continue;
		most = &report->faults.classes[class];
		costliest = class;
	}
	for (part = 0; part < NR_PARTS; part++)
		if (most->parts[part].total_ns > most->parts[longest].total_ns)
			longest = part;
	drawing_say(drawing, DRAWING_READING,
		    "All faults took %s. %.1f %% of it went to %" PRIu64
		    " fault%s of the class “%s” (%s), and %.1f %% of that to “%s” (%s).",
		    drawing_time(all->whole.total_ns).text,
		    100.0 * most->whole.total_ns / all->whole.total_ns, most->count,
		    PLURAL(most->count), fault_classes[costliest].title,
		    fault_class_name(costliest),
		    100.0 * most->parts[longest].total_ns / most->whole.total_ns,
		    part_title(longest), part_name(longest));
	drawing_say(drawing, DRAWING_AMOUNT,
		    "%" PRIu64 " logical fault%s; %s%.2f %% of their time is "
		    "unexplained (residue).",
		    all->count, PLURAL(all->count), view_cpu_at_most(report) ? "at least " : "",
		    100 * view_residue_share(report));
	drawing_say(drawing, DRAWING_ALT,
		    "One bar per class, with the share of time that each "
		    "part took: on the CPU, in the queue, at the device, waiting for others, "
		    "blocked or waiting for a CPU.");
}

static int fig_parts_draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct report *report = source->report;

	(void)data;
	if (!report->faults.parts_known) {
		drawing_say(drawing, DRAWING_MISSING, "the parts of the time are not known: %s",
			    report->bpf.missing[0] ? report->bpf.missing : "there was no eBPF");
		return 0;
	}
	if (!report->faults.all.whole.total_ns) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
		return 0;
	}
	fig_parts_write_caption(drawing, report);
	fig_parts_write_script(drawing, report, fig_parts_write_data(drawing, report));
	return 0;
}

const struct figure figure_parts = {
	.name = "parts",
	.title = "Where the time went",
	.draw = fig_parts_draw,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the script to mark calls by class over the call number. The figures `order` and `cost`
 * share this script. The marks come from the figures' bins.
 */
#include <inttypes.h>

#include "figures/palette.h"
#include "figures/scatter.h"

void scatter_amount(struct drawing *drawing, const struct bins *bins, const char *row)
{
	/* A mark is drawn at the mean position of the points in it. */
	if (bins->nr_cells == bins->count)
		drawing_say(drawing, DRAWING_AMOUNT, "%" PRIu64 " call%s, one mark each.",
			    bins->count, PLURAL(bins->count));
	else
		drawing_say(
			drawing, DRAWING_AMOUNT,
			"%" PRIu64 " calls in %zu marks; a mark is %" PRIu64
			" calls wide and %s high, and may represent several calls of the class.",
			bins->count, bins->nr_cells, (uint64_t)1 << bins->x_shift, row);
}

static bool has_class(const struct bins *bins, enum fault_class class)
{
	size_t i;

	for (i = 0; i < bins->nr_slots; i++)
		if (bins->slots[i].count && bins->slots[i].kind == class)
			return true;
	return false;
}

void scatter_key(struct drawing *drawing, const struct bins *bins)
{
	enum fault_class class;
	char title[64];

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!has_class(bins, class))
			continue;
		snprintf(title, sizeof(title), "%s (%s)", fault_classes[class].title,
			 fault_class_name(class));
		drawing_key(drawing, title);
	}
}

void scatter_plot(struct drawing *drawing, const struct bins *bins, const char *x, const char *y,
		  unsigned int class_column)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const struct fault_class_traits *mark;
	const char *separator = "plot ";
	enum fault_class class;
	unsigned int i;

	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_layers[i];
		if (!has_class(bins, class))
			continue;
		mark = &fault_classes[class];
		fprintf(script,
			"%s'%s.csv' skip 1 using (%s):(strcol(%u) eq '%s' ? %s : NaN) \\\n"
			"\twith points pt %u ps %.2f lc rgb '#%06x' title '%s (%s)'",
			separator, drawing->name, x, class_column, fault_class_name(class), y,
			mark->point, mark->size, mark->rgb, mark->title, fault_class_name(class));
		separator = ", \\\n\t";
	}
	fputc('\n', script);
}

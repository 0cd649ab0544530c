// SPDX-License-Identifier: GPL-2.0-only
/* Computes every figure printed by more than one printer: study columns, group rows, verdict. */
#include "print/view_run.h"

#define STUDIED_COLUMNS ((1U << PFSTAT_NR_COLUMNS) - 1)

static void subtract_ns(uint64_t *ns, double less_ns)
{
	*ns = *ns > less_ns ? *ns - less_ns + 0.5 : 0;
}

/* Subtracts inside_ps for each call. COUNT_NA changes nothing. No time becomes negative. */
static void subtract_inside(struct class_figures *figures, uint64_t inside_ps)
{
	const double inside_ns = inside_ps / 1e3;

	if (inside_ps == COUNT_NA)
		return;
	subtract_ns(&figures->total_ns, figures->count * inside_ns);
	subtract_ns(&figures->max_ns, inside_ns);
	subtract_ns(&figures->p50_ns, inside_ns);
	subtract_ns(&figures->p99_ns, inside_ns);
}

static void view_groups(struct view *view, const struct report *run)
{
	size_t i;

	view->nr_rows = run->groups.nr;
	if (run->top && run->top < run->groups.nr)
		view->nr_rows = run->top;
	view->left_out = (struct group){ .name = "(left out)" };
	for (i = view->nr_rows; i < run->groups.nr; i++)
		group_add(&view->left_out, &run->groups.rows[i]);
}

/*
 * Combines classes into one. If the module's share is subtracted, it is subtracted from each class
 * first, so the total is the sum of the classes.
 */
static void combine(const struct view *view, const enum pfstat_class *classes, unsigned int nr,
		    struct class_figures *figures)
{
	unsigned int i;

	summary_combine(view->run->summary, classes, nr, figures);
	if (!view->run->cost.subtract)
		return;
	subtract_inside(figures, view->run->cost.inside_ps);
	figures->total_ns = 0;
	for (i = 0; i < nr; i++)
		figures->total_ns += view->figures.classes[classes[i]].total_ns;
}

/* Combines the classes in several columns. @columns: one bit for each column. */
static void combine_columns(const struct view *view, unsigned int columns,
			    struct class_figures *figures)
{
	enum pfstat_class class, classes[PFSTAT_NR_CLASSES];
	unsigned int nr = 0;

	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		if (columns & 1U << fault_class_column(class))
			classes[nr++] = class;
	combine(view, classes, nr, figures);
}

/* Only call times are adjusted. A fault's parts stay unchanged. */
static void view_classes(struct view *view)
{
	unsigned int i;

	summary_figures(view->run->summary, &view->figures);
	for (i = 0; view->run->cost.subtract && i < PFSTAT_NR_CLASSES; i++)
		subtract_inside(&view->figures.classes[i], view->run->cost.inside_ps);
	for (i = 0; i < PFSTAT_NR_COLUMNS; i++)
		combine_columns(view, 1U << i, &view->study[i]);
	combine_columns(view, STUDIED_COLUMNS, &view->study[STUDY_ALL]);
	combine_columns(view, STUDIED_COLUMNS | 1U << PFSTAT_COLUMN_NONE, &view->every);
}

void view_run(struct view *view, const struct report *run)
{
	view->run = run;
	view_classes(view);
	view_groups(view, run);
	verdict_make(&view->verdict, run);
}

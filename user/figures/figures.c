// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes a run's stream (items, faults, page fates) to all figures, then lets each figure draw. A
 * figure without an open function draws from the report.
 */
#include <errno.h>
#include <string.h>

#include "figures/figures.h"

#define FIGURE_ADDRESS(name) &figure_##name,
static const struct figure *const all[] = { FIGURES(FIGURE_ADDRESS) };

static int on_fault(void *context, const struct explained *fault)
{
	struct figures *figures = context;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->fault)
			err = all[i]->fault(figures->data[i], fault);
	return err;
}

static int on_pages(void *context, const struct readahead_pages *pages)
{
	struct figures *figures = context;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->pages)
			err = all[i]->pages(figures->data[i], pages);
	return err;
}

int figures_open(struct figures *figures, struct analysis *analysis)
{
	unsigned int i;

	memset(figures, 0, sizeof(*figures));
	for (i = 0; i < FIGURES_NR; i++) {
		if (!all[i]->open)
			continue;
		figures->data[i] = all[i]->open(analysis_page_bytes(analysis));
		if (!figures->data[i])
			return -ENOMEM;
	}
	analysis_listen_pages(analysis, on_pages, figures);
	return analysis_listen(analysis, on_fault, figures);
}

void figures_close(struct figures *figures)
{
	unsigned int i;

	for (i = 0; i < FIGURES_NR; i++) {
		if (figures->data[i])
			all[i]->close(figures->data[i]);
		figures->data[i] = NULL;
		drawing_free(&figures->drawings[i]);
	}
}

int figures_item(struct figures *figures, const struct item *item)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->item)
			err = all[i]->item(figures->data[i], item);
	return err;
}

int figures_draw(struct figures *figures, const struct figure_source *source)
{
	struct drawing *drawing;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++) {
		drawing = &figures->drawings[i];
		err = drawing_begin(drawing, all[i]->name, all[i]->title);
		if (!err)
			err = all[i]->draw(figures->data[i], source, drawing);
		if (!err)
			err = drawing_end(drawing);
	}
	return err;
}

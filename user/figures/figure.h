/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A figure for a run. The figure collects data while the run is streamed, in bounded memory, and
 * draws at the end.
 */
#ifndef PFSTAT_USER_FIGURE_H
#define PFSTAT_USER_FIGURE_H

#include "analyze/analysis.h"
#include "figures/drawing.h"
#include "report/report.h"

struct figure_source {
	const struct report *report; /* already filled */
	const struct analysis *analysis;
};

struct figure {
	const char *name;
	const char *title;
	/* If the report has all the data, draw is the only function that is not NULL. */
	/* @page_bytes: the measured machine's page size. NULL without memory */
	void *(*open)(uint64_t page_bytes);
	void (*close)(void *data);
	int (*item)(void *data, const struct item *item);
	explain_sink fault;
	readahead_sink pages;
	/* 0 or -ENOMEM. */
	int (*draw)(void *data, const struct figure_source *source, struct drawing *drawing);
};

/*
 * All figures, in page order. For each FIGURE(name), one file in this folder defines figure_NAME.
 * All other code takes the figures from this list.
 */
#define FIGURES(FIGURE)    \
	FIGURE(order)      \
	FIGURE(cost)       \
	FIGURE(latency)    \
	FIGURE(cumulative) \
	FIGURE(parts)      \
	FIGURE(heat)       \
	FIGURE(readahead)  \
	FIGURE(timeline)   \
	FIGURE(evictions)  \
	FIGURE(more_memory)

#define FIGURE_DECLARATION(name) extern const struct figure figure_##name;
FIGURES(FIGURE_DECLARATION)

#define FIGURE_INDEX(name) FIGURE_INDEX_##name,
enum figure_index { FIGURES(FIGURE_INDEX) FIGURES_NR };

#endif

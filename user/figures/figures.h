/* SPDX-License-Identifier: GPL-2.0-only */
/* All figures for a run. */
#ifndef PFSTAT_USER_FIGURES_H
#define PFSTAT_USER_FIGURES_H

#include "figures/figure.h"

struct figures {
	void *data[FIGURES_NR];
	struct drawing drawings[FIGURES_NR]; /* valid after figures_draw() */
};

/* Registers with the analysis. Returns 0 or a negative errno. Call figures_close() in any case. */
int figures_open(struct figures *figures, struct analysis *analysis);
void figures_close(struct figures *figures);
/* Call it for each item, before the analysis consumes the item. */
int figures_item(struct figures *figures, const struct item *item);
int figures_draw(struct figures *figures, const struct figure_source *source);

#endif

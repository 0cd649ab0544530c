/* SPDX-License-Identifier: GPL-2.0-only */
/* All figures of a run. */
#ifndef PFSTAT_USER_FIGURES_H
#define PFSTAT_USER_FIGURES_H

#include "figures/figure.h"

struct figures {
	void *data[FIGURES_NR];
	struct drawing drawings[FIGURES_NR]; /* after figures_draw() */
};

/* Listens to the analysis. 0 or a negative errno; in any case figures_close(). */
int figures_open(struct figures *figures, struct analysis *analysis);
void figures_close(struct figures *figures);
/* Each item, before the analysis has it. */
int figures_item(struct figures *figures, const struct item *item);
int figures_draw(struct figures *figures, const struct figure_source *source);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a load takes, over the size of the memory and the stride, with the caches' sizes. */
#ifndef PFSTAT_USER_FIG_MEMORY_H
#define PFSTAT_USER_FIG_MEMORY_H

#include "bench/bench_results.h"
#include "figures/drawing.h"

/* Begins and ends the drawing. 0 or -ENOMEM. */
int fig_memory_draw(struct drawing *drawing, const struct bench_results *results);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The figure for memory.latency. */
#ifndef PFSTAT_USER_FIG_MEMORY_H
#define PFSTAT_USER_FIG_MEMORY_H

#include "bench/suite/bench_results.h"
#include "figures/drawing.h"

/* Fills a new drawing. 0 or -ENOMEM. */
int fig_memory_draw(struct drawing *drawing, const struct bench_results *results);

#endif

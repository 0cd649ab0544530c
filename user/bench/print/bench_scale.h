/* SPDX-License-Identifier: GPL-2.0-only */
/* How faults scale with threads, as a table of its own. */
#ifndef PFSTAT_USER_BENCH_SCALE_H
#define PFSTAT_USER_BENCH_SCALE_H

#include <stdio.h>

#include "bench/bench_results.h"

/* Nothing, if none of its rows was measured. 0 or a negative errno. */
int print_scale(FILE *out, const struct bench_results *results);

#endif

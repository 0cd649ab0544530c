/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows computed from other rows. Pure. */
#ifndef PFSTAT_USER_DERIVED_H
#define PFSTAT_USER_DERIVED_H

#include "bench/suite/bench_results.h"

/* Fills the rows of operations with derived_from. 0 or -ENOMEM. */
int derived_fill(struct bench_results *results);

#endif

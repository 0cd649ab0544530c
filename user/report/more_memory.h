/* SPDX-License-Identifier: GPL-2.0-only */
/* How the outputs read the curve for more memory (analyze/pages/memory_curve.h). */
#ifndef PFSTAT_USER_MORE_MEMORY_H
#define PFSTAT_USER_MORE_MEMORY_H

#include <stdbool.h>

#include "report/report.h"

/* The smallest point that avoids at least this share of the faults, 0 to 1. NULL if none. */
const struct memory_curve_point *more_memory_for(const struct report *run, double share);

/*
 * True if processes that did not need such pages again reclaimed some of them. Then their own pages
 * may use the added memory, and the others need more than the curve has.
 */
bool more_memory_is_shared(const struct report *run);

#endif

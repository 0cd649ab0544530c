/* SPDX-License-Identifier: GPL-2.0-only */
/* How the outputs read the curve for more memory (analyze/pages/memory_curve.h). */
#ifndef PFSTAT_USER_MORE_MEMORY_H
#define PFSTAT_USER_MORE_MEMORY_H

#include <stdbool.h>

#include "report/report.h"

/*
 * The memory of the point. The last point, which avoids all of the faults, has more than its pages:
 * - if the limit was that of a cgroup: the kernel charges pages in batches for each CPU, and does
 *   not free the batches of other CPUs before it reclaims
 * - if the pages are a sample: the error
 */
uint64_t more_memory_bytes(const struct report *run, const struct memory_curve_point *point);
/* In MiB, rounded up to three digits. */
double more_memory_mib(const struct report *run, const struct memory_curve_point *point);

/* The smallest point that avoids at least this share of the faults, 0 to 1. NULL if none. */
const struct memory_curve_point *more_memory_for(const struct report *run, double share);

/*
 * True if processes that did not need such pages again reclaimed some of them. Then their own pages
 * may use the added memory, and the others need more than the curve has.
 */
bool more_memory_is_shared(const struct report *run);

#endif

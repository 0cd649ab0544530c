/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mmap measurement study's access pattern: a working set with 512 cache lines of 64 bytes,
 * accessed 16 times in order. Each pass stores to every eighth line (the first, the ninth, …) and
 * loads from the others. The next round has another working set, for 2^20 rounds.
 *
 *	random		a working set begins at any line, with the same probability
 *	sequential	each begins 512 lines after the one before, the first one at line
 *			512; when it would reach the end, at line 0
 *
 * A set starts below line (bytes / 64 - 512), as in the study: the last lines in memory are never
 * the first of a set.
 */
#ifndef PFSTAT_USER_PATTERN_LOCALITY_H
#define PFSTAT_USER_PATTERN_LOCALITY_H

#include "workload/pattern.h"

#define LOCALITY_LINE	    64U
#define LOCALITY_LINES	    512U
#define LOCALITY_PASSES	    16U
#define LOCALITY_STORE_EACH 8U						 /* lines */
#define LOCALITY_ROUND	    ((uint64_t)LOCALITY_LINES * LOCALITY_PASSES) /* accesses */
#define LOCALITY_ROUNDS	    (1ULL << 20)
#define LOCALITY_REPEATS    5 /* runs in the study */
/* One line more than a working set. */
#define LOCALITY_MIN_BYTES ((LOCALITY_LINES + 1ULL) * LOCALITY_LINE)

#endif

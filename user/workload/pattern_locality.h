/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access pattern of the mmap measurement study: a working
 * set of 512 cache lines of 64 bytes, 16 times in order, in each pass a store to
 * every eighth line (the first, the ninth, …) and a load from the others; then the
 * next round with another working set, 2^20 rounds.
 *
 *	random		a working set begins at any line, with the same probability
 *	sequential	each begins 512 lines after the one before, the first one at line
 *			512; when it would reach the end, at line 0
 *
 * A set begins below line (bytes / 64 - 512), as in the study: the last lines of the
 * memory are never the first of one.
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
#define LOCALITY_REPEATS    5 /* runs of the study */
/* One line more than a working set. */
#define LOCALITY_MIN_BYTES ((LOCALITY_LINES + 1ULL) * LOCALITY_LINE)

#endif

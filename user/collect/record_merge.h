/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges the records in all rings by their end time, one time window after the other:
 *
 *	ring 0	| a   d | e	  |	gather: ring after ring	   a d b c
 *	ring 1	|  b c  |   f     |	sort by the digits of ns   a b c d
 *		  window   the next	pass on, then publish the tails
 *
 * Each record is read and moved equally often for any number of CPUs, and each ring is read in one
 * go. A window's width follows the record density. At equal times the first ring's record comes
 * first.
 */
#ifndef PFSTAT_USER_RECORD_MERGE_H
#define PFSTAT_USER_RECORD_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/record_ring.h"

struct merged_record {
	uint64_t ns; /* at which it ended */
	const struct pfstat_record *record;
};

/* Takes the record, which stays in the ring until the return. 0, or a negative errno. */
typedef int (*record_merge_sink)(void *context, const struct merged_record *merged);

struct record_merge {
	struct record_ring *rings;
	unsigned int nr_rings;
	size_t max; /* records per window */
	struct merged_record *window, *spare;
	size_t count;
	bool in_order; /* the window is, as it was gathered */
	uint64_t width_ns;
	uint64_t steps; /* looks at a record or a ring, and record moves, since the init */
};

/* The caller still owns the rings. 0 or -ENOMEM. */
int record_merge_init(struct record_merge *merge, struct record_ring *rings, unsigned int nr_rings);
void record_merge_exit(struct record_merge *merge);

/*
 * Passes all records up to the last record_ring_look() that ended until then. Returns the sink's
 * error. -EBADMSG: a record has a wrong sequence number. The window before it was passed.
 */
int record_merge_pass(struct record_merge *merge, uint64_t until_ns, record_merge_sink sink,
		      void *context);

#endif

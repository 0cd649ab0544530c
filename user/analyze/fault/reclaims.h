/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread's direct reclaims and compactions not yet used by a fault. They come in time order and
 * do not overlap.
 */
#ifndef PFSTAT_USER_RECLAIMS_H
#define PFSTAT_USER_RECLAIMS_H

#include <stddef.h>
#include <stdint.h>

/* A thread may reclaim often and never fault. */
#define RECLAIMS_MAX 256U

struct reclaim_interval {
	uint64_t from_ns, to_ns;
};

/* All zero is empty. */
struct reclaims {
	struct reclaim_interval *all; /* oldest first */
	size_t nr, room;
	uint64_t dropped_ns; /* reclaims up to here were dropped unused */
};

void reclaims_exit(struct reclaims *reclaims);
/* With RECLAIMS_MAX intervals, the older half is dropped. Returns 0 or -ENOMEM. */
int reclaims_add(struct reclaims *reclaims, uint64_t from_ns, uint64_t to_ns);
/* Returns the first interval overlapping [from_ns, to_ns), NULL if none. */
const struct reclaim_interval *reclaims_next(const struct reclaims *reclaims, uint64_t from_ns,
					     uint64_t to_ns);
/* Drops the intervals ending by until_ns. */
void reclaims_drop(struct reclaims *reclaims, uint64_t until_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a file in the order in which a recording saw them fault, as a
 * pattern. Between two visits lies the time that the program took between the
 * two faults (not from one start to the next: what a fault costs may change).
 */
#ifndef PFSTAT_USER_REPLAY_H
#define PFSTAT_USER_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pattern.h"

struct visit {
	uint64_t page;
	uint64_t start_ns;	/* of the recorded fault */
	uint64_t end_ns;	/* of it; after replay_order(): the gap before this visit */
};

struct replay {
	struct visit *visits;
	size_t count, capacity;
};

/* -ENOMEM. In any order. */
int replay_add(struct replay *replay, uint64_t page, uint64_t start_ns, uint64_t end_ns);
/*
 * By start. A gap is the time since the latest end of all faults that began
 * before: with several threads, whose faults overlap, it is 0 until all have ended.
 */
void replay_order(struct replay *replay);
void replay_exit(struct replay *replay);

/*
 * A pattern of the visits, fitted to a file's size; those beyond it are left
 * out. paced: the gaps are waited out; else one visit follows the other.
 */
void replay_pattern(struct pattern *pattern, const struct replay *replay, uint64_t bytes,
		    bool paced);

#endif

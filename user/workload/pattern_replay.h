/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a file in the order in which a recording saw them fault, as a
 * pattern. Between two visits lies the time that the program took between the
 * two faults (not from one start to the next: what a fault costs may change). What the
 * program advised about the file is advised again between the visits.
 */
#ifndef PFSTAT_USER_PATTERN_REPLAY_H
#define PFSTAT_USER_PATTERN_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/pattern.h"

struct replay_visit {
	uint64_t page;
	uint64_t start_ns; /* of the recorded fault */
	uint64_t end_ns;   /* of it; after replay_order(): the gap before this visit */
};

/* madvise(2) for pages of the file, at its place in the order. */
struct replay_advice {
	uint64_t page, pages;
	uint64_t start_ns;
	uint64_t end_ns; /* after replay_order(): the gap before it */
	size_t before;	 /* after replay_order(): the visit that follows */
	int advice;	 /* MADV_* */
};

struct replay {
	struct replay_visit *visits;
	size_t count, capacity;
	struct replay_advice *advices;
	size_t nr_advices, advice_capacity;
};

/* -ENOMEM. In any order. */
int replay_add(struct replay *replay, uint64_t page, uint64_t start_ns, uint64_t end_ns);
/* -ENOMEM. In any order; start and end 0: it was advised before the recording began. */
int replay_advise(struct replay *replay, const struct replay_advice *advice);
/* Forgets what was advised. */
void replay_forget_advice(struct replay *replay);
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

/* How often madvise(2) refused the last time that the pattern ran, and the last errno. */
size_t replay_refused(int *error);

#endif

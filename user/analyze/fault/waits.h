/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stacks of sleeps in faults, with their times. Time is added only if no block request
 * explains it: the parts foreign, blocked, handler, reclaim and residue. Also the last tasks before
 * waits for a CPU, and the threads that passed mmap_lock on. Bounded.
 */
#ifndef PFSTAT_USER_WAITS_H
#define PFSTAT_USER_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/cpu_tasks.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/lock_wakers.h"
#include "util/hash.h"

/* Further stacks are not distinguished: their time has no row. */
#define WAITS_MAX 1024U

struct wait_row {
	const char *cause; /* see model/wait_cause.h, NULL if not in the table */
	bool is_mmap_lock; /* the cause is mmap_lock, and a function waits for a read-write lock */
	char functions[PFSTAT_WAIT_BYTES];
	uint64_t sleeps;
	uint64_t total_ns, max_ns;
	uint64_t parts_ns[NR_PARTS];
	uint64_t classes_ns[NR_FAULT_CLASSES];
};

/* All zero is empty. */
struct waits {
	struct hash ids;       /* by text */
	struct wait_row *rows; /* for id 1, 2, … */
	size_t nr, room;
	uint64_t unknown_ns; /* foreign and blocked parts without a known stack */
	struct cpu_tasks tasks;
	struct lock_wakers lock_wakers;
};

void waits_exit(struct waits *waits);
/* Sets *id to the number of a stack, or to 0 if there are too many. Returns 0 or -ENOMEM. */
int waits_find(struct waits *waits, const char *functions, uint32_t *id);
/* The stack of an event. One whose functions have no name counts as unknown. 0 or -ENOMEM. */
int waits_find_event(struct waits *waits, const struct pfstat_wait *event, uint32_t *id,
		     enum wait_kind *kind);
/*
 * Adds a sleep in a fault, or on the way to a fault, if the stack @id waits for mmap_lock. @comm:
 * the waker's name, or "". Returns 0 or -ENOMEM.
 */
int waits_add_sleep(struct waits *waits, uint32_t id, const struct pfstat_off_cpu *interval,
		    const char *comm);
void waits_add_fault(struct waits *waits, const struct explained *fault);
/* Copies the rows with time, longest first. The caller frees them. Returns 0 or -ENOMEM. */
int waits_list(const struct waits *waits, struct wait_row **rows, size_t *nr);

#endif

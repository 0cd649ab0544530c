/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleeps of page faults for mmap_lock, with the thread that passed the lock on and this thread's
 * system call. Most sleeps come before handle_mm_fault(), so no fault contains them. Bounded.
 */
#ifndef PFSTAT_USER_LOCK_WAKERS_H
#define PFSTAT_USER_LOCK_WAKERS_H

#include <stddef.h>
#include <stdint.h>

#include "model/item.h"
#include "util/hash.h"

/* Further threads and calls have no rows: only the sums contain their sleeps. */
#define LOCK_WAKERS_MAX 1024U

struct lock_waker_row {
	uint32_t tid;	/* 0: not known */
	uint32_t doing; /* enum pfstat_waker */
	char comm[16];	/* "": not known, or not a thread of the run */
	uint64_t sleeps, total_ns, max_ns;
};

/* All zero is empty. */
struct lock_wakers {
	struct hash ids;	     /* by thread, name and call */
	struct lock_waker_row *rows; /* for id 1, 2, … */
	size_t nr, room;
	uint64_t sleeps, total_ns;
};

void lock_wakers_exit(struct lock_wakers *wakers);
/* Adds a sleep for mmap_lock. @comm: the waker's name, or "". Returns 0 or -ENOMEM. */
int lock_wakers_add(struct lock_wakers *wakers, const struct pfstat_off_cpu *interval,
		    const char *comm);
/* Copies the rows, the longest first. The caller frees them. Returns 0 or -ENOMEM. */
int lock_wakers_list(const struct lock_wakers *wakers, struct lock_waker_row **rows, size_t *nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The faults a user notices, whatever their share in the run: how many took at least 1 ms, and the
 * longest one. Pure. All zero is empty.
 */
#ifndef PFSTAT_USER_FAULT_TAIL_H
#define PFSTAT_USER_FAULT_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fault/explain.h"

#define FAULT_TAIL_NS 1000000U

/* The longest fault, or the first among equals. See struct explained for the fields. */
struct longest_fault {
	uint64_t start_ns, duration_ns; /* duration_ns 0: no fault */
	uint64_t address, pgoff, inode, ip;
	uint32_t dev, pid, tid, flags;
	enum fault_class class;
	enum part part; /* the longest, meaningless without parts_known */
	uint64_t part_ns;
	/*
	 * The kernel stack with which it slept longest, see waits.h. 0 if not known, or no sleep.
	 */
	uint32_t wait;
	uint64_t wait_ns;
	bool solved, major, parts_known;
};

struct fault_tail {
	uint64_t count, total_ns; /* faults of at least FAULT_TAIL_NS */
	struct longest_fault longest;
};

void longest_fault_set(struct longest_fault *longest, const struct explained *fault);
void fault_tail_add(struct fault_tail *tail, const struct explained *fault);

#endif

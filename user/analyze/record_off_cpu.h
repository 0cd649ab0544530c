/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The off-CPU time of the module's records. The intervals of one thread wait here until its
 * records arrive. Each record takes the share of them that lies within it. fault/ computes the
 * parts of a logical fault; the summary by class of call needs only this sum.
 */
#ifndef PFSTAT_USER_RECORD_OFF_CPU_H
#define PFSTAT_USER_RECORD_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limit on waiting intervals of a thread: 16 KiB. A further one drops the oldest, because a
 * thread may sleep often and never fault.
 */
#define RECORD_OFF_CPU_MAX (1U << 10)

struct off_cpu_span {
	uint64_t off_ns, on_ns;
};

/* All zero is an empty ring. */
struct record_off_cpu {
	struct off_cpu_span *intervals; /* a ring, oldest at `first` */
	size_t capacity;		/* 0 or a power of two */
	size_t first, count;
	uint64_t gone_ns; /* intervals that ended up to here were dropped */
};

void record_off_cpu_exit(struct record_off_cpu *off_cpu);

/* Adds an interval, in time order for each thread. Returns 0 or -ENOMEM. */
int record_off_cpu_add(struct record_off_cpu *off_cpu, uint64_t off_ns, uint64_t on_ns);

/*
 * Returns the off-CPU time of the thread within [start_ns, end_ns), and drops the intervals that
 * ended before end_ns. The records of a thread must also come in time order, and not overlap.
 * *partial: intervals that may lie in this record were dropped before, so the result is a lower
 * bound.
 */
uint64_t record_off_cpu_take(struct record_off_cpu *off_cpu, uint64_t start_ns, uint64_t end_ns,
			     bool *partial);

/* Returns the end of the latest interval ever added; 0: none. */
uint64_t record_off_cpu_latest_ns(const struct record_off_cpu *off_cpu);

#endif

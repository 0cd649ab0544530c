/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of their lives the threads were active, and how much of it they spent in faults. A
 * thread is active on the CPU and in faults, also asleep. A wait for a CPU outside faults is no
 * activity, and has a sum of its own.
 *
 *	life    |-------------------------------------------|  fork or start … exit or end
 *	events        |  off  |     |   off    |     |         off-CPU intervals, faults
 *	at least      #       #######          #######
 *	at most  ######       #######          ##############
 *
 * Between the first and the last sign of life a thread is off the CPU only in known intervals.
 * Before and after, it may sleep in an interval that did not start, or did not end, in the run, so
 * there are two bounds. A thread without any sign of life slept.
 *
 * Pure, in bounded memory: beyond 16384 threads the table starts anew.
 */
#ifndef PFSTAT_USER_ACTIVITY_H
#define PFSTAT_USER_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "util/hash.h"

struct thread_activity {
	uint32_t pid, tid;
	uint64_t life_ns;		   /* how long it existed in the run */
	uint64_t fault_ns;		   /* part of it in faults */
	uint64_t waiting_ns;		   /* part of it waiting for a CPU, outside faults */
	uint64_t active_ns, active_max_ns; /* bounds */
};

struct activity_figures {
	uint64_t threads, life_ns; /* sums over all threads */
	/* COUNT_NA if off-CPU events are not known. */
	uint64_t waiting_ns, active_ns, active_max_ns;
	/*
	 * The thread with the largest share of its life, without its waits for a CPU, in faults,
	 * among threads with at least about 1/1000 of the run in faults. tid 0: none.
	 */
	struct thread_activity stalled;
};

/* All zero is empty. */
struct activity {
	struct hash threads;		    /* by tid */
	struct activity_figures closed;	    /* exited threads' sums, stalled is not used */
	struct thread_activity stalled[64]; /* among these, by the logarithm of fault_ns */
	uint64_t first_ns, last_ns;	    /* for all signs of life */
	uint64_t anew_ns; /* when the table started anew: other threads are known from there */
};

void activity_exit(struct activity *activity);
/* How long the thread existed, without its waits for a CPU outside faults. */
uint64_t activity_own_ns(const struct thread_activity *thread);
/* Tasks, off-CPU intervals and faults come in time order. Returns 0 or -ENOMEM. */
int activity_add_task(struct activity *activity, const struct pfstat_task *task);
int activity_add_off_cpu(struct activity *activity, const struct pfstat_off_cpu *interval);
int activity_add_fault(struct activity *activity, const struct explained *fault);
/* @from_ns, @to_ns: the run's bounds, or COUNT_NA for the first and last sign of life */
void activity_figures(const struct activity *activity, uint64_t from_ns, uint64_t to_ns,
		      struct activity_figures *figures);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU intervals: a queue of intervals that the thread's faults or records may still need, and
 * the split of an interval into the parts in explain.h.
 */
#ifndef PFSTAT_USER_OFF_CPU_H
#define PFSTAT_USER_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/requests.h"

/* Intervals in a queue: 22 KiB. A thread may sleep often and never fault. */
#define OFF_CPU_QUEUE_MAX 256U

struct off_cpu_interval {
	struct pfstat_off_cpu event;
	uint64_t lost_ns;      /* earlier off-CPU time, by total_ns, without an event */
	uint64_t lost_from_ns; /* the lost intervals lie between lost_from_ns and event.off_ns */
	uint64_t task_ran_ns;  /* the task, until event.event.ns; 0: not known */
	uint16_t task;	       /* that had the CPU, see waits.h; 0: not known */
	uint16_t wait;	       /* the kernel stack, see waits.h, 0 if not known */
	enum wait_kind kind;   /* by this stack */
};

/*
 * A fault uses each interval once, and the records count the part of the interval within them. An
 * interval leaves the ring after both. All zero is an empty queue.
 */
struct off_cpu_queue {
	struct off_cpu_interval *ring; /* oldest at `first` */
	size_t capacity;	       /* 0 or a power of two */
	size_t first, count;
	size_t used;	     /* by faults: the oldest of `count` */
	size_t counted;	     /* by records: the oldest of `count` */
	uint64_t dropped_ns; /* intervals up to here were dropped unused */
	/* Intervals up to here were counted or dropped: see off_cpu_queue_count(). */
	uint64_t counted_ns;
	uint64_t last_ns;   /* end of the last interval added */
	uint64_t total_ns;  /* the last added interval's total_ns */
	bool total_unknown; /* the thread had other intervals before the first one added */
};

void off_cpu_queue_exit(struct off_cpu_queue *queue);
/*
 * Intervals come in time order, without their lost_ns and lost_from_ns. A full queue drops its
 * oldest. Returns 0 or -ENOMEM.
 */
int off_cpu_queue_add(struct off_cpu_queue *queue, const struct off_cpu_interval *interval);
/* Returns the oldest unused interval, valid until the next call. NULL: there is none. */
const struct off_cpu_interval *off_cpu_queue_oldest(const struct off_cpu_queue *queue);
/* A fault has used the oldest unused interval, or no fault will. */
void off_cpu_queue_pop(struct off_cpu_queue *queue);
/*
 * Returns the off-CPU time within the record [start_ns, end_ns). A thread's records must come in
 * time order, and not overlap. *partial: the result is a lower bound, because an interval that may
 * lie within the record was counted before or dropped.
 */
uint64_t off_cpu_queue_count(struct off_cpu_queue *queue, uint64_t start_ns, uint64_t end_ns,
			     bool *partial);
/* True if an unused interval in which the thread slept overlaps [from_ns, to_ns). */
bool off_cpu_queue_has_sleep(const struct off_cpu_queue *queue, uint64_t from_ns, uint64_t to_ns);
/* Returns the end of the latest interval that no fault used, 0 if none. */
uint64_t off_cpu_queue_unused_ns(const struct off_cpu_queue *queue);
/* Returns the end of the latest interval, 0 if none. */
static inline uint64_t off_cpu_queue_latest_ns(const struct off_cpu_queue *queue)
{
	return queue->last_ns > queue->counted_ns ? queue->last_ns : queue->counted_ns;
}

/* Upper bound of the spans: each request has three edges, the interval has three more. */
#define OFF_CPU_SPLIT_MAX (3 * REQUESTS_MATCHES + 3)

/*
 * Splits the interval, cut to [event.off_ns, event.event.ns), by the requests the thread waited
 * for. Returns the number of spans. Spans follow each other without a gap, and neighbours belong to
 * different parts. Pure.
 */
size_t off_cpu_split(const struct off_cpu_interval *interval,
		     const struct pfstat_block *const *requests, size_t nr_requests,
		     struct explain_span *spans);

/*
 * One thread's direct reclaims and compactions not yet used by a fault. They come in time order and
 * do not overlap.
 */

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

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU intervals: the queue of those of one thread that no fault has used yet, and the split
 * of one interval into the parts of explain.h.
 */
#ifndef PFSTAT_USER_OFF_CPU_H
#define PFSTAT_USER_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/requests.h"

/* Intervals in a queue: 18 KiB. A thread may sleep often and never fault. */
#define OFF_CPU_QUEUE_MAX 256U

struct off_cpu_interval {
	struct pfstat_off_cpu event;
	uint64_t lost_ns;      /* off the CPU before it, by its total_ns, in no event */
	uint64_t lost_from_ns; /* these lie somewhere between there and event.off_ns */
};

/* All zero is an empty one. */
struct off_cpu_queue {
	struct off_cpu_interval *ring; /* oldest at `first` */
	size_t capacity;	       /* 0 or a power of two */
	size_t first, count;
	uint64_t dropped_ns; /* intervals up to here were dropped unused */
	uint64_t last_ns;    /* the end of the last one that was added */
	uint64_t total_ns;   /* its total_ns */
	bool total_unknown;  /* there were others before the first one added */
};

void off_cpu_queue_exit(struct off_cpu_queue *queue);
/* In time order. A full queue drops its oldest interval. -ENOMEM. */
int off_cpu_queue_add(struct off_cpu_queue *queue, const struct pfstat_off_cpu *event);
/* The oldest, valid until the next call; NULL: the queue is empty. */
const struct off_cpu_interval *off_cpu_queue_oldest(const struct off_cpu_queue *queue);
void off_cpu_queue_pop(struct off_cpu_queue *queue);
/* Whether an interval in which the thread slept overlaps [from_ns, to_ns). */
bool off_cpu_queue_has_sleep(const struct off_cpu_queue *queue, uint64_t from_ns, uint64_t to_ns);
/* The end of the latest interval that was ever added; 0: there was none. */
uint64_t off_cpu_queue_latest_ns(const struct off_cpu_queue *queue);

/* At most: each request gives three edges, the interval itself three more. */
#define OFF_CPU_SPLIT_MAX (3 * REQUESTS_MATCHES + 3)

/*
 * Splits [event->off_ns, event->event.ns) by the requests that the thread waited for. Returns
 * the number of spans. They follow each other without a gap, and neighbours differ in their
 * part. Pure.
 */
size_t off_cpu_split(const struct pfstat_off_cpu *event, const struct pfstat_block *const *requests,
		     size_t nr_requests, struct explain_span *spans);

#endif

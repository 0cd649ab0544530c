/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers of userfaultfd: how long the faults waited until a handler had read them, and from
 * then on until it had brought the page. Input: the handlers' reads and the logical faults, about
 * in time order. Pure, in bounded memory.
 */
#ifndef PFSTAT_USER_HANDLERS_H
#define PFSTAT_USER_HANDLERS_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"

#define HANDLERS_MAX 16
/* Threads of a handler that are told apart. */
#define HANDLERS_THREADS 64
/* Reads that a fault is searched in, a power of two. A fault that was read before waits longer. */
#define HANDLERS_READS 4096U

/* A process, and the waits of PART_HANDLER that it ended. */
struct handler_row {
	uint32_t pid; /* 0: the waits whose handler is not known */
	char name[16];
	unsigned int threads; /* that read faults, at most HANDLERS_THREADS */
	uint64_t reads;	      /* faults that it has read */
	uint64_t waits, total_ns, max_ns;
	/*
	 * From the start of the wait to the first read of a fault on its page, and from then to its
	 * end. total_ns is the sum of these three.
	 */
	uint64_t queue_ns, work_ns;
	uint64_t
		unread_ns; /* waits without a recorded read: another fault's answer, or a lost event */
	uint64_t unread;
};

struct handlers_figures {
	struct handler_row rows[HANDLERS_MAX]; /* longest first */
	unsigned int nr;
};

struct handler_read {
	uint64_t ns, address;
	uint32_t target, pid, tid;
};

/* All zero has none, with page_bytes to be set. */
struct handlers {
	uint64_t page_bytes;
	struct handlers_figures figures; /* in the order of their first events */
	uint32_t threads[HANDLERS_MAX][HANDLERS_THREADS];
	struct handler_read *reads; /* a ring of HANDLERS_READS */
	uint64_t nr_reads;	    /* so far */
};

void handlers_exit(struct handlers *handlers);
/* Returns 0 or -ENOMEM. */
int handlers_add_read(struct handlers *handlers, const struct pfstat_userfault *read);
void handlers_add_fault(struct handlers *handlers, const struct explained *fault);
/*
 * Returns the handler for this PART_HANDLER span. Call it before further items are added. NULL: not
 * known, or not among the HANDLERS_MAX.
 */
const struct handler_row *handlers_find(const struct handlers *handlers,
					const struct explained *fault,
					const struct explain_span *span);
void handlers_figures(const struct handlers *handlers, struct handlers_figures *figures);

#endif

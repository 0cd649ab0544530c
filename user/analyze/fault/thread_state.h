/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state kept for each thread (picture: explain.h), and the table of all threads. The table is
 * bounded: a thread in no open fault may be dropped, and comes back when it faults.
 */
#ifndef PFSTAT_USER_THREAD_STATE_H
#define PFSTAT_USER_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/attempt_chain.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu.h"
#include "util/hash.h"

struct thread_state {
	uint32_t tid;
	uint64_t last_ns; /* start of the latest record */
	struct off_cpu_queue off_cpu;
	struct reclaims reclaims; /* not used by any fault */
	uint64_t wait_off_ns;	  /* the interval of the last kernel stack */
	uint64_t task_off_ns;	  /* the interval that the last task on the CPU belongs to */
	uint64_t task_ran_ns;
	uint16_t task;		  /* this task, see waits.h */
	uint16_t wait;		  /* this stack, see waits.h */
	enum wait_kind wait_kind; /* by this stack */
	bool any_unconfirmed;
	struct attempt_chain chain;
	struct fault_builder *fault; /* NULL: in no fault */
	/*
	 * CPU time in faults emitted since the last off-CPU event: cpu_before, cpu_after and mm.
	 * The next event may reveal that an earlier one was lost.
	 */
	uint64_t unconfirmed_ns[NR_FAULT_CLASSES][3];
};

/* Emits a dropped thread's complete fault. Returns 0 or a negative errno. */
typedef int (*thread_state_closer)(void *context, struct thread_state *thread);

/* All zero is an empty table, with `close` to be set. */
struct thread_table {
	struct hash threads;	       /* by tid */
	size_t max;		       /* with more threads, those in no fault are dropped */
	int close_err;		       /* the first error from `close` */
	uint64_t dropped_ns;	       /* latest end of an unused interval in a dropped thread */
	uint64_t counted_ns;	       /* latest end of any interval in a dropped thread */
	bool any_dropped;	       /* a new thread may have been known before */
	struct thread_state *last;     /* found last: records come in runs */
	explain_correction correction; /* or NULL */
	void *correction_context;
	thread_state_closer close;
	void *close_context;
};

void thread_table_exit(struct thread_table *table);
/* Returns the thread, and adds it if it is new. NULL: no memory. */
struct thread_state *thread_table_get(struct thread_table *table, uint32_t tid);
/* Removes the thread. The caller frees it. NULL: not in the table. */
struct thread_state *thread_table_take(struct thread_table *table, uint32_t tid);

void thread_state_free(struct thread_state *thread);
/* Marks an emitted fault's CPU time since the last interval as not confirmed yet. */
void thread_state_emitted(struct thread_state *thread, const struct fault_builder *builder);
/* Moves up to lost_ns of unconfirmed CPU time to off-CPU time. The rest is confirmed. */
void thread_state_correct(const struct thread_table *table, struct thread_state *thread,
			  uint64_t lost_ns);
/* Empties the queue. These intervals belong to no fault, but may reveal lost events. */
void thread_state_drop_intervals(const struct thread_table *table, struct thread_state *thread);

#endif

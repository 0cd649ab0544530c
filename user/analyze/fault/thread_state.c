// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread table, and CPU time in a thread's faults that a lost off-CPU event may refute.
 * explain.c adds and looks up threads. A thread in an open fault is never dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/thread_state.h"

#define THREAD_TABLE_MAX 16384U

void thread_state_free(struct thread_state *thread)
{
	off_cpu_queue_exit(&thread->off_cpu);
	reclaims_exit(&thread->reclaims);
	free(thread->fault);
	free(thread);
}

void thread_state_emitted(struct thread_state *thread, const struct fault_builder *builder)
{
	const struct explained *fault = &builder->fault;

	thread->unconfirmed_ns[fault->class][fault->nr_spans != 0] += builder->tail_cpu_ns;
	thread->unconfirmed_ns[fault->class][2] += builder->tail_mm_ns;
	thread->any_unconfirmed = true;
}

void thread_state_correct(const struct thread_table *table, struct thread_state *thread,
			  uint64_t lost_ns)
{
	static const enum part parts[3] = { PART_CPU_BEFORE, PART_CPU_AFTER, PART_MM };
	enum fault_class class;
	uint64_t ns;
	size_t i;

	if (!thread->any_unconfirmed)
		return;
	for (class = 0; class < NR_FAULT_CLASSES && lost_ns; class++) {
		for (i = 0; i < 3; i++) {
			ns = thread->unconfirmed_ns[class][i];
			if (ns > lost_ns)
				ns = lost_ns;
			lost_ns -= ns;
			if (ns && table->correction)
				table->correction(table->correction_context, class, parts[i], ns);
		}
	}
	memset(thread->unconfirmed_ns, 0, sizeof(thread->unconfirmed_ns));
	thread->any_unconfirmed = false;
}

void thread_state_drop_intervals(const struct thread_table *table, struct thread_state *thread)
{
	const struct off_cpu_interval *oldest;

	while ((oldest = off_cpu_queue_oldest(&thread->off_cpu))) {
		thread_state_correct(table, thread, oldest->lost_ns);
		off_cpu_queue_pop(&thread->off_cpu);
	}
}

static void thread_table_free_value(void *value)
{
	thread_state_free(value);
}

void thread_table_exit(struct thread_table *table)
{
	hash_exit(&table->threads, thread_table_free_value);
}

static bool thread_table_keep(void *context, void *value)
{
	struct thread_table *table = context;
	struct thread_state *thread = value;
	uint64_t unused_ns, latest_ns;
	int err;

	if (thread->chain.open || thread->chain.shared_write ||
	    (thread->fault && !thread->fault->complete))
		return true;
	if (thread->fault) {
		err = table->close(table->close_context, thread);
		table->close_err = table->close_err ?: err;
	}
	unused_ns = off_cpu_queue_unused_ns(&thread->off_cpu);
	if (unused_ns > table->dropped_ns)
		table->dropped_ns = unused_ns;
	latest_ns = off_cpu_queue_latest_ns(&thread->off_cpu);
	if (latest_ns > table->counted_ns)
		table->counted_ns = latest_ns;
	table->any_dropped = true;
	thread_state_drop_intervals(table, thread);
	thread_state_free(thread);
	return false;
}

/*
 * Drops threads in no open fault. Threads exit without an event if eBPF is missing or lost the
 * event; others are not watched, so that their last fault waits for a span that never comes. Such
 * faults are emitted in the order of their threads, so that reports do not differ.
 */
static int thread_table_shrink(struct thread_table *table)
{
	int err;

	table->last = NULL;
	err = hash_filter_sorted(&table->threads, thread_table_keep, table);
	table->max = 2 * table->threads.count;
	return err ?: table->close_err;
}

static struct thread_state *thread_table_add(struct thread_table *table, uint32_t tid)
{
	const size_t max = table->max > THREAD_TABLE_MAX ? table->max : THREAD_TABLE_MAX;
	struct thread_state *thread;

	if (table->threads.count >= max && thread_table_shrink(table))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->off_cpu.dropped_ns = table->dropped_ns;
	thread->off_cpu.counted_ns = table->counted_ns;
	thread->off_cpu.total_unknown = table->any_dropped;
	if (!hash_add(&table->threads, tid, thread))
		return thread;
	free(thread);
	return NULL;
}

struct thread_state *thread_table_get(struct thread_table *table, uint32_t tid)
{
	struct thread_state *thread = table->last;

	if (thread && thread->tid == tid)
		return thread;
	thread = hash_find(&table->threads, tid);
	if (!thread)
		thread = thread_table_add(table, tid);
	table->last = thread;
	return thread;
}

struct thread_state *thread_table_take(struct thread_table *table, uint32_t tid)
{
	struct thread_state *thread = hash_take(&table->threads, tid);

	if (table->last == thread)
		table->last = NULL;
	return thread;
}

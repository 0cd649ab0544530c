// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums the module's records by class, and counts chains and the off-CPU time of records. Records
 * and intervals come from analysis.c, and the reports read the figures. A thread in an open chain
 * is never dropped.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/fault/attempt_chain.h"
#include "analyze/record_off_cpu.h"
#include "analyze/summary.h"
#include "util/hash.h"
#include "util/quantile.h"

/* Beyond this number of threads, those in no fault are dropped. They return when they fault. */
#define THREADS_MAX 16384U

struct summary_thread {
	uint32_t tid;
	uint64_t last_ns; /* start of the latest record */
	struct attempt_chain chain;
	struct record_off_cpu off_cpu;
};

struct class_state {
	struct quantiles quantiles;
	uint64_t total_ns;
	uint64_t off_cpu_ns;
};

struct summary {
	struct class_state classes[PFSTAT_NR_CLASSES];
	struct hash threads; /* by tid */
	size_t threads_max;
	uint64_t page_bytes;
	uint64_t gone_ns;	     /* the latest end of an interval of a dropped thread */
	struct summary_thread *last; /* found last: records come in runs */
	struct attempt_chain_counts chains;
	uint64_t calls;
	uint64_t retried;
	uint64_t late;
	uint64_t off_cpu_partial;
};

struct summary *summary_new(uint64_t page_bytes)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (!summary)
		return NULL;
	summary->threads_max = THREADS_MAX;
	summary->page_bytes = page_bytes;
	return summary;
}

static void summary_thread_free(void *value)
{
	struct summary_thread *thread = value;

	record_off_cpu_exit(&thread->off_cpu);
	free(thread);
}

static bool summary_keep_thread(void *context, void *value)
{
	struct summary *summary = context;
	struct summary_thread *thread = value;
	uint64_t gone_ns;

	if (thread->chain.open || thread->chain.shared_write)
		return true;
	gone_ns = record_off_cpu_latest_ns(&thread->off_cpu);
	if (gone_ns > summary->gone_ns)
		summary->gone_ns = gone_ns;
	summary_thread_free(thread);
	return false;
}

/* Drops threads in no fault. Threads exit without an event if eBPF is missing or lost the event. */
static int summary_sweep(struct summary *summary)
{
	int err;

	summary->last = NULL;
	err = hash_filter(&summary->threads, summary_keep_thread, summary);
	summary->threads_max = 2 * summary->threads.count;
	if (summary->threads_max < THREADS_MAX)
		summary->threads_max = THREADS_MAX;
	return err;
}

static struct summary_thread *summary_thread_new(struct summary *summary, uint32_t tid)
{
	struct summary_thread *thread;

	if (summary->threads.count >= summary->threads_max && summary_sweep(summary))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->off_cpu.gone_ns = summary->gone_ns;
	if (!hash_add(&summary->threads, tid, thread))
		return thread;
	free(thread);
	return NULL;
}

/* Returns the thread, and adds it if it is new. NULL: no memory. */
static struct summary_thread *summary_thread_get(struct summary *summary, uint32_t tid)
{
	struct summary_thread *thread = summary->last;

	if (thread && thread->tid == tid)
		return thread;
	thread = hash_find(&summary->threads, tid);
	if (!thread)
		thread = summary_thread_new(summary, tid);
	summary->last = thread;
	return thread;
}

void summary_end_attempt(struct summary *summary, uint32_t tid)
{
	struct summary_thread *thread = summary->last;

	if (!thread || thread->tid != tid)
		thread = hash_find(&summary->threads, tid);
	if (thread)
		attempt_chain_returned(&thread->chain);
}

void summary_end_thread(struct summary *summary, uint32_t tid)
{
	struct summary_thread *thread = hash_take(&summary->threads, tid);

	if (!thread)
		return;
	summary->last = NULL;
	summary_thread_free(thread);
}

void summary_free(struct summary *summary)
{
	unsigned int i;

	if (!summary)
		return;
	for (i = 0; i < PFSTAT_NR_CLASSES; i++)
		quantile_exit(&summary->classes[i].quantiles);
	hash_exit(&summary->threads, summary_thread_free);
	free(summary);
}

int summary_add_off_cpu(struct summary *summary, const struct pfstat_off_cpu *interval)
{
	struct summary_thread *thread = summary_thread_get(summary, interval->event.tid);

	if (!thread)
		return -ENOMEM;
	return record_off_cpu_add(&thread->off_cpu, interval->off_ns, interval->event.ns);
}

/* Adds the record to the figures of its class. Without memory nothing is added. */
static int summary_add_to_class(struct summary *summary, struct summary_thread *thread,
				const struct pfstat_record *record)
{
	struct class_state *class = &summary->classes[record->class];
	bool partial;
	int err;

	err = quantile_add(&class->quantiles, record->duration_ns);
	if (err)
		return err;
	class->total_ns += record->duration_ns;
	class->off_cpu_ns += record_off_cpu_take(&thread->off_cpu, record->start_ns,
						 record->start_ns + record->duration_ns, &partial);
	summary->off_cpu_partial += partial;
	return 0;
}

int summary_add_record(struct summary *summary, const struct pfstat_record *record)
{
	struct summary_thread *thread;
	int err;

	if (record->class >= PFSTAT_NR_CLASSES)
		return -EINVAL;
	thread = summary_thread_get(summary, record->tid);
	if (!thread)
		return -ENOMEM;
	err = summary_add_to_class(summary, thread, record);
	if (err)
		return err;

	attempt_chain_add(&thread->chain, record, summary->page_bytes, &summary->chains);
	summary->calls++;
	/* A pass only counts as a pass, with or without RETRY. */
	summary->retried += record->result & PFSTAT_RESULT_RETRY &&
			    record->class != PFSTAT_CLASS_PASS;
	summary->late += record->start_ns < thread->last_ns;
	if (record->start_ns > thread->last_ns)
		thread->last_ns = record->start_ns;
	return 0;
}

void summary_combine(const struct summary *summary, const enum pfstat_class *classes,
		     unsigned int nr_classes, struct class_figures *figures)
{
	const struct quantiles *several[PFSTAT_NR_CLASSES];
	const struct class_state *class;
	unsigned int i;

	*figures = (struct class_figures){ 0 };
	for (i = 0; i < nr_classes; i++) {
		class = &summary->classes[classes[i]];
		several[i] = &class->quantiles;
		figures->count += class->quantiles.count;
		figures->total_ns += class->total_ns;
		figures->off_cpu_ns += class->off_cpu_ns;
		if (class->quantiles.max_ns > figures->max_ns)
			figures->max_ns = class->quantiles.max_ns;
	}
	figures->p50_ns = quantile_of(several, nr_classes, 500);
	figures->p99_ns = quantile_of(several, nr_classes, 990);
}

void summary_figures(const struct summary *summary, struct summary_figures *figures)
{
	enum pfstat_class class;

	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		summary_combine(summary, &class, 1, &figures->classes[class]);
	figures->calls = summary->calls;
	figures->retried = summary->retried;
	figures->late = summary->late;
	figures->off_cpu_partial = summary->off_cpu_partial;
	figures->faults = summary->chains.faults;
	figures->major = summary->chains.major;
	figures->sequels = summary->chains.sequels;
	figures->unfinished = summary->chains.unfinished;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Consumes records and events in time order and emits logical faults; explain.h has the picture.
 * A record arrives at the end of an attempt, an off-CPU event when the thread runs again. So the
 * intervals within an attempt have always arrived before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/attempt_chain.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu.h"
#include "analyze/fault/requests.h"
#include "analyze/fault/thread_state.h"
#include "util/hash.h"

struct explain {
	bool have_bpf;
	uint64_t page_bytes;
	explain_sink sink;
	void *context;
	struct thread_table threads;
	struct requests requests;   /* of all threads */
	struct fault_builder *free; /* one for each thread that was in a fault at the same time */
};

struct explain *explain_new(bool have_bpf, uint64_t page_bytes, explain_sink sink, void *context)
{
	struct explain *explain = calloc(1, sizeof(*explain));

	if (!explain)
		return NULL;
	explain->have_bpf = have_bpf;
	explain->page_bytes = page_bytes;
	explain->requests.page_bytes = page_bytes;
	explain->sink = sink;
	explain->context = context;
	return explain;
}

void explain_listen_corrections(struct explain *explain, explain_correction correction,
				void *context)
{
	explain->threads.correction = correction;
	explain->threads.correction_context = context;
}

void explain_free(struct explain *explain)
{
	struct fault_builder *builder, *next;

	if (!explain)
		return;
	thread_table_exit(&explain->threads);
	for (builder = explain->free; builder; builder = next) {
		next = builder->next;
		free(builder);
	}
	requests_exit(&explain->requests);
	free(explain);
}

static struct fault_builder *explain_begin(struct explain *explain, enum fault_class class,
					   uint64_t start_ns)
{
	struct fault_builder *builder = explain->free;

	if (builder)
		explain->free = builder->next;
	else
		builder = malloc(sizeof(*builder));
	if (builder)
		fault_builder_begin(builder, class, start_ns);
	return builder;
}

static bool explain_is_same_page(const struct explain *explain, uint64_t address, uint64_t other)
{
	return address / explain->page_bytes == other / explain->page_bytes;
}

/* Ends the fault in *place, if there is one. */
static int explain_emit(struct explain *explain, struct thread_state *thread,
			struct fault_builder **place, bool solved)
{
	struct fault_builder *builder = *place;

	if (!builder)
		return 0;
	*place = NULL;
	builder->next = explain->free;
	explain->free = builder;
	builder->fault.parts_known = explain->have_bpf;
	builder->fault.read_bytes = requests_bytes_read(&explain->requests, builder->fault.tid,
							builder->fault.start_ns,
							builder->fault.end_ns);
	fault_builder_end(builder, solved);
	thread_state_emitted(thread, builder);
	return explain->sink(explain->context, &builder->fault);
}

/*
 * Moves the intervals that begin before until_ns, and the reclaims, from the queues of the thread
 * into the fault. Those that ended before the fault began belong to no fault.
 */
static void explain_take_intervals(struct explain *explain, struct thread_state *thread,
				   struct fault_builder *builder, uint64_t until_ns)
{
	const struct off_cpu_interval *oldest;
	uint64_t lost_ns;

	fault_builder_add_unaccounted(builder, builder->fault.start_ns, thread->off_cpu.dropped_ns);
	fault_builder_add_unaccounted(builder, builder->fault.start_ns,
				      thread->reclaims.dropped_ns);
	while ((oldest = off_cpu_queue_oldest(&thread->off_cpu)) &&
	       oldest->event.off_ns < until_ns) {
		lost_ns = oldest->lost_ns;
		fault_builder_add_reclaims(builder, &thread->reclaims,
					   item_elapsed(lost_ns, oldest->event.off_ns));
		lost_ns -= fault_builder_add_lost(builder, oldest->lost_from_ns,
						  oldest->event.off_ns, lost_ns);
		thread_state_correct(&explain->threads, thread, lost_ns);
		fault_builder_add_interval(builder, oldest, &explain->requests, &thread->reclaims);
		off_cpu_queue_pop(&thread->off_cpu);
	}
	fault_builder_add_reclaims(builder, &thread->reclaims, until_ns);
	reclaims_drop(&thread->reclaims, until_ns);
}

/* The record reports a sleep without an off-CPU event, so its time is unaccounted. */
static bool sleep_is_missing(const struct explain *explain, const struct thread_state *thread,
			     const struct pfstat_record *record)
{
	return explain->have_bpf && record->facts & PFSTAT_FACT_SLEPT &&
	       !off_cpu_queue_has_sleep(&thread->off_cpu, record->start_ns,
					record->start_ns + record->duration_ns);
}

static void describe_record(struct explained *fault, const struct pfstat_record *record)
{
	fault->pid = record->pid;
	fault->tid = record->tid;
	fault->address = record->address;
	fault->pgoff = record->pgoff;
	fault->inode = record->inode;
	fault->dev = record->dev;
	fault->flags = record->flags;
	fault->ip = record->ip;
}

static void explain_add_attempt(struct explain *explain, struct thread_state *thread,
				const struct pfstat_record *record)
{
	const uint64_t end_ns = record->start_ns + record->duration_ns;
	struct fault_builder *builder = thread->hooked;
	struct explained *fault = &builder->fault;

	if (fault->class == FAULT_PASS)
		fault->class = (enum fault_class)record->class;
	fault->handler_ns += record->duration_ns;
	fault->result = record->result;
	/* ->page_mkwrite maps no page: ->fault mapped it before, if it was called. */
	if (record->op != PFSTAT_OP_PAGE_MKWRITE && record->op != PFSTAT_OP_PFN_MKWRITE)
		fault->order = record->facts & PFSTAT_FACT_FOLIO ? record->order : 0;
	fault->attempts++;
	fault->around_before = record->around_before;
	fault->around_pages = record->around_pages;
	fault_builder_extend(builder, end_ns);
	if (sleep_is_missing(explain, thread, record)) {
		explain_take_intervals(explain, thread, builder, record->start_ns);
		fault_builder_add_unaccounted(builder, record->start_ns, end_ns);
	}
	explain_take_intervals(explain, thread, builder, end_ns);
}

/* The thread should retry the other fault, but has a fault of another page now. */
static int explain_close_other(struct explain *explain, struct thread_state *thread,
			       const struct pfstat_record *record)
{
	const struct fault_builder *other = thread->other;

	if (!other || explain_is_same_page(explain, other->fault.address, record->address) ||
	    record->start_ns < other->fault.end_ns)
		return 0;
	return explain_emit(explain, thread, &thread->other, false);
}

int explain_record(struct explain *explain, const struct pfstat_record *record)
{
	struct thread_state *thread = thread_table_get(&explain->threads, record->tid);
	struct attempt_chain_counts counts = { 0 }; /* unused: the summary counts */
	struct fault_builder *builder;
	enum attempt_role role;
	int err;

	if (!thread)
		return -ENOMEM;
	err = explain_close_other(explain, thread, record);
	if (err)
		return err;
	role = attempt_chain_add(&thread->chain, record, explain->page_bytes, &counts);
	if (role == CHAIN_FIRST && thread->hooked) {
		err = explain_emit(explain, thread, &thread->hooked, thread->hooked->complete);
		if (err)
			return err;
	}
	if (!thread->hooked) {
		thread->hooked =
			explain_begin(explain, (enum fault_class)record->class, record->start_ns);
		if (!thread->hooked)
			return -ENOMEM;
		describe_record(&thread->hooked->fault, record);
	}
	explain_add_attempt(explain, thread, record);
	builder = thread->hooked;
	builder->complete = !thread->chain.open && !(record->result & PFSTAT_RESULT_ERROR);
	builder->fault.major = builder->complete && thread->chain.major;
	if (thread->chain.open || thread->chain.shared_write)
		return 0;
	return explain_emit(explain, thread, &thread->hooked, builder->complete);
}

static void describe_event(struct explained *fault, const struct pfstat_fault *event)
{
	fault->pid = event->event.pid;
	fault->tid = event->event.tid;
	fault->address = event->address;
	fault->pgoff = event->pgoff;
	fault->inode = event->inode;
	fault->dev = event->dev;
	fault->flags = event->fault_flags;
	fault->ip = event->ip;
	fault->perf = event->perf;
}

static void explain_add_return(struct fault_builder *builder, const struct pfstat_fault *event)
{
	struct explained *fault = &builder->fault;

	/* A first attempt may have returned before the kernel determined the kind. */
	if (fault->class == FAULT_OTHER)
		fault->class = fault_class_of_kind(event->event.flags);
	fault->attempts++;
	fault->result = event->result;
	fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	if (event->perf & PFSTAT_PERF_NO_END)
		return;
	fault->handler_ns += item_elapsed(event->start_ns, event->event.ns);
	fault_builder_extend(builder, event->event.ns);
}

static int explain_add_fault(struct explain *explain, const struct pfstat_fault *event)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);
	int err;

	if (!thread)
		return -ENOMEM;
	if (!thread->other ||
	    !explain_is_same_page(explain, thread->other->fault.address, event->address)) {
		err = explain_emit(explain, thread, &thread->other, false);
		if (err)
			return err;
		thread->other = explain_begin(explain, fault_class_of_kind(event->event.flags),
					      event->start_ns);
		if (!thread->other)
			return -ENOMEM;
		describe_event(&thread->other->fault, event);
	}
	explain_add_return(thread->other, event);
	explain_take_intervals(explain, thread, thread->other,
			       event->perf & PFSTAT_PERF_NO_END ? event->start_ns :
								  event->event.ns);
	if (event->outcome == PFSTAT_OUTCOME_RETRY)
		return 0;
	return explain_emit(explain, thread, &thread->other,
			    event->outcome != PFSTAT_OUTCOME_ERROR);
}

static int explain_add_interval(struct explain *explain, const struct pfstat_off_cpu *event)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);

	if (!thread)
		return -ENOMEM;
	return off_cpu_queue_add(&thread->off_cpu, event,
				 thread->wait_off_ns == event->off_ns ? thread->wait : 0);
}

int explain_wait(struct explain *explain, uint32_t tid, uint64_t off_ns, uint32_t wait)
{
	struct thread_state *thread = thread_table_get(&explain->threads, tid);

	if (!thread)
		return -ENOMEM;
	thread->wait = wait;
	thread->wait_off_ns = off_ns;
	return 0;
}

static int explain_add_reclaim(struct explain *explain, const struct pfstat_reclaim *event)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);

	return thread ? reclaims_add(&thread->reclaims, event->start_ns, event->event.ns) : -ENOMEM;
}

static int explain_close_faults(struct explain *explain, struct thread_state *thread)
{
	int err = 0;

	if (thread->hooked)
		err = explain_emit(explain, thread, &thread->hooked, thread->hooked->complete);
	if (!err)
		err = explain_emit(explain, thread, &thread->other, false);
	thread_state_drop_intervals(&explain->threads, thread);
	thread->reclaims.nr = 0;
	return err;
}

static int explain_end_thread(struct explain *explain, uint32_t tid)
{
	struct thread_state *thread = thread_table_take(&explain->threads, tid);
	int err;

	if (!thread)
		return 0;
	err = explain_close_faults(explain, thread);
	thread_state_free(thread);
	return err;
}

/* The first thread executes a program. It keeps its number and its off-CPU total. */
static int explain_restart_thread(struct explain *explain, uint32_t tid)
{
	struct thread_state *thread = hash_find(&explain->threads.threads, tid);
	int err;

	if (!thread)
		return 0;
	err = explain_close_faults(explain, thread);
	thread->chain = (struct attempt_chain){ 0 };
	return err;
}

static int explain_add_task(struct explain *explain, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_EXIT)
		return explain_end_thread(explain, task->event.tid);
	/* Another thread that executes a program takes the number of the first. */
	if (task->event.flags & PFSTAT_TASK_EXEC)
		return task->parent == task->event.tid ?
			       explain_restart_thread(explain, task->parent) :
			       explain_end_thread(explain, task->parent);
	return 0;
}

int explain_event(struct explain *explain, const struct pfstat_event *event)
{
	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return explain_add_interval(explain, (const struct pfstat_off_cpu *)event);
	case PFSTAT_EVENT_RECLAIM:
		return explain_add_reclaim(explain, (const struct pfstat_reclaim *)event);
	case PFSTAT_EVENT_BLOCK:
		return requests_add(&explain->requests, (const struct pfstat_block *)event);
	case PFSTAT_EVENT_FAULT:
		if (event->flags == PFSTAT_FAULT_HOOKED) /* the module's records hold more */
			return 0;
		return explain_add_fault(explain, (const struct pfstat_fault *)event);
	case PFSTAT_EVENT_TASK:
		return explain_add_task(explain, (const struct pfstat_task *)event);
	default:
		return 0;
	}
}

static int explain_close_thread(void *context, void *value)
{
	return explain_close_faults(context, value);
}

int explain_finish(struct explain *explain)
{
	return hash_visit_sorted(&explain->threads.threads, explain_close_thread, explain);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Consumes records and events in time order and emits logical faults. explain.h has the picture. A
 * record arrives at the end of its handle_mm_fault(), or of its call, a fault event when the fault
 * ends, and an off-CPU event when the thread runs again. So the intervals within an attempt have
 * always arrived before it. They are taken when the attempt's span is known, or never will be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/attempt_chain.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu.h"
#include "analyze/fault/requests.h"
#include "analyze/fault/summary.h"
#include "analyze/fault/thread_state.h"
#include "util/hash.h"

struct explain {
	bool have_bpf;
	bool expect_spans;
	uint64_t page_bytes;
	explain_sink sink;
	void *context;
	struct thread_table threads;
	struct summary summary;	    /* for the records */
	struct requests requests;   /* by all threads */
	struct fault_builder *free; /* one for each thread that was in a fault at the same time */
};

static int explain_close_complete(void *context, struct thread_state *thread);

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
	explain->threads.close = explain_close_complete;
	explain->threads.close_context = explain;
	return explain;
}

void explain_expect_spans(struct explain *explain)
{
	explain->expect_spans = true;
}

void explain_limit_requests(struct explain *explain, uint32_t max)
{
	explain->requests.max = max;
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
	summary_exit(&explain->summary);
	free(explain);
}

const struct summary *explain_summary(const struct explain *explain)
{
	return &explain->summary;
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

/*
 * Moves the intervals starting before until_ns, and the reclaims, from the thread's queues into the
 * fault. Intervals that ended before the fault started belong to no fault.
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

/* Accounts an attempt's time. The pending calls, if any, are the attempt's calls. */
static void explain_end_attempt(struct explain *explain, struct thread_state *thread,
				uint64_t until_ns)
{
	struct fault_builder *builder = thread->fault;
	const struct builder_call *call = &builder->calls[builder->nr_calls - builder->nr_pending];

	for (; call < &builder->calls[builder->nr_calls]; call++) {
		if (!call->sleep_missing)
			continue;
		explain_take_intervals(explain, thread, builder, call->from_ns);
		fault_builder_add_unaccounted(builder, call->from_ns, call->to_ns);
	}
	builder->nr_pending = 0;
	explain_take_intervals(explain, thread, builder, until_ns);
	builder->begun = true;
}

/* Ends an attempt whose span is known. Pending calls before it belong to one of unknown span. */
static void explain_end_span(struct explain *explain, struct thread_state *thread, uint64_t from_ns,
			     uint64_t to_ns)
{
	struct fault_builder *builder = thread->fault;

	if (builder->nr_pending &&
	    builder->calls[builder->nr_calls - builder->nr_pending].from_ns < from_ns)
		builder->partial = true;
	fault_builder_begin_earlier(builder, from_ns);
	fault_builder_extend(builder, to_ns);
	explain_end_attempt(explain, thread, to_ns);
}

/* The span of the pending calls is not known, so the attempt is their time. */
static void explain_end_calls(struct explain *explain, struct thread_state *thread)
{
	struct fault_builder *builder = thread->fault;

	if (!builder->nr_pending)
		return;
	builder->partial = true;
	fault_builder_extend(builder, builder->last_to_ns);
	explain_end_attempt(explain, thread, builder->last_to_ns);
}

/* Ends the thread's fault, if it is in one. */
static int explain_emit(struct explain *explain, struct thread_state *thread, bool solved)
{
	struct fault_builder *builder = thread->fault;

	if (!builder)
		return 0;
	explain_end_calls(explain, thread);
	thread->fault = NULL;
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

static int explain_emit_as_is(struct explain *explain, struct thread_state *thread)
{
	return thread->fault ? explain_emit(explain, thread, thread->fault->complete) : 0;
}

static int explain_close_complete(void *context, struct thread_state *thread)
{
	return explain_emit_as_is(context, thread);
}

/* The record reports a sleep without an off-CPU event, so the sleep time is unaccounted. */
static bool sleep_is_missing(const struct explain *explain, const struct thread_state *thread,
			     const struct pfstat_record *record)
{
	return explain->have_bpf && record->facts & PFSTAT_FACT_SLEPT &&
	       !off_cpu_queue_has_sleep(&thread->off_cpu, record->start_ns,
					record->start_ns + record->duration_ns);
}

static void explain_add_call(struct explain *explain, struct thread_state *thread,
			     const struct pfstat_record *record)
{
	struct fault_builder *builder = thread->fault;

	fault_attempt_add_call(builder, record, sleep_is_missing(explain, thread, record));
	builder->complete = !thread->chain.open && !(record->result & PFSTAT_RESULT_ERROR);
	builder->fault.major = builder->complete && thread->chain.major;
}

/* Whether the call is part of the thread's current fault. */
static bool explain_continues(const struct explain *explain, const struct fault_builder *builder,
			      const struct pfstat_record *record, enum attempt_role role)
{
	if (!explain_is_same_page(explain, builder->fault.address, record->address))
		return false;
	return role != CHAIN_FIRST ||
	       (builder->by_event && fault_attempt_is_repeated(builder, record->flags));
}

static int explain_add_late_call(struct explain *explain, struct thread_state *thread,
				 const struct pfstat_record *record)
{
	struct fault_builder *builder = thread->fault;
	const uint64_t from_ns = builder->last_from_ns, to_ns = builder->last_to_ns;

	builder->fault.attempts--;
	explain_add_call(explain, thread, record);
	attempt_chain_returned(&thread->chain);
	explain_end_span(explain, thread, from_ns, to_ns);
	return thread->chain.open ? 0 : explain_emit_as_is(explain, thread);
}

/* Adds the record to the summary. The record's off-CPU intervals have already arrived. */
static int explain_sum_up(struct explain *explain, struct thread_state *thread,
			  const struct pfstat_record *record)
{
	struct summary *summary = &explain->summary;
	bool partial;
	const uint64_t off_cpu_ns = off_cpu_queue_count(&thread->off_cpu, record->start_ns,
							record->start_ns + record->duration_ns,
							&partial);

	summary->off_cpu_partial += partial;
	summary->late += record->start_ns < thread->last_ns;
	if (record->start_ns > thread->last_ns)
		thread->last_ns = record->start_ns;
	return summary_add(summary, record, off_cpu_ns);
}

int explain_record(struct explain *explain, const struct pfstat_record *record)
{
	struct thread_state *thread = thread_table_get(&explain->threads, record->tid);
	uint64_t from_ns, to_ns;
	enum attempt_role role;
	int err;

	if (!thread)
		return -ENOMEM;
	err = explain_sum_up(explain, thread, record);
	if (err)
		return err;
	role = attempt_chain_add(&thread->chain, record, explain->page_bytes,
				 &explain->summary.chains);
	if (fault_attempt_is_in_last_span(thread->fault, record))
		return explain_add_late_call(explain, thread, record);
	if (thread->fault && !explain_continues(explain, thread->fault, record, role)) {
		err = explain_emit_as_is(explain, thread);
		if (err)
			return err;
	}
	if (!thread->fault) {
		thread->fault =
			explain_begin(explain, (enum fault_class)record->class, record->start_ns);
		if (!thread->fault)
			return -ENOMEM;
		fault_attempt_describe_record(&thread->fault->fault, record);
	}
	explain_add_call(explain, thread, record);
	if (item_record_span(record, &from_ns, &to_ns))
		explain_end_span(explain, thread, from_ns, to_ns);
	else if (!explain->expect_spans)
		explain_end_calls(explain, thread);
	else
		return 0; /* the span comes */
	if (thread->chain.open || thread->chain.shared_write)
		return 0;
	return explain_emit_as_is(explain, thread);
}

static int explain_add_span(struct explain *explain, struct thread_state *thread,
			    const struct pfstat_fault *event)
{
	struct fault_builder *builder = thread->fault;
	struct explained *fault = &builder->fault;

	/* A page_mkwrite call did not know them. */
	if (fault->class == FAULT_MKWRITE && fault->calls == 1)
		fault->flags = event->fault_flags | PFSTAT_FLAG_WRITE;
	builder->by_event = true;
	builder->last_flags = event->fault_flags;
	explain_end_span(explain, thread, event->start_ns, event->event.ns);
	if (event->outcome == PFSTAT_OUTCOME_RETRY && !builder->complete)
		return 0;
	/* After a pass, no further call was necessary. */
	if (thread->chain.open && event->outcome <= PFSTAT_OUTCOME_MAJOR) {
		builder->complete = true;
		fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	}
	return explain_emit_as_is(explain, thread);
}

/* Whether an attempt without a call is part of the thread's current fault. */
static bool explain_is_return_of(const struct explain *explain, const struct fault_builder *builder,
				 const struct pfstat_fault *event)
{
	if (builder->complete ||
	    !explain_is_same_page(explain, builder->fault.address, event->address))
		return false;
	return !builder->fault.calls || fault_attempt_is_repeated(builder, event->fault_flags);
}

static int explain_add_fault(struct explain *explain, const struct pfstat_fault *event)
{
	const bool has_end = !(event->perf & PFSTAT_PERF_NO_END);
	const uint64_t end_ns = has_end ? event->event.ns : event->start_ns;
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);
	int err;

	if (!thread)
		return -ENOMEM;
	attempt_chain_returned(&thread->chain);
	if (fault_attempt_has_calls(thread->fault, event))
		return explain_add_span(explain, thread, event);
	if (thread->fault && !explain_is_return_of(explain, thread->fault, event)) {
		err = explain_emit_as_is(explain, thread);
		if (err)
			return err;
	}
	if (!thread->fault) {
		thread->fault = explain_begin(explain, fault_attempt_class(event), event->start_ns);
		if (!thread->fault)
			return -ENOMEM;
		fault_attempt_describe_event(&thread->fault->fault, event);
	}
	explain_end_calls(explain, thread);
	fault_attempt_add_return(thread->fault, event);
	explain_end_span(explain, thread, event->start_ns, end_ns);
	if (event->outcome == PFSTAT_OUTCOME_RETRY)
		return 0;
	/* The record for this call may come at the same time. */
	return PFSTAT_FAULT_KIND(event->event.flags) == PFSTAT_FAULT_HOOKED ?
		       0 :
		       explain_emit_as_is(explain, thread);
}

static int explain_add_interval(struct explain *explain, const struct pfstat_off_cpu *event)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);
	struct off_cpu_interval interval = { .event = *event };

	if (!thread)
		return -ENOMEM;
	if (thread->wait_off_ns == event->off_ns) {
		interval.wait = thread->wait;
		interval.kind = thread->wait_kind;
	}
	if (thread->task_off_ns == event->off_ns) {
		interval.task = thread->task;
		interval.task_ran_ns = thread->task_ran_ns;
	}
	return off_cpu_queue_add(&thread->off_cpu, &interval);
}

int explain_wait(struct explain *explain, uint32_t tid, uint64_t off_ns, uint32_t wait,
		 enum wait_kind kind)
{
	struct thread_state *thread = thread_table_get(&explain->threads, tid);

	if (!thread)
		return -ENOMEM;
	thread->wait = wait;
	thread->wait_kind = kind;
	thread->wait_off_ns = off_ns;
	return 0;
}

uint32_t explain_wait_of(struct explain *explain, const struct pfstat_off_cpu *event)
{
	const struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);

	return thread && thread->wait_off_ns == event->off_ns ? thread->wait : 0;
}

int explain_cpu_task(struct explain *explain, const struct pfstat_cpu_task *event, uint32_t task)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);

	if (!thread)
		return -ENOMEM;
	thread->task = task;
	thread->task_ran_ns = event->ran_ns;
	thread->task_off_ns = event->off_ns;
	return 0;
}

static int explain_add_reclaim(struct explain *explain, const struct pfstat_reclaim *event)
{
	struct thread_state *thread = thread_table_get(&explain->threads, event->event.tid);

	return thread ? reclaims_add(&thread->reclaims, event->start_ns, event->event.ns) : -ENOMEM;
}

int explain_leave(struct explain *explain, uint32_t tid)
{
	struct thread_state *thread = hash_find(&explain->threads.threads, tid);

	/* A page_mkwrite would join it. */
	return thread && thread->fault && thread->fault->complete && !thread->chain.shared_write ?
		       explain_emit_as_is(explain, thread) :
		       0;
}

struct ended_file {
	struct explain *explain;
	uint64_t inode;
	uint32_t dev;
};

static int explain_leave_file(void *context, void *value)
{
	const struct ended_file *file = context;
	struct thread_state *thread = value;
	const struct fault_builder *builder = thread->fault;

	return builder && builder->fault.inode == file->inode && builder->fault.dev == file->dev ?
		       explain_emit_as_is(file->explain, thread) :
		       0;
}

int explain_end_file(struct explain *explain, uint32_t dev, uint64_t inode)
{
	struct ended_file file = { explain, inode, dev };

	return hash_visit_sorted(&explain->threads.threads, explain_leave_file, &file);
}

static int explain_close_faults(struct explain *explain, struct thread_state *thread)
{
	int err = explain_emit_as_is(explain, thread);

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

/* The first thread executes a program. It keeps the number and the off-CPU total. */
static int explain_restart_thread(struct explain *explain, uint32_t tid)
{
	struct thread_state *thread = hash_find(&explain->threads.threads, tid);
	int err;

	if (!thread)
		return 0;
	err = explain_close_faults(explain, thread);
	thread->chain = (struct attempt_chain){ 0 };
	thread->last_ns = 0;
	return err;
}

static int explain_add_task(struct explain *explain, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_EXIT)
		return explain_end_thread(explain, task->event.tid);
	/* Another thread executing a program takes the first thread's number. */
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
		/* It is after the fault. */
		if (event->flags == PFSTAT_RECLAIM_THROTTLE)
			return 0;
		return explain_add_reclaim(explain, (const struct pfstat_reclaim *)event);
	case PFSTAT_EVENT_BLOCK:
		return requests_add(&explain->requests, (const struct pfstat_block *)event);
	case PFSTAT_EVENT_FAULT:
		/* Before version 9 it repeats what the records hold. */
		if (PFSTAT_FAULT_KIND(event->flags) == PFSTAT_FAULT_HOOKED &&
		    !explain->expect_spans)
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Off-CPU intervals and reclaims come from the thread's queues, in time order. Each is clipped to
 * the time between accounted_until_ns and the end of the fault. An off-CPU interval is matched with
 * the requests the thread waited for, and split into spans. At the end the parts add up to the
 * whole fault.
 */
#include <stddef.h>
#include <string.h>

#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu.h"
#include "model/item.h"

/* Clears only the heads, because only as many spans and calls are valid as are counted there. */
void fault_builder_begin(struct fault_builder *builder, enum fault_class class, uint64_t start_ns)
{
	struct explained *fault = &builder->fault;

	memset(fault, 0, offsetof(struct explained, call_spans));
	fault->class = class;
	fault->start_ns = start_ns;
	fault->end_ns = start_ns;
	memset(builder, 0, offsetof(struct fault_builder, fault));
	builder->accounted_until_ns = start_ns;
}

void fault_builder_begin_earlier(struct fault_builder *builder, uint64_t start_ns)
{
	if (builder->begun || start_ns >= builder->fault.start_ns)
		return;
	builder->fault.start_ns = start_ns;
	builder->accounted_until_ns = start_ns;
}

/* The share of the time covered by the calls. Calls do not overlap. */
static uint64_t fault_builder_in_calls(const struct fault_builder *builder, uint64_t from_ns,
				       uint64_t to_ns)
{
	uint64_t from, to, sum = 0;
	unsigned int i;

	for (i = 0; i < builder->nr_calls; i++) {
		from = builder->calls[i].from_ns > from_ns ? builder->calls[i].from_ns : from_ns;
		to = builder->calls[i].to_ns < to_ns ? builder->calls[i].to_ns : to_ns;
		sum += from < to ? to - from : 0;
	}
	return sum;
}

/* The thread was on the CPU from the last span on. */
static void fault_builder_add_cpu(struct fault_builder *builder, uint64_t until_ns)
{
	builder->cpu_ns[builder->fault.nr_spans != 0] +=
		fault_builder_in_calls(builder, builder->accounted_until_ns, until_ns);
	builder->accounted_until_ns = until_ns;
}

/*
 * Forgets the oldest call. A call without a span so far counts as CPU time, even if an event
 * reveals later that one was lost.
 */
static void fault_builder_drop_call(struct fault_builder *builder)
{
	if (builder->calls[0].to_ns > builder->accounted_until_ns)
		fault_builder_add_cpu(builder, builder->calls[0].to_ns);
	memmove(builder->calls, builder->calls + 1,
		--builder->nr_calls * sizeof(builder->calls[0]));
}

static void fault_builder_note_call(struct explained *fault, const struct builder_call *call)
{
	if (call->from_ns < call->to_ns && fault->nr_call_spans < EXPLAIN_MAX_CALLS)
		fault->call_spans[fault->nr_call_spans++] =
			(struct explain_call){ call->from_ns, call->to_ns };
}

/* Adds a call, whose attempt is still open. Calls come in time order. */
static void fault_builder_add_call(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns,
				   bool sleep_missing)
{
	struct builder_call *call = builder->calls;

	builder->fault.calls++;
	builder->last_from_ns = from_ns;
	builder->last_to_ns = to_ns;
	while (builder->nr_calls > builder->nr_pending &&
	       (builder->nr_calls == BUILDER_CALLS ||
		builder->calls[0].to_ns <= builder->accounted_until_ns))
		fault_builder_drop_call(builder);
	if (builder->nr_calls)
		call = &builder->calls[builder->nr_calls - 1];
	if (builder->nr_calls && from_ns < call->to_ns)
		from_ns = call->to_ns;
	if (to_ns < from_ns)
		to_ns = from_ns;
	if (builder->nr_calls == BUILDER_CALLS) {
		call->to_ns = to_ns;
		call->sleep_missing |= sleep_missing;
		return;
	}
	call = &builder->calls[builder->nr_calls++];
	*call = (struct builder_call){ from_ns, to_ns, sleep_missing };
	builder->nr_pending++;
	fault_builder_note_call(&builder->fault, call);
}

void fault_builder_extend(struct fault_builder *builder, uint64_t end_ns)
{
	if (end_ns > builder->fault.end_ns)
		builder->fault.end_ns = end_ns;
}

static void fault_builder_add_span(struct fault_builder *builder, const struct explain_span *span)
{
	struct explained *fault = &builder->fault;

	fault_builder_add_cpu(builder, span->from_ns);
	fault->parts_ns[span->part] += span->to_ns - span->from_ns;
	builder->spans_ns += span->to_ns - span->from_ns;
	builder->accounted_until_ns = span->to_ns;
	if (span->on_cpu)
		fault->reclaim_cpu_ns += span->to_ns - span->from_ns;
	if (fault->nr_spans < EXPLAIN_MAX_SPANS)
		fault->spans[fault->nr_spans++] = *span;
}

/* Returns false if nothing is left. */
static bool fault_builder_clip(const struct fault_builder *builder, uint64_t *from_ns,
			       uint64_t *to_ns)
{
	if (*from_ns < builder->accounted_until_ns)
		*from_ns = builder->accounted_until_ns;
	if (*to_ns > builder->fault.end_ns)
		*to_ns = builder->fault.end_ns;
	return *from_ns < *to_ns;
}

/* A thread that waits for a CPU waits for other threads, in reclaim also. */
static void fault_builder_add_asleep(struct fault_builder *builder, struct explain_span span,
				     const struct reclaims *reclaims)
{
	const struct reclaim_interval *reclaim;
	struct explain_span piece;

	while (span.part != PART_RUNQUEUE && span.from_ns < span.to_ns &&
	       (reclaim = reclaims_next(reclaims, span.from_ns, span.to_ns))) {
		piece = span;
		if (span.from_ns < reclaim->from_ns) {
			piece.to_ns = reclaim->from_ns;
		} else {
			piece.to_ns = reclaim->to_ns < span.to_ns ? reclaim->to_ns : span.to_ns;
			piece.part = PART_RECLAIM;
		}
		fault_builder_add_span(builder, &piece);
		span.from_ns = piece.to_ns;
	}
	if (span.from_ns < span.to_ns)
		fault_builder_add_span(builder, &span);
}

void fault_builder_add_reclaims(struct fault_builder *builder, const struct reclaims *reclaims,
				uint64_t until_ns)
{
	struct explain_span span = { .part = PART_RECLAIM, .on_cpu = true };
	const struct reclaim_interval *reclaim;

	while ((reclaim = reclaims_next(reclaims, builder->accounted_until_ns, until_ns))) {
		span.from_ns = reclaim->from_ns;
		span.to_ns = reclaim->to_ns < until_ns ? reclaim->to_ns : until_ns;
		if (!fault_builder_clip(builder, &span.from_ns, &span.to_ns))
			return;
		fault_builder_add_span(builder, &span);
	}
}

static enum cpu_wait cpu_wait_of(const struct pfstat_off_cpu *event)
{
	if (event->event.flags & PFSTAT_OFF_CPU_THROTTLED)
		return CPU_WAIT_THROTTLED;
	if (event->event.flags & PFSTAT_OFF_CPU_AFTER_TASK)
		return CPU_WAIT_TASK;
	if (!(event->event.flags & PFSTAT_OFF_CPU_AFTER_IDLE))
		return CPU_WAIT_UNKNOWN;
	return event->event.flags & PFSTAT_OFF_CPU_PREEMPTED ? CPU_WAIT_PREEMPTED_IDLE :
							       CPU_WAIT_IDLE;
}

static void fault_builder_note_cpu_wait(struct explained *fault,
					const struct off_cpu_interval *interval,
					struct explain_span *span)
{
	const struct pfstat_off_cpu *event = &interval->event;
	const enum cpu_wait kind = cpu_wait_of(event);
	uint64_t ran_from_ns = item_elapsed(interval->task_ran_ns, event->event.ns);

	fault->cpu_waits[kind]++;
	fault->cpu_waits_ns[kind] += span->to_ns - span->from_ns;
	span->task = interval->task;
	if (ran_from_ns < span->from_ns)
		ran_from_ns = span->from_ns;
	if (interval->task && interval->task_ran_ns)
		span->task_ran_ns = item_elapsed(ran_from_ns, span->to_ns);
}

static bool is_same_request(const struct pfstat_block *request, const struct pfstat_block *other)
{
	return request->issue_ns == other->issue_ns && request->sector == other->sector &&
	       request->dev == other->dev && request->event.ns == other->event.ns;
}

static void fault_builder_note_request(struct explained *fault, const struct pfstat_block *request)
{
	unsigned int i;

	for (i = 0; i < fault->nr_requests; i++)
		if (is_same_request(&fault->requests[i], request))
			return;
	if (fault->nr_requests < EXPLAIN_MAX_REQUESTS)
		fault->requests[fault->nr_requests++] = *request;
	else
		fault->more_requests = true;
}

/* @matches: the latest is first. Some were submitted after the sleep, and belong to a later one. */
static void fault_builder_note_requests(struct explained *fault,
					const struct pfstat_block *const *matches, size_t nr,
					uint64_t until_ns)
{
	while (nr--)
		if (matches[nr]->insert_ns < until_ns)
			fault_builder_note_request(fault, matches[nr]);
}

void fault_builder_add_interval(struct fault_builder *builder,
				const struct off_cpu_interval *interval,
				const struct requests *requests, const struct reclaims *reclaims)
{
	const struct pfstat_off_cpu *event = &interval->event;
	struct explained *fault = &builder->fault;
	struct off_cpu_interval inside = *interval;
	const struct pfstat_block *matches[REQUESTS_MATCHES];
	struct explain_span spans[OFF_CPU_SPLIT_MAX];
	size_t nr_matches = 0, nr, i;
	uint64_t from_ns = event->off_ns, to_ns = event->event.ns;

	if (!fault_builder_clip(builder, &from_ns, &to_ns))
		return;
	inside.event.off_ns = from_ns;
	inside.event.event.ns = to_ns;
	if (!(event->event.flags & PFSTAT_OFF_CPU_PREEMPTED) && interval->kind != WAIT_OF_HANDLER) {
		const struct requests_wait wait = {
			.dev = fault->dev,
			.tid = fault->tid,
			.inode = fault->inode,
			.pgoff = fault->pgoff,
			.start_ns = fault->start_ns,
			.from_ns = from_ns,
			.in_iowait = event->event.flags & PFSTAT_OFF_CPU_IOWAIT,
		};

		nr_matches = requests_match(requests, &wait, matches);
	}
	if (nr_matches)
		fault->request = *matches[0];
	fault_builder_note_requests(fault, matches, nr_matches, to_ns);
	nr = off_cpu_split(&inside, matches, nr_matches, spans);
	for (i = 0; i < nr; i++) {
		spans[i].wait = interval->wait;
		if (spans[i].part == PART_RUNQUEUE) {
			fault_builder_note_cpu_wait(fault, interval, &spans[i]);
		} else {
			spans[i].waker = event->waker;
			spans[i].waker_doing = event->event.flags >> PFSTAT_OFF_CPU_WAKER_SHIFT;
		}
		fault_builder_add_asleep(builder, spans[i], reclaims);
	}
}

void fault_builder_add_unaccounted(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns)
{
	struct explain_span span = { .from_ns = from_ns, .to_ns = to_ns, .part = PART_RESIDUE };

	if (fault_builder_clip(builder, &span.from_ns, &span.to_ns))
		fault_builder_add_span(builder, &span);
}

uint64_t fault_builder_add_lost(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns,
				uint64_t lost_ns)
{
	struct explain_span span = { .from_ns = from_ns, .to_ns = to_ns, .part = PART_RESIDUE };

	if (!lost_ns || !fault_builder_clip(builder, &span.from_ns, &span.to_ns))
		return 0;
	if (span.to_ns - span.from_ns > lost_ns)
		span.from_ns = span.to_ns - lost_ns;
	fault_builder_add_span(builder, &span);
	return span.to_ns - span.from_ns;
}

/* The CPU time within the calls, and the rest of the CPU time. */
static void fault_builder_divide_cpu(struct fault_builder *builder, uint64_t cpu_ns)
{
	struct explained *fault = &builder->fault;
	const uint64_t tail_ns = fault->end_ns - builder->accounted_until_ns;

	builder->tail_cpu_ns =
		fault_builder_in_calls(builder, builder->accounted_until_ns, fault->end_ns);
	builder->tail_mm_ns = tail_ns - builder->tail_cpu_ns;
	builder->cpu_ns[fault->nr_spans != 0] += builder->tail_cpu_ns;
	fault->parts_ns[PART_CPU_BEFORE] = builder->cpu_ns[0];
	fault->parts_ns[PART_CPU_AFTER] = builder->cpu_ns[1];
	fault->parts_ns[PART_MM] = cpu_ns - builder->cpu_ns[0] - builder->cpu_ns[1];
}

void fault_builder_end(struct fault_builder *builder, bool solved)
{
	struct explained *fault = &builder->fault;
	const uint64_t cpu_ns = fault->end_ns - fault->start_ns - builder->spans_ns;
	const uint64_t first_off_ns = fault->nr_spans ? fault->spans[0].from_ns : fault->end_ns;
	fault->solved = solved;
	fault->major = solved && fault->major;
	fault->whole = !builder->partial;
	if (!fault->calls)
		fault->handler_ns = builder->without_call_ns;
	if (fault->calls && fault->whole && fault->parts_known) {
		fault_builder_divide_cpu(builder, cpu_ns);
		return;
	}
	builder->tail_cpu_ns = fault->end_ns - builder->accounted_until_ns;
	builder->tail_mm_ns = 0;
	fault->parts_ns[PART_CPU_BEFORE] = first_off_ns - fault->start_ns;
	fault->parts_ns[PART_CPU_AFTER] = cpu_ns - fault->parts_ns[PART_CPU_BEFORE];
}

/*
 * Fills in a fault from one attempt: from a call's record, or from the event describing a whole
 * handle_mm_fault(). explain.c decides which fault an attempt belongs to, and accounts the
 * attempt's time.
 */

/*
 * do_page_mkwrite() replaces the fault's flags. A record describing a handle_mm_fault() has the
 * fault's flags. Otherwise the mode is not known, and nearly all faults come from the program.
 */
static uint32_t flags_of_record(const struct pfstat_record *record)
{
	return record->op == PFSTAT_OP_PAGE_MKWRITE && !record->fault_ns ?
		       record->flags | PFSTAT_FLAG_USER :
		       record->flags;
}

void fault_attempt_describe_record(struct explained *fault, const struct pfstat_record *record)
{
	fault->pid = record->pid;
	fault->tid = record->tid;
	fault->address = record->address;
	fault->flags = flags_of_record(record);
	fault->ip = record->ip;
}

void fault_attempt_describe_event(struct explained *fault, const struct pfstat_fault *event)
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

enum fault_class fault_attempt_class(const struct pfstat_fault *event)
{
	const uint32_t kind = PFSTAT_FAULT_KIND(event->event.flags);

	return kind == PFSTAT_FAULT_HOOKED ? FAULT_OTHER : fault_class_of_kind(kind);
}

/* The first attempt with an entry decides. Later ones meet the entry as the kernel changed it. */
static void fault_attempt_add_note(struct explained *fault, uint32_t note)
{
	if (fault->note == PFSTAT_NOTE_UNKNOWN || fault->note == PFSTAT_NOTE_EMPTY)
		fault->note = note;
}

static bool is_mkwrite(const struct pfstat_record *record)
{
	return record->op == PFSTAT_OP_PAGE_MKWRITE || record->op == PFSTAT_OP_PFN_MKWRITE;
}

void fault_attempt_add_call(struct fault_builder *builder, const struct pfstat_record *record,
			    bool sleep_missing)
{
	struct explained *fault = &builder->fault;

	if (fault->class == FAULT_PASS || fault->class >= FAULT_FIRST_OTHER)
		fault->class = (enum fault_class)record->class;
	fault->pgoff = record->pgoff;
	fault->inode = record->inode;
	fault->dev = record->dev;
	fault->handler_ns += record->duration_ns;
	fault->result = record->result;
	/* ->page_mkwrite maps no page: ->fault mapped it before, if it was called. */
	if (!is_mkwrite(record))
		fault->order = record->facts & PFSTAT_FACT_FOLIO ? record->order : 0;
	fault->content = record->facts & PFSTAT_FACT_COW ? PFSTAT_CONTENT_FILE :
							   PFSTAT_CONTENT_UNKNOWN;
	fault->huge_order = 0;
	fault->attempts++;
	fault->around_before = is_mkwrite(record) ? 0 : record->around_before;
	fault->around_pages = record->around_pages;
	if (is_mkwrite(record))
		fault_attempt_add_note(fault, record->around_before);
	builder->by_event = false;
	builder->last_flags = record->flags;
	fault_builder_add_call(builder, record->start_ns, record->start_ns + record->duration_ns,
			       sleep_missing);
}

void fault_attempt_add_return(struct fault_builder *builder, const struct pfstat_fault *event)
{
	struct explained *fault = &builder->fault;

	/* A first attempt may have returned before the kernel determined the kind. */
	if (fault->class == FAULT_OTHER || fault->class == FAULT_PASS)
		fault->class = fault_attempt_class(event);
	fault->attempts++;
	fault->result = event->result;
	fault->content = event->page & PFSTAT_PAGE_CONTENT_MASK;
	fault->huge_order = event->page >> PFSTAT_PAGE_ORDER_SHIFT;
	fault_attempt_add_note(fault, PFSTAT_FAULT_NOTE(event->event.flags));
	fault->order = 0;
	fault->around_pages = 0;
	fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	builder->complete = event->outcome <= PFSTAT_OUTCOME_MAJOR;
	builder->by_event = true;
	builder->last_flags = event->fault_flags;
	builder->last_from_ns = event->start_ns;
	builder->last_to_ns =
		PFSTAT_FAULT_KIND(event->event.flags) == PFSTAT_FAULT_HOOKED ? event->event.ns : 0;
	if (!(event->perf & PFSTAT_PERF_NO_END))
		builder->without_call_ns += item_elapsed(event->start_ns, event->event.ns);
}

bool fault_attempt_is_repeated(const struct fault_builder *builder, uint32_t flags)
{
	return flags & PFSTAT_FLAG_TRIED || (builder->last_flags & ~flags & PFSTAT_FLAG_VMA_LOCK);
}

bool fault_attempt_is_in_last_span(const struct fault_builder *builder,
				   const struct pfstat_record *record)
{
	return builder && builder->by_event && !record->fault_ns &&
	       record->start_ns >= builder->last_from_ns &&
	       record->start_ns + record->duration_ns == builder->last_to_ns;
}

bool fault_attempt_has_calls(const struct fault_builder *builder, const struct pfstat_fault *event)
{
	return builder && builder->nr_pending && builder->last_from_ns >= event->start_ns &&
	       builder->last_to_ns <= event->event.ns;
}

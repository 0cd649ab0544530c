// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills in a fault from one attempt: from a call's record, or from the event describing a whole
 * handle_mm_fault(). explain.c decides which fault an attempt belongs to, and accounts the
 * attempt's time.
 */
#include "analyze/fault/fault_attempt.h"

#include "model/item.h"

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
	return event->event.flags == PFSTAT_FAULT_HOOKED ? FAULT_OTHER :
							   fault_class_of_kind(event->event.flags);
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
	if (record->op != PFSTAT_OP_PAGE_MKWRITE && record->op != PFSTAT_OP_PFN_MKWRITE)
		fault->order = record->facts & PFSTAT_FACT_FOLIO ? record->order : 0;
	fault->content = record->facts & PFSTAT_FACT_COW ? PFSTAT_CONTENT_FILE :
							   PFSTAT_CONTENT_UNKNOWN;
	fault->huge_order = 0;
	fault->attempts++;
	fault->around_before = record->around_before;
	fault->around_pages = record->around_pages;
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
	fault->order = 0;
	fault->around_pages = 0;
	fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	builder->complete = event->outcome <= PFSTAT_OUTCOME_MAJOR;
	builder->by_event = true;
	builder->last_flags = event->fault_flags;
	builder->last_from_ns = event->start_ns;
	builder->last_to_ns = event->event.flags == PFSTAT_FAULT_HOOKED ? event->event.ns : 0;
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

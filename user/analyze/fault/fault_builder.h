/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A logical fault under construction. File operation calls, off-CPU time and reclaims are added in
 * time order, the latter span by span. The thread was on the CPU for the time not covered by a
 * span. Spans never overlap and never leave the fault, even if the CPU clocks disagree. The same
 * holds for calls.
 */
#ifndef PFSTAT_USER_FAULT_BUILDER_H
#define PFSTAT_USER_FAULT_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/off_cpu.h"
#include "analyze/fault/requests.h"
#include "model/fault_class.h"

/* Calls kept until the CPU time around them is accounted. */
#define BUILDER_CALLS 16U

struct builder_call {
	uint64_t from_ns, to_ns; /* equal: another call covers it */
	bool sleep_missing;	 /* the record reports a sleep without an off-CPU event */
};

struct fault_builder {
	struct fault_builder *next;  /* in the free list */
	bool complete;		     /* a page_mkwrite, or the span, may still come */
	bool by_event;		     /* an event described the last attempt */
	bool begun;		     /* an attempt's time is accounted */
	bool partial;		     /* an attempt whose span is not known */
	uint32_t last_flags;	     /* the last attempt's PFSTAT_FLAG_* */
	uint64_t accounted_until_ns; /* end of the last span, or the start without one */
	uint64_t spans_ns;	     /* the sum of the spans, including spans not stored */
	unsigned int nr_calls;
	unsigned int nr_pending;	   /* the last calls: not accounted, no span so far */
	uint64_t last_from_ns, last_to_ns; /* the last call or HOOKED event, as recorded */
	uint64_t cpu_ns[2];		   /* in calls, before and after the first span */
	uint64_t tail_cpu_ns, tail_mm_ns;  /* on the CPU after the last span, and after the end */
	uint64_t without_call_ns;	   /* attempts described by an event */
	struct explained fault;
	struct builder_call calls[BUILDER_CALLS]; /* nr_calls are valid */
};

void fault_builder_begin(struct fault_builder *builder, enum fault_class class, uint64_t start_ns);
/* Moves the start of the fault back, unless an attempt's time is already accounted. */
void fault_builder_begin_earlier(struct fault_builder *builder, uint64_t start_ns);
/* Moves the end of the fault forward, never back. */
void fault_builder_extend(struct fault_builder *builder, uint64_t end_ns);
/*
 * Adds the off-CPU interval's share within the fault's present bounds. A sleep within a reclaim is
 * PART_RECLAIM.
 */
void fault_builder_add_interval(struct fault_builder *builder,
				const struct off_cpu_interval *interval,
				const struct requests *requests, const struct reclaims *reclaims);
/* Adds the reclaims up to until_ns. The thread was on the CPU in the time that is not added yet. */
void fault_builder_add_reclaims(struct fault_builder *builder, const struct reclaims *reclaims,
				uint64_t until_ns);
/* Adds time not explained by evidence, as PART_RESIDUE. */
void fault_builder_add_unaccounted(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns);
/*
 * The thread was off the CPU for lost_ns between from_ns and to_ns, but the events are lost.
 * Adds the time that fits into the fault as PART_RESIDUE, and returns it.
 */
uint64_t fault_builder_add_lost(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns,
				uint64_t lost_ns);
/* Ends the fault. The thread was on the CPU for the rest of the fault time. */
void fault_builder_end(struct fault_builder *builder, bool solved);

/*
 * What one attempt adds to a fault. A record describes an attempt that called a file operation, an
 * event (struct pfstat_fault) any handle_mm_fault().
 */

/* A fault's first attempt sets the thread, address, flags and ip. */
void fault_attempt_describe_record(struct explained *fault, const struct pfstat_record *record);
void fault_attempt_describe_event(struct explained *fault, const struct pfstat_fault *event);
/* Without a call, the class of a hooked file's fault is not known: FAULT_OTHER. */
enum fault_class fault_attempt_class(const struct pfstat_fault *event);

/* Adds a call. sleep_missing: the record reports a sleep without an off-CPU event. */
void fault_attempt_add_call(struct fault_builder *builder, const struct pfstat_record *record,
			    bool sleep_missing);
/* Adds an attempt without a call. */
void fault_attempt_add_return(struct fault_builder *builder, const struct pfstat_fault *event);

/* The kernel repeats a fault with TRIED, or under the mmap lock if the per-VMA lock did not do. */
bool fault_attempt_is_repeated(const struct fault_builder *builder, uint32_t flags);
/*
 * Whether the last event describes this call's attempt. Events come before records at the same
 * time, so the event may precede the record. builder: or NULL.
 */
bool fault_attempt_is_in_last_span(const struct fault_builder *builder,
				   const struct pfstat_record *record);
/* Whether the event describes the handle_mm_fault() of the pending calls. builder: or NULL. */
bool fault_attempt_has_calls(const struct fault_builder *builder, const struct pfstat_fault *event);

#endif

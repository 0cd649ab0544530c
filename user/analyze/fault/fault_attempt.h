/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one attempt adds to a fault. A record describes an attempt that called a file operation, an
 * event (struct pfstat_fault) any handle_mm_fault().
 */
#ifndef PFSTAT_USER_FAULT_ATTEMPT_H
#define PFSTAT_USER_FAULT_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/fault_builder.h"
#include "model/fault_class.h"

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

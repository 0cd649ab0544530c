/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A logical fault under construction. Its off-CPU time and reclaims are added in time order, span
 * by span.
 * The thread was on the CPU for the time that no span covers. Spans never overlap and never leave
 * the fault, even if the clocks of the CPUs disagree.
 */
#ifndef PFSTAT_USER_FAULT_BUILDER_H
#define PFSTAT_USER_FAULT_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/off_cpu.h"
#include "analyze/fault/reclaims.h"
#include "analyze/fault/requests.h"

struct fault_builder {
	struct fault_builder *next;  /* in the list of free ones */
	bool complete;		     /* a page_mkwrite may still belong to it */
	uint64_t accounted_until_ns; /* the end of the last span; without one, the start */
	uint64_t spans_ns;	     /* the sum of the spans, also of those not stored */
	struct explained fault;
};

void fault_builder_begin(struct fault_builder *builder, enum fault_class class, uint64_t start_ns);
/* Moves the end of the fault forward, never back. */
void fault_builder_extend(struct fault_builder *builder, uint64_t end_ns);
/*
 * Adds the share of the off-CPU interval that lies within the present bounds of the fault. A sleep
 * within a reclaim is PART_RECLAIM.
 */
void fault_builder_add_interval(struct fault_builder *builder,
				const struct off_cpu_interval *interval,
				const struct requests *requests, const struct reclaims *reclaims);
/* Adds the reclaims up to until_ns. The thread was on the CPU in the time that is not added yet. */
void fault_builder_add_reclaims(struct fault_builder *builder, const struct reclaims *reclaims,
				uint64_t until_ns);
/* Adds time that no evidence explains, as PART_RESIDUE. */
void fault_builder_add_unaccounted(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns);
/*
 * The thread was off the CPU for lost_ns between from_ns and to_ns, but the events are lost.
 * Adds the time that fits into the fault as PART_RESIDUE, and returns it.
 */
uint64_t fault_builder_add_lost(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns,
				uint64_t lost_ns);
/* Ends the fault. The thread was on the CPU for the rest of its time. */
void fault_builder_end(struct fault_builder *builder, bool solved);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A logical fault while it is put together: its time off the CPU comes in time
 * order, piece by piece, and whatever no piece covers was on the CPU. Pieces never
 * overlap nor leave the fault, whatever the clocks of the CPUs say.
 */
#ifndef PFSTAT_USER_FAULT_BUILDER_H
#define PFSTAT_USER_FAULT_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/requests.h"

struct story {
	struct story *next;	/* in the list of those that are free */
	bool complete;		/* but a page_mkwrite may belong to it */
	uint64_t told_ns;	/* pieces were added up to here; the fault's start: none */
	uint64_t off_ns;	/* their sum */
	struct explained fault;
};

void story_begin(struct story *story, enum fault_class class, uint64_t start_ns);
/* The end moves on, never back. */
void story_extend(struct story *story, uint64_t end_ns);
/* What of the stay lies in the fault, and before its end as it is known now. */
void story_add_stay(struct story *story, const struct pfstat_off_cpu *stay,
		    const struct requests *requests);
/* Nobody can say what it did from there to there. */
void story_add_residue(struct story *story, uint64_t from_ns, uint64_t to_ns);
/*
 * Of the time from there to there the thread was lost_ns off the CPU, and no event says when.
 * As much of it as fits into the fault is its residue: returned.
 */
uint64_t story_add_lost(struct story *story, uint64_t from_ns, uint64_t to_ns, uint64_t lost_ns);
/* All is told: what is left was on the CPU. */
void story_end(struct story *story, bool solved);

#endif

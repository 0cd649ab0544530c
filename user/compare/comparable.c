// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording's hooks, which are in the counters, decide which parts and classes it has.
 * cmd_compare.c asks for each recording.
 */
#include <math.h>

#include "compare/comparable.h"
#include "model/counters.h"
#include "model/fault_class.h"
#include "model/part.h"

static bool comparable_has_hook(struct comparable seen, enum bpf_hook hook)
{
	return seen.hooks & 1U << hook;
}

bool comparable_is_whole(struct comparable seen)
{
	return comparable_has_hook(seen, HOOK_FAULT) &&
	       (seen.has_spans || comparable_has_hook(seen, HOOK_PERF));
}

static bool comparable_part(struct comparable seen, enum part part)
{
	const uint32_t hooks = part_rows[part].hooks |
			       (part_has(part, PART_TAKES_REQUESTS) ? 1U << HOOK_BLOCK : 0);

	if (part_has(part, PART_OUTSIDE_CALLS) &&
	    (!seen.has_spans || comparable_has_hook(seen, HOOK_PERF)))
		return false;
	return !(hooks & ~seen.hooks);
}

unsigned int comparable_parts(struct comparable seen)
{
	unsigned int parts = 0;
	enum part part;

	for (part = 0; part < NR_PARTS && seen.have_bpf; part++)
		if (comparable_part(seen, part))
			parts |= 1U << part;
	return parts;
}

unsigned int comparable_classes(struct comparable seen)
{
	const unsigned int every_class = (1U << NR_FAULT_CLASSES) - 1;
	unsigned int classes = every_class & ~(1U << FAULT_OTHER);
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (fault_classes[class].hooks & ~seen.hooks)
			classes &= ~(1U << class);
	/* Faults with an unknown class are counted among the others. */
	if (classes == (every_class & ~(1U << FAULT_OTHER)))
		classes = every_class;
	return classes;
}

static double lost_share_of(uint64_t lost, uint64_t seen)
{
	return lost ? (double)lost / ((double)lost + seen) : 0;
}

double comparable_lost_share(const struct compare_side *side)
{
	const struct compare_run *run;
	double lost = 0;

	for (run = side->runs; run < side->runs + side->nr; run++) {
		if (run->damage || run->lost_records == COUNT_NA || run->lost_events == COUNT_NA)
			return INFINITY;
		lost = fmax(lost, lost_share_of(run->lost_records, run->records));
		lost = fmax(lost, lost_share_of(run->lost_events, run->events));
	}
	return lost;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hooks of a recording, which are in its counters, decide which parts and classes it has.
 * cmd_compare.c asks for each recording.
 */
#include "analyze/fault/explain.h"
#include "compare/comparable.h"
#include "model/counters.h"
#include "model/fault_class.h"

static bool comparable_has_hook(struct comparable seen, enum bpf_hook hook)
{
	return seen.hooks & 1U << hook;
}

bool comparable_is_whole(struct comparable seen)
{
	return comparable_has_hook(seen, HOOK_FAULT) &&
	       (seen.has_spans || comparable_has_hook(seen, HOOK_PERF));
}

unsigned int comparable_parts(struct comparable seen)
{
	unsigned int parts = (1U << NR_PARTS) - 1;

	if (!seen.have_bpf)
		return 0;
	if (!comparable_has_hook(seen, HOOK_BLOCK))
		parts &= ~(1U << PART_QUEUE | 1U << PART_DEVICE | 1U << PART_COMPLETION |
			   1U << PART_FOREIGN);
	if (!comparable_has_hook(seen, HOOK_BLOCK_INSERT))
		parts &= ~(1U << PART_QUEUE);
	if (!comparable_has_hook(seen, HOOK_WAKEUP))
		parts &= ~(1U << PART_COMPLETION | 1U << PART_RUNQUEUE);
	if (!comparable_has_hook(seen, HOOK_RECLAIM))
		parts &= ~(1U << PART_RECLAIM);
	if (!comparable_is_whole(seen) || comparable_has_hook(seen, HOOK_PERF))
		parts &= ~(1U << PART_MM);
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
	/* Faults of a class that is not known are counted among the others. */
	if (classes == (every_class & ~(1U << FAULT_OTHER)))
		classes = every_class;
	return classes;
}

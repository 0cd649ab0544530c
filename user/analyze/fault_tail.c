// SPDX-License-Identifier: GPL-2.0-only
/* Counts the long faults from explain.c, and copies what is known about the longest one. */
#include "analyze/fault_tail.h"

/* A request explains the rest, even if the stack shows a wait for a page. */
static bool has_stack(const struct explain_span *span)
{
	return span->wait && part_has(span->part, PART_HAS_STACK);
}

static uint64_t slept_with(const struct explained *fault, uint32_t wait)
{
	uint64_t slept_ns = 0;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++)
		if (fault->spans[i].wait == wait && has_stack(&fault->spans[i]))
			slept_ns += fault->spans[i].to_ns - fault->spans[i].from_ns;
	return slept_ns;
}

static void longest_fault_set_wait(struct longest_fault *longest, const struct explained *fault)
{
	uint64_t slept_ns;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++) {
		if (!has_stack(&fault->spans[i]))
			continue;
		slept_ns = slept_with(fault, fault->spans[i].wait);
		if (slept_ns > longest->wait_ns) {
			longest->wait_ns = slept_ns;
			longest->wait = fault->spans[i].wait;
		}
	}
}

void longest_fault_set(struct longest_fault *longest, const struct explained *fault)
{
	enum part part;

	*longest = (struct longest_fault){
		.start_ns = fault->start_ns,
		.duration_ns = fault->end_ns - fault->start_ns,
		.address = fault->address,
		.pgoff = fault->pgoff,
		.inode = fault->inode,
		.ip = fault->ip,
		.dev = fault->dev,
		.pid = fault->pid,
		.tid = fault->tid,
		.flags = fault->flags,
		.class = fault->class,
		.solved = fault->solved,
		.major = fault->major,
		.parts_known = fault->parts_known,
	};
	for (part = 0; part < NR_PARTS; part++)
		if (fault->parts_ns[part] > fault->parts_ns[longest->part])
			longest->part = part;
	longest->part_ns = fault->parts_ns[longest->part];
	longest_fault_set_wait(longest, fault);
}

void fault_tail_add(struct fault_tail *tail, const struct explained *fault)
{
	const uint64_t duration_ns = fault->end_ns - fault->start_ns;

	if (duration_ns >= FAULT_TAIL_NS) {
		tail->count++;
		tail->total_ns += duration_ns;
	}
	if (duration_ns <= tail->longest.duration_ns)
		return;
	longest_fault_set(&tail->longest, fault);
}

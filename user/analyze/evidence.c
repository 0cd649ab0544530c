// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up the verdict's evidence that the figures by class and by group do not have. Input:
 * logical faults about in the order of their ends, tasks, reclaims, and calls of madvise(2). Faults
 * of several threads overlap, so their intervals are merged before they are added up.
 */
#include <string.h>

#include "analyze/evidence.h"

/* Drops half of the spans at once, so that moving the rest costs little for each fault. */
static void evidence_drop_oldest(struct evidence *evidence)
{
	const size_t dropped = evidence->nr / 2;
	size_t i;

	for (i = 0; i < dropped; i++)
		evidence->figures.busy_ns += evidence->spans[i].to_ns - evidence->spans[i].from_ns;
	evidence->floor_ns = evidence->spans[dropped - 1].to_ns;
	evidence->nr -= dropped;
	memmove(evidence->spans, evidence->spans + dropped,
		evidence->nr * sizeof(evidence->spans[0]));
}

static void evidence_add_span(struct evidence *evidence, uint64_t from_ns, uint64_t to_ns)
{
	size_t first, end;

	if (from_ns < evidence->floor_ns)
		from_ns = evidence->floor_ns;
	if (from_ns >= to_ns)
		return;
	for (end = evidence->nr; end && evidence->spans[end - 1].from_ns > to_ns; end--)
		;
	for (first = end; first && evidence->spans[first - 1].to_ns >= from_ns; first--) {
		if (evidence->spans[first - 1].from_ns < from_ns)
			from_ns = evidence->spans[first - 1].from_ns;
		if (evidence->spans[first - 1].to_ns > to_ns)
			to_ns = evidence->spans[first - 1].to_ns;
	}
	/* The spans from first to end become one. */
	memmove(evidence->spans + first + 1, evidence->spans + end,
		(evidence->nr - end) * sizeof(evidence->spans[0]));
	evidence->spans[first].from_ns = from_ns;
	evidence->spans[first].to_ns = to_ns;
	evidence->nr = evidence->nr - end + first + 1;
}

static void evidence_add_to(struct evidence_sum *sum, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;

	sum->count++;
	sum->total_ns += whole_ns;
	sum->off_cpu_ns += whole_ns - explained_cpu_ns(fault);
}

static void evidence_add_perf(struct evidence_perf *perf, const struct explained *fault)
{
	if (!fault->major)
		evidence_add_to(&perf->minor, fault);
	if (fault->class != FAULT_FILE)
		return;
	evidence_add_to(fault->major ? &perf->read : &perf->cached, fault);
	if (fault->major && fault->perf & PFSTAT_PERF_AGAIN)
		evidence_add_to(&perf->read_again, fault);
	if (!fault->major && fault->perf & PFSTAT_PERF_WRITABLE)
		evidence_add_to(&perf->writable, fault);
}

void evidence_add_fault(struct evidence *evidence, const struct explained *fault)
{
	if (evidence->nr == EVIDENCE_SPANS)
		evidence_drop_oldest(evidence);
	evidence_add_span(evidence, fault->start_ns, fault->end_ns);
	if (fault->perf && fault->solved)
		evidence_add_perf(&evidence->figures.perf, fault);
	if ((fault->class == FAULT_LONG || fault->class == FAULT_AROUND) &&
	    !(fault->flags & PFSTAT_FLAG_WRITE))
		evidence_add_to(&evidence->figures.cached_reads, fault);
	if (fault->flags & PFSTAT_FLAG_USER)
		return;
	evidence->figures.kernel_faults++;
	evidence->figures.kernel_ns += fault->end_ns - fault->start_ns;
}

void evidence_add_off_cpu(struct evidence *evidence, const struct pfstat_off_cpu *interval)
{
	if (interval->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		evidence->figures.waiting_ns += item_elapsed(interval->off_ns, interval->event.ns);
	else if (interval->event.flags & PFSTAT_OFF_CPU_WOKEN)
		evidence->figures.waiting_ns +=
			item_elapsed(interval->woken_ns, interval->event.ns);
}

void evidence_add_task(struct evidence *evidence, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_FORK && task->event.pid == task->event.tid)
		evidence->figures.forks++;
}

void evidence_add_advice(struct evidence *evidence, const struct pfstat_advice *advice)
{
	if (advice->advice < EVIDENCE_ADVICES)
		evidence->figures.advices[advice->advice]++;
}

void evidence_add_reclaim(struct evidence *evidence, const struct pfstat_reclaim *reclaim)
{
	struct evidence_reclaims *reclaims = &evidence->figures.reclaims[reclaim->event.flags];

	reclaims->count++;
	reclaims->total_ns += item_elapsed(reclaim->start_ns, reclaim->event.ns);
	reclaims->pages += reclaim->pages;
}

void evidence_figures(const struct evidence *evidence, struct evidence_figures *figures)
{
	size_t i;

	*figures = evidence->figures;
	for (i = 0; i < evidence->nr; i++)
		figures->busy_ns += evidence->spans[i].to_ns - evidence->spans[i].from_ns;
}

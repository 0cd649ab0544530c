// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up the verdict's evidence not covered by the figures by class and by group. Input: logical
 * faults in approximate order of their ends, tasks, reclaims, and madvise(2) calls.
 */
#include "analyze/evidence.h"
#include "model/counters.h"

void evidence_sum_add(struct evidence_sum *sum, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;

	sum->count++;
	sum->total_ns += whole_ns;
	sum->off_cpu_ns += whole_ns - explained_cpu_ns(fault);
}

static void evidence_add_perf(struct evidence_perf *perf, const struct explained *fault)
{
	if (!fault->major)
		evidence_sum_add(&perf->minor, fault);
	perf->history_known |= fault->perf & PFSTAT_PERF_HISTORY;
	if (fault->perf & PFSTAT_PERF_OFTEN)
		evidence_sum_add(&perf->often, fault);
	if (fault->class == FAULT_ANON && fault->perf & PFSTAT_PERF_REMAPPED)
		evidence_sum_add(&perf->remapped, fault);
	if (fault->class != FAULT_FILE)
		return;
	evidence_sum_add(fault->major ? &perf->read : &perf->cached, fault);
	if (fault->major && fault->perf & PFSTAT_PERF_AGAIN)
		evidence_sum_add(&perf->read_again, fault);
	if (!fault->major && fault->perf & PFSTAT_PERF_MAPPED)
		evidence_sum_add(&perf->mapped, fault);
	if (!fault->major && fault->perf & PFSTAT_PERF_WRITABLE)
		evidence_sum_add(&perf->writable, fault);
}

static void evidence_add_cpu_waits(struct evidence_cpu_wait *waits, const struct explained *fault)
{
	unsigned int i;

	for (i = 0; i < NR_CPU_WAITS; i++) {
		waits[i].count += fault->cpu_waits[i];
		waits[i].total_ns += fault->cpu_waits_ns[i];
	}
}

void evidence_exit(struct evidence *evidence)
{
	fault_overlap_exit(&evidence->busy);
	activity_exit(&evidence->activity);
	standstill_exit(&evidence->standstill);
	handlers_exit(&evidence->handlers);
}

void evidence_make_small(struct evidence *evidence)
{
	evidence->small = true;
	evidence->busy.chunks_max = FAULT_OVERLAP_CHUNKS / 8;
}

int evidence_add_fault(struct evidence *evidence, const struct explained *fault)
{
	if (fault->perf && fault->solved)
		evidence_add_perf(&evidence->figures.perf, fault);
	evidence_add_cpu_waits(evidence->figures.cpu_waits, fault);
	handlers_add_fault(&evidence->handlers, fault);
	if ((fault->class == FAULT_LONG || fault->class == FAULT_AROUND) &&
	    !(fault->flags & PFSTAT_FLAG_WRITE))
		evidence_sum_add(&evidence->figures.cached_reads, fault);
	if (fault->class == FAULT_ANON && !fault->perf && !(fault->flags & PFSTAT_FLAG_WRITE))
		evidence_sum_add(&evidence->figures.anon_reads, fault);
	if (!(fault->flags & PFSTAT_FLAG_USER)) {
		evidence->figures.kernel_faults++;
		evidence->figures.kernel_ns += fault->end_ns - fault->start_ns;
	}
	if (fault->flags & PFSTAT_FLAG_GUEST) {
		evidence->figures.guest_faults++;
		evidence->figures.guest_ns += fault->end_ns - fault->start_ns;
	}
	return fault_overlap_add(&evidence->busy, fault->start_ns, fault->end_ns) ?:
		       activity_add_fault(&evidence->activity, fault)		  ?:
		       (evidence->small ? 0 : standstill_add_fault(&evidence->standstill, fault));
}

int evidence_add_off_cpu(struct evidence *evidence, const struct pfstat_off_cpu *interval)
{
	int err;

	if (interval->event.flags & PFSTAT_OFF_CPU_LIMITS)
		evidence->figures.limits_known = true;
	if (interval->event.flags & PFSTAT_OFF_CPU_THROTTLED) {
		evidence->figures.throttled.count++;
		evidence->figures.throttled.total_ns +=
			item_elapsed(interval->off_ns, interval->event.ns);
	}
	err = activity_add_off_cpu(&evidence->activity, interval);
	if (err || evidence->small)
		return err;
	return standstill_add_off_cpu(&evidence->standstill, interval);
}

void evidence_add_map(struct evidence *evidence, const struct item_map *map)
{
	if (map->ns && map->bytes && map->inode)
		evidence->figures.file_maps++;
}

int evidence_add_task(struct evidence *evidence, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_FORK && task->event.pid == task->event.tid)
		evidence->figures.forks++;
	if (task->event.flags & PFSTAT_TASK_EXEC)
		evidence->figures.execs++;
	return activity_add_task(&evidence->activity, task) ?:
		       (evidence->small ? 0 : standstill_add_task(&evidence->standstill, task));
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

int evidence_finish(struct evidence *evidence)
{
	return standstill_finish(&evidence->standstill);
}

void evidence_figures(const struct evidence *evidence, struct evidence_figures *figures)
{
	struct overlap_figures overlap;

	*figures = evidence->figures;
	figures->failed_faults = COUNT_NA;
	fault_overlap_figures(&evidence->busy, 0, UINT64_MAX, &overlap);
	figures->busy_ns = overlap.faults.min_ns;
	figures->busy_max_ns = overlap.faults.max_ns;
	figures->depth = overlap.depth;
	figures->depth_max = overlap.depth_max;
	figures->settled_ns = fault_overlap_passed_ns(&evidence->busy, EVIDENCE_SETTLED);
	standstill_figures(&evidence->standstill, &figures->standstill);
	handlers_figures(&evidence->handlers, &figures->handlers);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times this thread's page faults on present pages, first without eBPF, the module's count of all
 * faults and perf's counters, then with them. The difference is their cost, which the report
 * prints.
 */
#include <unistd.h>

#include "collect/bpf_cost.h"
#include "collect/perf_faults.h"
#include "model/counters.h"

void bpf_cost_begin(struct bpf_cost *cost)
{
	if (!fault_stage_open(&cost->memory))
		cost->memory_ps = fault_stage_time(&cost->memory);
	if (!fault_stage_open_vdso(&cost->vdso))
		cost->vdso_ps = fault_stage_time(&cost->vdso);
}

void bpf_cost_close(struct bpf_cost *cost)
{
	fault_stage_close(&cost->memory);
	fault_stage_close(&cost->vdso);
}

/* Makes the stage's mapping count as one hooked by the module. */
static bool bpf_cost_hook(const struct fault_stage *stage, const struct all_faults *faults)
{
	return stage->memory && !all_faults_imitate(faults, stage->memory);
}

/* Also n/a if the kernel does not restart each fault. */
static void bpf_cost_measure_again(struct bpf_cost *cost, const struct all_faults *faults)
{
	struct hooked_returns before, after;
	uint64_t watched_ps;

	if (!bpf_cost_hook(&cost->vdso, faults) || all_faults_hooked_returns(faults, &before))
		return;
	watched_ps = fault_stage_time(&cost->vdso);
	if (!all_faults_hooked_returns(faults, &after) &&
	    after.again - before.again == after.ended - before.ended)
		cost->again_ps =
			fault_stage_difference(fault_stage_difference(watched_ps, cost->vdso_ps),
					       cost->hooked_ps);
}

/*
 * If this thread cannot be watched, nothing is measured. That it cannot be unwatched is an error.
 */
static int bpf_cost_measure(struct bpf_cost *cost, const struct all_faults *faults)
{
	const pid_t tid = gettid();
	int err;

	if (all_faults_watch(faults, tid, PFSTAT_TARGET_THREAD))
		return 0;
	if (bpf_cost_hook(&cost->memory, faults))
		cost->hooked_ps =
			fault_stage_difference(fault_stage_time(&cost->memory), cost->memory_ps);
	bpf_cost_measure_again(cost, faults);
	err = all_faults_imitate(faults, NULL);
	cost->other_ps = fault_stage_difference(fault_stage_time(&cost->memory), cost->memory_ps);
	return all_faults_ignore(faults, tid) ?: err;
}

/* A counter that cannot be opened here is missing in the run too. */
static void bpf_cost_count(struct perf_faults **counters)
{
	if (!perf_faults_open(counters) && !perf_faults_hold_thread(*counters, gettid()))
		perf_faults_release_thread(*counters);
}

int bpf_cost_end(struct bpf_cost *cost, const struct all_faults *faults, bool with_counters)
{
	struct perf_faults *counters = NULL;
	int err;

	if (!cost->memory.memory || !all_faults_are_counted(faults))
		return 0;
	if (with_counters)
		bpf_cost_count(&counters);
	err = bpf_cost_measure(cost, faults);
	perf_faults_close(counters);
	return err ? err : all_faults_forget(faults);
}

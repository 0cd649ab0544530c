// SPDX-License-Identifier: GPL-2.0-only
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

/* n/a where the machine wavers by more than it is: nothing is free. */
static uint64_t above(uint64_t more, uint64_t less)
{
	return more != COUNT_NA && less != COUNT_NA && more > less ? more - less : COUNT_NA;
}

/* To eBPF the stage's mapping is one that the module hooked. */
static bool take_for_hooked(const struct fault_stage *stage, struct events *events)
{
	uint64_t handler;

	if (!stage->memory || events_find_handler(events, (const void *)stage->memory, &handler))
		return false;
	events_set_wrapper(events, handler);
	return true;
}

/* n/a as well where the kernel does not begin each of them again. */
static void measure_again(struct bpf_cost *cost, struct events *events)
{
	struct hooked_returns before, after;
	uint64_t watched_ps;

	if (!take_for_hooked(&cost->vdso, events) || events_hooked_returns(events, &before))
		return;
	watched_ps = fault_stage_time(&cost->vdso);
	if (!events_hooked_returns(events, &after) &&
	    after.again - before.again == after.ended - before.ended)
		cost->again_ps = above(above(watched_ps, cost->vdso_ps), cost->hooked_ps);
}

/* Not watched it is not measured. But it must not go on being watched: that is an error. */
static int measure(struct bpf_cost *cost, struct events *events)
{
	const pid_t tid = gettid();

	if (events_watch(events, tid, PFSTAT_TARGET_THREAD))
		return 0;
	if (take_for_hooked(&cost->memory, events))
		cost->hooked_ps = above(fault_stage_time(&cost->memory), cost->memory_ps);
	measure_again(cost, events);
	events_set_wrapper(events, 0);
	cost->other_ps = above(fault_stage_time(&cost->memory), cost->memory_ps);
	return events_ignore(events, tid);
}

/* Where a counter cannot be had there is none in the run either. */
static void count_too(struct counters **counters)
{
	if (!counters_open(counters) && !counters_hold_thread(*counters, gettid()))
		counters_release_thread(*counters);
}

int bpf_cost_end(struct bpf_cost *cost, struct events *events, bool with_counters)
{
	struct counters *counters = NULL;
	int err;

	if (!cost->memory.memory || !(events_hooks(events) & 1U << HOOK_FAULT))
		return 0;
	if (with_counters)
		count_too(&counters);
	err = measure(cost, events);
	counters_close(counters);
	return err ? err : events_forget(events);
}

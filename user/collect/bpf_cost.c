// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "../correlate/facts.h"
#include "bpf_cost.h"
#include "counters.h"

void bpf_cost_begin(struct bpf_cost *cost)
{
	if (!fault_stage_open(&cost->stage))
		cost->bare_ps = fault_stage_time(&cost->stage);
}

void bpf_cost_close(struct bpf_cost *cost)
{
	fault_stage_close(&cost->stage);
}

/* n/a where the machine wavers by more than it is: nothing is free. */
static uint64_t added(const struct bpf_cost *cost)
{
	const uint64_t watched_ps = fault_stage_time(&cost->stage);

	if (watched_ps == FACT_NONE || cost->bare_ps == FACT_NONE)
		return FACT_NONE;
	return watched_ps > cost->bare_ps ? watched_ps - cost->bare_ps : FACT_NONE;
}

/* To eBPF the stage's mapping is one that the module hooked, and then is not. */
static void measure(struct bpf_cost *cost, struct events *events)
{
	const pid_t tid = gettid();
	uint64_t handler;

	if (events_find_handler(events, (const void *)cost->stage.memory, &handler))
		return;
	events_set_wrapper(events, handler);
	if (!events_watch(events, tid, PFSTAT_TARGET_THREAD))
		cost->hooked_ps = added(cost);
	events_set_wrapper(events, 0);
	cost->other_ps = added(cost);
	events_ignore(events, tid);
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

	if (!cost->stage.memory || !(events_hooks(events) & 1U << HOOK_FAULT))
		return 0;
	if (with_counters)
		count_too(&counters);
	measure(cost, events);
	counters_close(counters);
	return events_forget(events);
}

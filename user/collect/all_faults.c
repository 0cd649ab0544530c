// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the counter for all faults, and forwards to it. The source is cheaper, but the kernel
 * lets only one tool take handle_mm_fault(), and only eBPF can walk a program's stack.
 */
#include <stdio.h>
#include <string.h>

#include "collect/all_faults.h"

void all_faults_init(struct all_faults *faults, struct fault_source *source,
		     const struct events_options *options)
{
	const char *missing = NULL;

	*faults = (struct all_faults){ .source = source };
	if (!source->ops->faults)
		missing = "only the module for x86-64 can";
	else if (options->stacks)
		missing = "only eBPF can record stacks";
	faults->by_source = !missing;
	snprintf(faults->missing, sizeof(faults->missing), "%s", missing ?: "");
}

/* Called once, because the source returns the functions soon after it was stopped. */
static uint32_t all_faults_read_hooks(const struct all_faults *faults)
{
	struct fault_source_faults read;

	if (faults->source->ops->faults->read(faults->source, &read))
		return 1U << HOOK_FAULT;
	return 1U << HOOK_FAULT | (read.has_swap ? 1U << HOOK_SWAP : 0) |
	       (read.has_write ? 1U << HOOK_WP : 0);
}

bool all_faults_take(struct all_faults *faults)
{
	const struct fault_source_fault_ops *ops = faults->source->ops->faults;
	struct why why;

	/* If an earlier session still holds the function, eBPF would find it busy. */
	if (ops && !faults->by_source)
		ops->drop(faults->source);
	if (!faults->by_source)
		return true;
	faults->by_source = !ops->take(faults->source, &why);
	if (faults->by_source)
		faults->source_hooks = all_faults_read_hooks(faults);
	else
		snprintf(faults->missing, sizeof(faults->missing), "%.*s",
			 (int)sizeof(faults->missing) - 1, why.text);
	return faults->by_source;
}

/* The source comes first and goes last, so eBPF counts none of these system calls. */
int all_faults_watch(const struct all_faults *faults, pid_t id, enum pfstat_target how)
{
	int err = 0;

	if (faults->by_source)
		err = faults->source->ops->faults->watch(faults->source, id, how);
	return err ? err : events_watch(faults->events, id, how);
}

int all_faults_ignore(const struct all_faults *faults, pid_t id)
{
	int err = events_ignore(faults->events, id), source_err = 0;

	if (faults->by_source)
		source_err = faults->source->ops->faults->ignore(faults->source, id);
	return err ? err : source_err;
}

bool all_faults_are_counted(const struct all_faults *faults)
{
	return faults->by_source || events_hooks(faults->events) & 1U << HOOK_FAULT;
}

int all_faults_hooked_returns(const struct all_faults *faults, struct hooked_returns *returns)
{
	struct run_counters counters;
	enum pfstat_fault_outcome outcome;
	uint64_t *sum;
	int err;

	*returns = (struct hooked_returns){ 0 };
	run_counters_init(&counters);
	err = events_counters(faults->events, &counters);
	if (!err)
		err = all_faults_counters(faults, &counters);
	for (outcome = 0; !err && outcome < PFSTAT_NR_OUTCOMES; outcome++) {
		sum = outcome == PFSTAT_OUTCOME_RETRY ? &returns->again : &returns->ended;
		*sum += run_counters_returns(&counters, PFSTAT_FAULT_HOOKED, outcome);
	}
	run_counters_exit(&counters);
	return err;
}

int all_faults_forget(const struct all_faults *faults)
{
	int err = events_forget(faults->events);

	if (!err && faults->by_source)
		err = faults->source->ops->faults->clear(faults->source);
	return err;
}

int all_faults_imitate(const struct all_faults *faults, const volatile void *address)
{
	struct pfstat_handler_query query = { .address = (uintptr_t)address };
	int err = 0;

	if (faults->by_source)
		return faults->source->ops->faults->imitate(faults->source, address);
	if (address)
		err = events_find_mapping(faults->events, &query);
	if (!err)
		events_set_wrapper(faults->events, address ? query.handler : 0);
	return err;
}

uint32_t all_faults_hooks(const struct all_faults *faults)
{
	return events_hooks(faults->events) | faults->source_hooks;
}

static void all_faults_fill(const struct fault_source_faults *read, struct run_counters *counters)
{
	const int nr_hooked = PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED + 1, 0, 0);
	int i;

	memcpy(counters->faults, read->values, sizeof(counters->faults));
	for (i = 0; i < nr_hooked; i++)
		counters->faults[i].total_ns = COUNT_NA;
	run_counters_fill_task(counters, &read->missed);
	counters->counts[PFSTAT_COUNT_EVENTS] += read->stored;
	counters->faults_lost = read->lost;
	counters->faults_unwatched = read->unwatched;
}

int all_faults_counters(const struct all_faults *faults, struct run_counters *counters)
{
	struct fault_source_faults read;
	int err;

	counters->module_faults = faults->by_source;
	snprintf(counters->module_faults_missing, sizeof(counters->module_faults_missing), "%s",
		 faults->missing);
	if (!faults->by_source)
		return 0;
	counters->hooks |= faults->source_hooks;
	err = faults->source->ops->faults->read(faults->source, &read);
	if (!err)
		all_faults_fill(&read, counters);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Initializes, frees, subtracts and sums a run's counters. Collectors and recordings fill them, and
 * the ledger and the reports read them. A sum that includes an unknown count is unknown.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/counters.h"

/*
 * Converts getrusage(2) results into one set of figures. A measurement's clients store it in the
 * run's counters. The report prints it and compares it with eBPF's counts.
 */

void usage_init(struct usage *usage)
{
	*usage = (struct usage){
		.utime_ns = COUNT_NA,
		.stime_ns = COUNT_NA,
		.minflt = COUNT_NA,
		.majflt = COUNT_NA,
		.inblock = COUNT_NA,
		.oublock = COUNT_NA,
		.nvcsw = COUNT_NA,
		.nivcsw = COUNT_NA,
		.maxrss_bytes = COUNT_NA,
	};
}

static uint64_t usage_ns(struct timeval time)
{
	return time.tv_sec * 1000000000ULL + time.tv_usec * 1000;
}

struct usage usage_between(const struct rusage *before, const struct rusage *after)
{
	return (struct usage){
		.utime_ns = usage_ns(after->ru_utime) - usage_ns(before->ru_utime),
		.stime_ns = usage_ns(after->ru_stime) - usage_ns(before->ru_stime),
		.minflt = after->ru_minflt - before->ru_minflt,
		.majflt = after->ru_majflt - before->ru_majflt,
		.inblock = after->ru_inblock - before->ru_inblock,
		.oublock = after->ru_oublock - before->ru_oublock,
		.nvcsw = after->ru_nvcsw - before->ru_nvcsw,
		.nivcsw = after->ru_nivcsw - before->ru_nivcsw,
		.maxrss_bytes = after->ru_maxrss * 1024ULL,
	};
}

void usage_add(struct usage *sum, const struct usage *part)
{
	sum->utime_ns += part->utime_ns;
	sum->stime_ns += part->stime_ns;
	sum->minflt += part->minflt;
	sum->majflt += part->majflt;
	sum->inblock += part->inblock;
	sum->oublock += part->oublock;
	sum->nvcsw += part->nvcsw;
	sum->nivcsw += part->nivcsw;
	if (part->maxrss_bytes > sum->maxrss_bytes)
		sum->maxrss_bytes = part->maxrss_bytes;
}

/*
 * Subtracts two readings of the counters, and chooses the cgroup whose limit was met. The kernel
 * counts in each cgroup with a limit, so the nearest cgroup is chosen.
 */

void cgroup_limits_init(struct cgroup_limits *limits)
{
	*limits = (struct cgroup_limits){
		.cpu = { .quota_ns = COUNT_NA,
			 .period_ns = COUNT_NA,
			 .periods = COUNT_NA,
			 .throttled = COUNT_NA,
			 .throttled_ns = COUNT_NA },
		.memory = { .high_bytes = COUNT_NA,
			    .high = COUNT_NA,
			    .max = COUNT_NA,
			    .oom_kill = COUNT_NA },
		.pressure = { COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA },
	};
}

/* A counter never decreases in the same cgroup. */
static uint64_t cgroup_limits_added(uint64_t before, uint64_t after)
{
	return before == COUNT_NA || after == COUNT_NA || after < before ? COUNT_NA :
									   after - before;
}

static uint64_t cgroup_limits_same(uint64_t before, uint64_t after)
{
	return before == after ? after : COUNT_NA;
}

static bool cgroup_limits_met(uint64_t added)
{
	return added != COUNT_NA && added;
}

static void cgroup_limits_path(char *path, const struct cgroup_levels *levels,
			       const struct cgroup_level *level)
{
	snprintf(path, CGROUP_PATH, "%.*s", (int)level->length, levels->path);
}

static void cgroup_limits_fill_cpu(struct cgroup_cpu_limit *cpu, const struct cgroup_level *before,
				   const struct cgroup_level *after)
{
	cpu->quota_ns = cgroup_limits_same(before->quota_ns, after->quota_ns);
	cpu->period_ns = cgroup_limits_same(before->period_ns, after->period_ns);
	cpu->periods = cgroup_limits_added(before->periods, after->periods);
	cpu->throttled = cgroup_limits_added(before->throttled, after->throttled);
	cpu->throttled_ns = cgroup_limits_added(before->throttled_ns, after->throttled_ns);
}

static void cgroup_limits_fill_memory(struct cgroup_memory_limit *memory,
				      const struct cgroup_level *before,
				      const struct cgroup_level *after)
{
	memory->high_bytes = cgroup_limits_same(before->high_bytes, after->high_bytes);
	memory->high = cgroup_limits_added(before->high, after->high);
	memory->max = cgroup_limits_added(before->max, after->max);
	memory->oom_kill = cgroup_limits_added(before->oom_kill, after->oom_kill);
}

static void cgroup_limits_take_level(struct cgroup_limits *limits,
				     const struct cgroup_levels *before,
				     const struct cgroup_levels *after, unsigned int i)
{
	const struct cgroup_level *was = &before->levels[i], *is = &after->levels[i];
	const uint64_t throttled = cgroup_limits_added(was->throttled, is->throttled);
	struct cgroup_cpu_limit *cpu = &limits->cpu;

	/* A cgroup without a quota has no periods. The kernel still has counters, which are 0. */
	if (!cgroup_limits_met(cpu->throttled) &&
	    (cgroup_limits_met(throttled) ||
	     (!cpu->path[0] && throttled != COUNT_NA && is->quota_ns != COUNT_NA))) {
		cgroup_limits_path(cpu->path, after, is);
		cgroup_limits_fill_cpu(cpu, was, is);
	}
	if (!limits->memory.path[0] &&
	    (cgroup_limits_met(cgroup_limits_added(was->high, is->high)) ||
	     cgroup_limits_met(cgroup_limits_added(was->max, is->max)))) {
		cgroup_limits_path(limits->memory.path, after, is);
		cgroup_limits_fill_memory(&limits->memory, was, is);
	}
}

void cgroup_limits_between(const struct cgroup_levels *before, const struct cgroup_levels *after,
			   struct cgroup_limits *limits)
{
	unsigned int i;

	cgroup_limits_init(limits);
	if (!before->path[0] || strcmp(before->path, after->path))
		return;
	strcpy(limits->path, after->path);
	for (i = 0; i < before->nr && i < after->nr; i++)
		if (before->levels[i].inode == after->levels[i].inode)
			cgroup_limits_take_level(limits, before, after, i);
	if (!before->nr || !after->nr || before->levels[0].inode != after->levels[0].inode)
		return;
	limits->pressure = (struct cgroup_pressure){
		cgroup_limits_added(before->cpu_some_ns, after->cpu_some_ns),
		cgroup_limits_added(before->cpu_full_ns, after->cpu_full_ns),
		cgroup_limits_added(before->memory_some_ns, after->memory_some_ns),
		cgroup_limits_added(before->memory_full_ns, after->memory_full_ns),
	};
}

static void nothing_of_bpf(struct run_counters *counters)
{
	unsigned int i;

	for (i = 0; i < PFSTAT_NR_COUNTS; i++)
		counters->counts[i] = COUNT_NA;
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++)
		counters->faults[i] = (struct pfstat_fault_value){ COUNT_NA, COUNT_NA };
	counters->task_minor = COUNT_NA;
	counters->task_major = COUNT_NA;
}

void run_counters_init(struct run_counters *counters)
{
	*counters = (struct run_counters){
		.start_ns = COUNT_NA,
		.end_ns = COUNT_NA,
		.counts_start_ns = COUNT_NA,
		.calls = COUNT_NA,
		.faults_lost = COUNT_NA,
		.faults_unwatched = COUNT_NA,
		.lost = COUNT_NA,
		.call_cost_ps = COUNT_NA,
		.inside_ps = COUNT_NA,
		.bpf_hooked_ps = COUNT_NA,
		.bpf_again_ps = COUNT_NA,
		.bpf_other_ps = COUNT_NA,
		.memory_limit = COUNT_NA,
		.memory_peak = COUNT_NA,
		.perf_faults = COUNT_NA,
		.perf_minor = COUNT_NA,
		.perf_major = COUNT_NA,
		.perf_failed = COUNT_NA,
		.perf_unpaired = COUNT_NA,
		.perf_partial = COUNT_NA,
		.perf_forgotten = COUNT_NA,
		.perf_exec_pages = COUNT_NA,
		.perf_ended = COUNT_NA,
		.maps_lost = COUNT_NA,
		.maps_late_cpus = COUNT_NA,
		.names_left_out = COUNT_NA,
		.events_received = COUNT_NA,
		.events_skipped = COUNT_NA,
	};
	usage_init(&counters->usage);
	cgroup_limits_init(&counters->cgroup);
	counters->exact = EXACT_REACH_NONE;
	nothing_of_bpf(counters);
}

uint64_t count_sum(uint64_t a, uint64_t b)
{
	return a == COUNT_NA || b == COUNT_NA ? COUNT_NA : a + b;
}

uint64_t run_counters_events_lost(const struct run_counters *counters)
{
	if (!counters->have_bpf)
		return COUNT_NA;
	return count_sum(counters->counts[PFSTAT_COUNT_EVENTS_LOST],
			 counters->faults_lost == COUNT_NA ? 0 : counters->faults_lost);
}

uint64_t run_counters_returns(const struct run_counters *counters, enum pfstat_fault_kind kind,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_origin origin;
	uint64_t sum = 0;

	for (origin = 0; origin < PFSTAT_NR_ORIGINS; origin++)
		sum = count_sum(sum,
				counters->faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)].count);
	return sum;
}

static uint64_t run_counters_errors(const struct run_counters *counters,
				    enum pfstat_fault_origin origin)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;
	unsigned int index;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		index = PFSTAT_FAULT_INDEX(kind, origin, PFSTAT_OUTCOME_ERROR);
		sum = count_sum(sum, counters->faults[index].count);
	}
	return sum;
}

/*
 * The kernel's own access ends with EFAULT, a program's with a signal. A program's faults that
 * returned an error got SIGBUS, or SIGSEGV in a guard page. Older recordings have only the SIGSEGV
 * count.
 */
uint64_t run_counters_failed(const struct run_counters *counters)
{
	const uint64_t *counts = counters->counts;
	uint64_t failed = counts[PFSTAT_COUNT_SEGV];

	if (!counters->have_bpf)
		return COUNT_NA;
	if (counters->hooks & 1U << HOOK_PERF)
		return counters->perf_failed;
	if (!(counters->hooks & 1U << HOOK_SIGNAL))
		return COUNT_NA;
	failed = count_sum(failed, counts[PFSTAT_COUNT_BUS] != COUNT_NA ?
					   counts[PFSTAT_COUNT_BUS] :
					   run_counters_errors(counters, PFSTAT_ORIGIN_USER));
	return count_sum(failed, run_counters_errors(counters, PFSTAT_ORIGIN_KERNEL));
}

/* The number to add may be negative. */
static uint64_t run_counters_add_returns(const struct run_counters *counters,
					 enum pfstat_fault_outcome outcome, uint64_t sum)
{
	unsigned int i;

	for (i = outcome; i < PFSTAT_NR_FAULT_INDICES; i += PFSTAT_NR_OUTCOMES)
		sum += counters->faults[i].count;
	return sum;
}

void run_counters_fill_task(struct run_counters *counters, const struct pfstat_missed *missed)
{
	counters->task_minor =
		run_counters_add_returns(counters, PFSTAT_OUTCOME_MINOR, missed->minor);
	counters->task_major =
		run_counters_add_returns(counters, PFSTAT_OUTCOME_MAJOR, missed->major);
}

void run_counters_exit(struct run_counters *counters)
{
	free(counters->syscalls);
	counters->syscalls = NULL;
	counters->nr_syscalls = 0;
	free(counters->swap_rows);
	counters->swap_rows = NULL;
	counters->nr_swap_rows = 0;
	free(counters->filesystems);
	counters->filesystems = NULL;
	counters->nr_filesystems = 0;
}

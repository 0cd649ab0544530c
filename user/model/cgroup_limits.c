// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subtracts two readings of the counters, and chooses the cgroup whose limit was met. The kernel
 * counts in each cgroup with a limit, so the nearest cgroup is chosen.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/cgroup_limits.h"
#include "model/counters.h"

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

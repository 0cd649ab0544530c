/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The effect of a cgroup's limits during a run. The kernel's counters for the cgroup and each
 * parent are read at the start and at the end. They also include unwatched processes in the cgroup.
 * An unavailable count is COUNT_NA.
 */
#ifndef PFSTAT_USER_CGROUP_LIMITS_H
#define PFSTAT_USER_CGROUP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH   1024
#define CGROUP_LEVELS 24 /* the cgroup and its parents; more are not read */

/* A cgroup's counters at one moment. COUNT_NA: the file, or the line in it, does not exist. */
struct cgroup_level {
	size_t length; /* bytes in the folder's path, the start of cgroup_levels.path */
	uint64_t inode;
	/* cpu.max: quota COUNT_NA: no limit. cpu.stat: nr_periods, nr_throttled, throttled_usec */
	uint64_t quota_ns, period_ns;
	uint64_t periods, throttled, throttled_ns;
	/* memory.high; memory.events.local, without the events of descendants */
	uint64_t high_bytes;
	uint64_t high, max, oom_kill;
};

/* The cgroup and its parents, without the root. */
struct cgroup_levels {
	char path[CGROUP_PATH]; /* folder of the first; "": none was read */
	unsigned int nr;
	struct cgroup_level levels[CGROUP_LEVELS];
	/* The first level's PSI: "total" in cpu.pressure and memory.pressure */
	uint64_t cpu_some_ns, cpu_full_ns, memory_some_ns, memory_full_ns;
};

/*
 * The nearest cgroup with a used-up CPU quota, or else the nearest with a quota. throttled_ns is
 * the sum over CPUs. The kernel adds a stop when the stop ends.
 */
struct cgroup_cpu_limit {
	char path[CGROUP_PATH];	      /* "": none has a quota */
	uint64_t quota_ns, period_ns; /* COUNT_NA: changed during the run */
	uint64_t periods, throttled, throttled_ns;
};

/* The nearest cgroup that met memory.high or memory.max. */
struct cgroup_memory_limit {
	char path[CGROUP_PATH]; /* "": none did, or none is known */
	uint64_t high_bytes;	/* memory.high; COUNT_NA: none, or changed during the run */
	uint64_t high, max, oom_kill;
};

/* See struct cgroup_levels. "some": at least one task waited, "full": all that wanted to run. */
struct cgroup_pressure {
	uint64_t cpu_some_ns, cpu_full_ns, memory_some_ns, memory_full_ns;
};

struct cgroup_limits {
	char path[CGROUP_PATH]; /* the cgroup's folder; "": nothing is known */
	struct cgroup_cpu_limit cpu;
	struct cgroup_memory_limit memory;
	struct cgroup_pressure pressure;
};

/* Every count is unknown. */
void cgroup_limits_init(struct cgroup_limits *limits);
/* Fills the differences between two readings. A folder made anew in between has none. */
void cgroup_limits_between(const struct cgroup_levels *before, const struct cgroup_levels *after,
			   struct cgroup_limits *limits);

#endif

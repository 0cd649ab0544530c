/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of CPUs, large enough for any Linux machine. glibc's cpu_set_t has space for 1024 only, and
 * sched_getaffinity(2) rejects a buffer with this size on a machine that may have more CPUs.
 */
#ifndef PFSTAT_USER_CPUS_H
#define PFSTAT_USER_CPUS_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#define CPUS_MAX 8192 /* CONFIG_NR_CPUS maximum on x86-64 */

struct cpus {
	cpu_set_t sets[CPUS_MAX / CPU_SETSIZE];
};

static inline bool cpus_has(const struct cpus *cpus, int cpu)
{
	return CPU_ISSET_S(cpu, sizeof(cpus->sets), cpus->sets);
}

static inline unsigned int cpus_count(const struct cpus *cpus)
{
	return CPU_COUNT_S(sizeof(cpus->sets), cpus->sets);
}

/* The set containing only this CPU. */
static inline struct cpus cpus_only(int cpu)
{
	struct cpus cpus = { 0 };

	CPU_SET_S(cpu, sizeof(cpus.sets), cpus.sets);
	return cpus;
}

/* Reads the calling thread's affinity. Returns 0 or a negative errno. */
static inline int cpus_read(struct cpus *cpus)
{
	*cpus = (struct cpus){ 0 };
	return sched_getaffinity(0, sizeof(cpus->sets), cpus->sets) ? -errno : 0;
}

/* Sets the affinity of thread @pid (0: the caller). Returns 0 or a negative errno. */
static inline int cpus_confine(pid_t pid, const struct cpus *cpus)
{
	return sched_setaffinity(pid, sizeof(cpus->sets), cpus->sets) ? -errno : 0;
}

#endif

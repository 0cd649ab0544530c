/* SPDX-License-Identifier: GPL-2.0-only */
/* This machine's CPUs: sets of CPUs, which are online, and the L1 data cache. */
#ifndef PFSTAT_USER_CPUS_H
#define PFSTAT_USER_CPUS_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A set of CPUs, large enough for any Linux machine. glibc's cpu_set_t has space for 1024 only, and
 * sched_getaffinity(2) rejects a buffer with this size on a machine that may have more CPUs.
 */

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

/* Which CPUs are online, from /sys/devices/system/cpu/online, and whether this has changed. */

struct cpus_online {
	int fd; /* -1: the file cannot be read, and nothing changes */
	char text[512];
	struct cpus cpus;
};

/* Without the file, no change is ever seen. */
void cpus_online_open(struct cpus_online *online);
void cpus_online_close(struct cpus_online *online);
/* Reads the file again. True: the set has changed, or is read for the first time. */
bool cpus_online_changed(struct cpus_online *online);
/* Parses a list such as "0-3,5". -EINVAL: it is none, or has a CPU beyond CPUS_MAX. */
int cpus_online_parse(struct cpus *cpus, const char *list);

/* A CPU's L1 data cache size, and a way to evict the contents. */

/*
 * L1 data cache size of @cpu in bytes, from /sys/devices/system/cpu/cpuN/cache, or 0 if the kernel
 * does not report it.
 * @folder: read this folder instead (tests), or NULL
 */
uint64_t cpu_cache_l1d_bytes(int cpu, const char *folder);

/*
 * A buffer twice as large as L1D. Reading it line by line evicts everything in L1D. Modified lines
 * are written back to the next level. x86 has no instruction to empty only one level: clflush would
 * remove the lines from all levels.
 */
struct cpu_cache_walk {
	volatile uint8_t *buffer;
	size_t bytes;
};

/* @l1d_bytes: L1D size; 0 makes the walk do nothing. Returns 0 or -ENOMEM. */
int cpu_cache_walk_open(struct cpu_cache_walk *walk, uint64_t l1d_bytes);
void cpu_cache_walk(const struct cpu_cache_walk *walk);
void cpu_cache_walk_close(struct cpu_cache_walk *walk);

#endif

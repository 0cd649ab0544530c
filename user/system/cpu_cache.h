/* SPDX-License-Identifier: GPL-2.0-only */
/* Size of a CPU's L1 data cache, and a way to evict its contents. */
#ifndef PFSTAT_USER_CPU_CACHE_H
#define PFSTAT_USER_CPU_CACHE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Size of the L1 data cache of @cpu in bytes, from /sys/devices/system/cpu/cpuN/cache; 0 if
 * the kernel does not report it.
 * @folder: read this folder instead (tests), or NULL
 */
uint64_t cpu_cache_l1d_bytes(int cpu, const char *folder);

/*
 * A buffer of twice the size of L1D. Reading it line by line evicts everything that was in
 * L1D; modified lines are written back to the next level. x86 has no instruction that
 * empties only one level: clflush would remove the lines from all levels.
 */
struct cpu_cache_walk {
	volatile uint8_t *buffer;
	size_t bytes;
};

/* @l1d_bytes: size of L1D; 0 makes the walk do nothing. Returns 0 or -ENOMEM. */
int cpu_cache_walk_open(struct cpu_cache_walk *walk, uint64_t l1d_bytes);
void cpu_cache_walk(const struct cpu_cache_walk *walk);
void cpu_cache_walk_close(struct cpu_cache_walk *walk);

#endif

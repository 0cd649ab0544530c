/* SPDX-License-Identifier: GPL-2.0-only */
/* A CPU's L1 data cache size, and a way to evict the contents. */
#ifndef PFSTAT_USER_CPU_CACHE_H
#define PFSTAT_USER_CPU_CACHE_H

#include <stddef.h>
#include <stdint.h>

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

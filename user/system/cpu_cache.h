/* SPDX-License-Identifier: GPL-2.0-only */
/* The first level of a CPU's data cache: how large it is, and how it is emptied. */
#ifndef PFSTAT_USER_CPU_CACHE_H
#define PFSTAT_USER_CPU_CACHE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Of this CPU, by /sys/devices/system/cpu/cpuN/cache; folder is that one, or
 * NULL. 0: the kernel does not tell.
 */
uint64_t cpu_cache_l1d_bytes(int cpu, const char *folder);

/*
 * A buffer of twice the size is read line by line: whatever lay in L1D before is
 * displaced by it, and what is displaced that was written goes to the next level.
 * No instruction of x86 empties one level alone, and clflush would take the lines
 * out of all.
 */
struct cpu_cache_walk {
	volatile uint8_t *buffer;
	size_t bytes;
};

/* 0 bytes: nothing will be walked. -ENOMEM. */
int cpu_cache_walk_open(struct cpu_cache_walk *walk, uint64_t l1d_bytes);
void cpu_cache_walk(const struct cpu_cache_walk *walk);
void cpu_cache_walk_close(struct cpu_cache_walk *walk);

#endif

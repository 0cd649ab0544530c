/* SPDX-License-Identifier: GPL-2.0-only */
/* A memory cgroup (v2) for one process, named after it. */
#ifndef PFSTAT_USER_BENCH_MEMORY_GROUP_H
#define PFSTAT_USER_BENCH_MEMORY_GROUP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * This process moves into one with that limit; what it has already stays charged where it
 * was. The memory controller is switched on for the root's children where it is not.
 * -EACCES, -ENOTSUP: there is no cgroup v2; …
 */
int memory_group_enter(uint64_t limit_bytes);

/* When the process is gone; nothing happens if it had none. */
void memory_group_remove(pid_t pid);

/* The lowest limit of the groups that this process is in; UINT64_MAX: there is none. */
uint64_t memory_group_limit(void);

#endif

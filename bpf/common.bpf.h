/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every eBPF program of pfstat needs: the kernel's types as far as they
 * are used (relocated by CO-RE when loaded, so that a build needs no kernel's
 * BTF), the targets, and the counts. The objects are linked into one; the
 * maps below are weak, so that they become one map each.
 */
#ifndef PFSTAT_BPF_COMMON_H
#define PFSTAT_BPF_COMMON_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <pfstat/event.h>

struct task_struct {
	int pid;
	int tgid;
} __attribute__((preserve_access_index));

/* Threads that are followed at one time; each needs a slot in the maps. */
#define MAX_THREADS 16384

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* pid or tid */
	__type(value, __u32);	/* enum pfstat_target */
} targets SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PFSTAT_NR_COUNTS);
	__type(key, __u32);	/* enum pfstat_count */
	__type(value, __u64);
} counts SEC(".maps") __weak;

/* Whether any target is a whole process; a second look-up only then. */
extern const volatile bool watch_processes;

static __always_inline bool is_target(__u32 tgid, __u32 tid)
{
	const __u32 *target;

	if (bpf_map_lookup_elem(&targets, &tid))
		return true;	/* a thread, or a process by its first thread */
	if (!watch_processes)
		return false;
	target = bpf_map_lookup_elem(&targets, &tgid);
	return target && *target == PFSTAT_TARGET_PROCESS;
}

/* Programs run with migration off and one at a time a CPU: no atomics. */
static __always_inline void count(__u32 what)
{
	__u64 *value = bpf_map_lookup_elem(&counts, &what);

	if (value)
		*value += 1;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last tasks on each CPU, from sched_switch. They are stored only while a target waits for a
 * CPU: most switches on a machine are between others.
 */
#ifndef PFSTAT_BPF_CPU_HISTORY_H
#define PFSTAT_BPF_CPU_HISTORY_H

#include "common.bpf.h"

#define CPU_STINTS 8 /* a power of 2 */

/* A task had the CPU in one go. */
struct cpu_stint {
	__u64 leader; /* the address of its first thread, which may have been freed since */
	__u64 from_ns;
	__u64 to_ns;
	__u32 tgid;
	__u32 tid; /* 0: idle, or nothing is stored */
	__u32 is_kernel;
	__u32 reserved;
};

struct cpu_history {
	__u64 since_ns; /* the running task has the CPU, at the last switch stored */
	__u32 running;
	__u32 nr; /* number n is in n % CPU_STINTS */
	struct cpu_stint stints[CPU_STINTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_history);
} cpu_histories SEC(".maps");

/* Targets that wait for a CPU, and since when there is one. */
static __u32 waiting;
static __u64 waiting_since_ns;

static __always_inline void cpu_wait_begins(__u64 ns)
{
	if (!__sync_fetch_and_add(&waiting, 1))
		waiting_since_ns = ns;
}

static __always_inline void cpu_wait_ends(void)
{
	__sync_fetch_and_add(&waiting, -1);
}

/*
 * The time from which prev is known to have had the CPU. If the switch to it was not stored, it came
 * before the first target waited.
 */
static __always_inline __u64 stint_start_ns(const struct cpu_history *history, __u32 prev, __u64 ns)
{
	if (history->since_ns < waiting_since_ns)
		return waiting_since_ns;
	return history->running == prev ? history->since_ns : ns;
}

/* At each switch while a target waits. */
static __always_inline struct cpu_history *cpu_history_add(const struct task_struct *prev,
							   const struct task_struct *next)
{
	const __u32 key = 0;
	const __u64 ns = bpf_ktime_get_ns();
	struct cpu_history *history = bpf_map_lookup_elem(&cpu_histories, &key);
	struct cpu_stint *stint;

	if (!history)
		return NULL;
	if (prev->pid) {
		stint = &history->stints[history->nr++ % CPU_STINTS];
		stint->leader = (__u64)prev->group_leader;
		stint->from_ns = stint_start_ns(history, prev->pid, ns);
		stint->to_ns = ns;
		stint->tgid = prev->tgid;
		stint->tid = prev->pid;
		stint->is_kernel = !!(prev->flags & PF_KTHREAD);
	}
	history->since_ns = ns;
	history->running = next->pid;
	return history;
}

/*
 * 1 if n < 0, else 0. The verifier would walk each way through a branch, and new ones walk two ways
 * from a mask that is all ones or zero.
 */
static __always_inline __u64 is_negative(__u64 n)
{
	__u64 negative = n >> 63;

	barrier_var(negative);
	return negative;
}

static __always_inline __u64 zero_if_negative(__u64 n)
{
	return n * (is_negative(n) ^ 1);
}

/* The part of a stint since from_ns. */
static __always_inline __u64 cpu_stint_ns(const struct cpu_stint *stint, __u64 from_ns)
{
	return zero_if_negative(stint->to_ns - from_ns) -
	       zero_if_negative(stint->from_ns - from_ns);
}

struct cpu_longest {
	__u64 ran_ns; /* the process, as far as its stints are stored */
	__u64 number; /* of its longest stint */
};

/*
 * Finds the longest stint since from_ns, and the time of its process. The verifier checks a global
 * function once, not for each way to its call. Returns 0, or -1 if there is none.
 */
__noinline int cpu_history_search(const struct cpu_history *history, __u64 from_ns,
				  struct cpu_longest *found)
{
	__u64 ns, longest_ns = 0, longest = 0, sum_ns = 0, longer, differs;
	__u32 i, tgid;

	if (!history || !found)
		return -1;
#pragma unroll
	for (i = 0; i < CPU_STINTS; i++) {
		ns = cpu_stint_ns(&history->stints[i], from_ns);
		longer = is_negative(longest_ns - ns);
		longest_ns += (ns - longest_ns) * longer;
		longest += (i - longest) * longer;
	}
	barrier_var(longest);
	tgid = history->stints[longest % CPU_STINTS].tgid;
#pragma unroll
	for (i = 0; i < CPU_STINTS; i++) {
		differs = history->stints[i].tgid ^ tgid;
		sum_ns += cpu_stint_ns(&history->stints[i], from_ns) * is_negative(differs - 1);
	}
	found->ran_ns = sum_ns;
	found->number = longest;
	return longest_ns ? 0 : -1;
}

static __always_inline bool cpu_stint_has_leader(const struct cpu_stint *stint)
{
	const struct task_struct *leader = (const void *)stint->leader;

	return BPF_CORE_READ(leader, pid) == stint->tgid;
}

/*
 * The name of the process, or "" if its first thread was freed. The memory may be freed, or get
 * another thread, while it is read. Then none of the bytes leaves the kernel.
 */
static __always_inline void cpu_stint_name(const struct cpu_stint *stint, char comm[16])
{
	const struct task_struct *leader = (const void *)stint->leader;

	if (cpu_stint_has_leader(stint))
		bpf_core_read_str(comm, 16, &leader->comm);
	if (!cpu_stint_has_leader(stint))
		__builtin_memset(comm, 0, 16);
}

#endif

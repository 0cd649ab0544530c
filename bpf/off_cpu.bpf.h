/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The start of off-CPU intervals in the targets' threads. sched.bpf.c makes an entry when a thread
 * leaves the CPU for the first time as a target. task.bpf.c removes the entry when the thread
 * exits.
 */
#ifndef PFSTAT_BPF_OFF_CPU_H
#define PFSTAT_BPF_OFF_CPU_H

#include "common.bpf.h"

struct off_cpu_start {
	__u64 off_ns;	  /* 0: it runs, and the other members are stale */
	__u64 woken_ns;	  /* 0: not yet */
	__u64 total_ns;	  /* over all finished intervals, sent or lost */
	__u64 start_time; /* the thread's, because the tid may be reused */
	__u32 state;
	__u32 waker;
	__u32 flags;	   /* PFSTAT_OFF_CPU_* */
	__u32 waker_doing; /* enum pfstat_waker */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32); /* tid */
	__type(value, struct off_cpu_start);
} off_since SEC(".maps") __weak;

/* Set by the loader: the tracepoint sched_switch has an argument for this, since v5.18. */
extern const volatile bool have_prev_state;

/*
 * The state with which `prev` left the CPU, in a sched_switch program. Without the argument the
 * state may already have changed to that of a thread being woken.
 */
static __always_inline __u32 state_of_prev(const unsigned long long *ctx,
					   const struct task_struct *prev)
{
	if (have_prev_state)
		return ctx[3];
	return prev->__state;
}

/* The entry is dead before it is deleted: deleting may fail with -EBUSY. */
static __always_inline void forget_off_cpu(__u32 tid)
{
	struct off_cpu_start *start = bpf_map_lookup_elem(&off_since, &tid);

	if (!start)
		return;
	start->off_ns = 0;
	start->start_time = 0;
	bpf_map_delete_elem(&off_since, &tid);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When threads of targets left the CPU. sched.bpf.c makes an entry when a thread leaves the
 * CPU for the first time as a target; task.bpf.c removes it when the thread exits.
 */
#ifndef PFSTAT_BPF_OFF_CPU_H
#define PFSTAT_BPF_OFF_CPU_H

#include "common.bpf.h"

struct left {
	__u64 off_ns;		/* 0: it runs, or what follows is of the past */
	__u64 woken_ns;		/* 0: not yet */
	__u64 total_ns;		/* of all intervals that have ended, sent or lost */
	__u64 start_time;	/* of the thread: an exit may be missed, and its tid reused */
	__u32 state;
	__u32 waker;
	__u32 flags;		/* PFSTAT_OFF_CPU_* */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* tid */
	__type(value, struct left);
} off_since SEC(".maps") __weak;

/* The entry is dead before it is deleted: deleting may fail with -EBUSY. */
static __always_inline void forget_off_cpu(__u32 tid)
{
	struct left *left = bpf_map_lookup_elem(&off_since, &tid);

	if (!left)
		return;
	left->off_ns = 0;
	left->start_time = 0;
	bpf_map_delete_elem(&off_since, &tid);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread that submitted a read since the last switch of threads on this CPU. If it goes to
 * sleep then, it waits for its own request, which block.bpf.c sends. A write is often another's:
 * of the journal, or in reclaim.
 */
#ifndef PFSTAT_BPF_SUBMIT_H
#define PFSTAT_BPF_SUBMIT_H

#include "common.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32); /* tid */
} submitter SEC(".maps") __weak;

static __always_inline void submit_note(__u32 tid)
{
	__u32 key = 0, *noted = bpf_map_lookup_elem(&submitter, &key);

	if (noted)
		*noted = tid;
}

/* Returns the thread, or 0, and forgets it. */
static __always_inline __u32 submit_take(void)
{
	__u32 key = 0, tid, *noted = bpf_map_lookup_elem(&submitter, &key);

	if (!noted)
		return 0;
	tid = *noted;
	*noted = 0;
	return tid;
}

#endif

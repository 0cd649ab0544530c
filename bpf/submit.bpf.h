/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in flight, and which ones a thread submitted since a target last left the CPU. If
 * the thread goes to sleep before this read is complete, it waits for its own request, which
 * block.bpf.c sends. A write does not count: it often belongs to another thread, to the journal or
 * to reclaim.
 */
#ifndef PFSTAT_BPF_SUBMIT_H
#define PFSTAT_BPF_SUBMIT_H

#include "common.bpf.h"

#define MAX_REQUESTS 8192

/*
 * Other processes' requests are here too (event.tid is 0), because a target may issue a request
 * queued by another thread. A request merged into another is removed. A request that never
 * completes is overwritten when the kernel reuses the request's memory.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_REQUESTS);
	__type(key, __u64); /* struct request * */
	__type(value, struct pfstat_block);
} requests SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64); /* a request's key, or 0 if none */
} submitted SEC(".maps") __weak;

static __always_inline void submit_note(__u64 request)
{
	__u32 zero = 0;
	__u64 *noted = bpf_map_lookup_elem(&submitted, &zero);

	if (noted)
		*noted = request;
}

/* Called when a target leaves the CPU. True: the thread's last read is still in flight. */
static __always_inline bool submit_is_pending(__u32 tid)
{
	__u32 zero = 0;
	__u64 request, *noted = bpf_map_lookup_elem(&submitted, &zero);
	const struct pfstat_block *block;

	if (!noted || !*noted)
		return false;
	request = *noted;
	*noted = 0;
	block = bpf_map_lookup_elem(&requests, &request);
	return block && block->event.tid == tid;
}

#endif

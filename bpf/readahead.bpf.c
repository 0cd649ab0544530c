// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes in the state of a fault that its call read ahead at a mark, by which calls.bpf.c classifies
 * a call that returns RETRY. Only a call that submits a read comes here.
 */
#include <linux/ptrace.h>

#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "page.bpf.h"

/* The call met the mark; another thread may have cleared it since. */
static __always_inline int readahead_begins(const struct folio *folio)
{
	struct fault_state *state = state_in_call();

	if (state)
		state->call.marked_flags = folio_flags(folio) | folio_readahead_flag();
	return 0;
}

SEC("?fentry/page_cache_async_ra")
int BPF_PROG(on_call_readahead, void *control, struct folio *folio)
{
	return readahead_begins(folio);
}

/* As in calls.bpf.c, for a kernel that preempts its own code. */
SEC("?fentry/page_cache_async_ra")
int BPF_PROG(on_call_readahead_again, void *control, struct folio *folio)
{
	return readahead_begins(folio);
}

SEC("?kprobe.multi/page_cache_async_ra")
int BPF_KPROBE(on_call_readahead_kprobe, void *control, struct folio *folio)
{
	return readahead_begins(folio);
}

char LICENSE[] SEC("license") = "GPL";

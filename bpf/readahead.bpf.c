// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes a call's read-ahead at a mark in the fault's state. calls.bpf.c uses the note to classify a
 * call returning RETRY. Only a call submitting a read comes here.
 */
#include <linux/ptrace.h>

#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "page.bpf.h"

/* The call met the mark. Another thread may have cleared the mark since. */
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

/* Like calls.bpf.c, for a preemptible kernel. */
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

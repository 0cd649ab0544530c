/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends that pages left memory, and why. */
#ifndef PFSTAT_BPF_REMOVAL_H
#define PFSTAT_BPF_REMOVAL_H

#include "common.bpf.h"
#include "doing.bpf.h"
#include "page.bpf.h"

/* Contains the state of each reclaim. */
struct scan_control {
	struct reclaim_state reclaim_state;
	unsigned int proactive : 1; /* v6.0: for a write to memory.reclaim */
} __attribute__((preserve_access_index));

/*
 * Advice (MADV_PAGEOUT), truncation, drop_caches and direct I/O remove pages on request, without a
 * state of reclaim.
 */
static __always_inline __u32 removal_reason(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const __u64 state = (__u64)BPF_CORE_READ(task, reclaim_state);
	const struct scan_control *scan =
		(const void *)(state - bpf_core_field_offset(struct scan_control, reclaim_state));

	if (!state)
		return PFSTAT_PAGE_DROPPED;
	if (bpf_core_field_exists(scan->proactive) &&
	    BPF_CORE_READ_BITFIELD_PROBED(scan, proactive))
		return PFSTAT_PAGE_DROPPED | PFSTAT_PAGE_PROACTIVE;
	return PFSTAT_PAGE_RECLAIMED;
}

/* @first: the first page of the folio. @flags: beside the reason */
static __always_inline void removal_send(const struct folio *folio, const struct file_page *first,
					 __u32 flags)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_page page = {
		.event = {
			.type = PFSTAT_EVENT_PAGE,
			.size = sizeof(page),
			.flags = removal_reason() | flags |
				 current_doing() << PFSTAT_PAGE_DOING_SHIFT,
			.pid = id >> 32,
			.tid = id,
			.ns = bpf_ktime_get_ns(),
		},
		.inode = first->inode,
		.pgoff = first->pgoff,
		.dev = first->dev,
		.pages = folio_pages(folio),
	};

	bpf_get_current_comm(page.comm, sizeof(page.comm));
	event_send(&page, sizeof(page));
}

#endif

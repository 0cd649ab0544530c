/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends that pages left memory, and why. */
#ifndef PFSTAT_BPF_REMOVAL_H
#define PFSTAT_BPF_REMOVAL_H

#include "common.bpf.h"
#include "page.bpf.h"

/*
 * Advice (MADV_PAGEOUT), truncation, drop_caches and direct I/O remove pages on request, without a
 * state of reclaim.
 */
static __always_inline __u32 removal_reason(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();

	return task->reclaim_state ? PFSTAT_PAGE_RECLAIMED : PFSTAT_PAGE_DROPPED;
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
			.flags = removal_reason() | flags,
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

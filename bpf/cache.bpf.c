// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removals of pages from the page cache, of the files that targets have read (the map `files`).
 * Insertions come from the requests that read the pages (block.bpf.c): a program for every page
 * would cost more than the fault spends on it.
 */
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

static __always_inline void page_send(const struct folio *folio, const struct file_page *file)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_page page = {
		.event = {
			.type = PFSTAT_EVENT_PAGE,
			.size = sizeof(page),
			.flags = removal_reason(),
			.pid = id >> 32,
			.tid = id,
			.ns = bpf_ktime_get_ns(),
		},
		.inode = file->inode,
		.pgoff = file->pgoff,
		.dev = file->dev,
		.pages = folio_pages(folio),
	};

	bpf_get_current_comm(page.comm, sizeof(page.comm));
	event_send(&page, sizeof(page));
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(on_page_removed, struct folio *folio)
{
	struct file_key key = {};
	struct file_page file;

	folio_file(folio, &file);
	key.inode = file.inode;
	key.dev = file.dev;
	if (bpf_map_lookup_elem(&files, &key))
		page_send(folio, &file);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

// SPDX-License-Identifier: GPL-2.0-only
/* The page cache: what targets bring in, and when that goes again. */
#include "common.bpf.h"
#include "page.bpf.h"

#define MAX_FILES 16384

struct file_key {
	__u64 inode;
	__u32 dev;
	__u32 reserved;
};

/* Files that a target has brought pages of. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FILES);
	__type(key, struct file_key);
	__type(value, __u8);
} files SEC(".maps");

static const __u8 known = 1;

static __always_inline void send(const struct folio *folio, const struct file_page *file,
				 __u32 what)
{
	struct pfstat_page *page = event_reserve(sizeof(*page));
	__u64 id = bpf_get_current_pid_tgid();

	if (!page)
		return;
	page->event = (struct pfstat_event){
		.type = PFSTAT_EVENT_PAGE,
		.size = sizeof(*page),
		.flags = what,
		.pid = id >> 32,
		.tid = id,
		.ns = bpf_ktime_get_ns(),
	};
	page->inode = file->inode;
	page->pgoff = file->pgoff;
	page->dev = file->dev;
	page->pages = folio_pages(folio);
	event_submit(page);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_page_added, struct folio *folio)
{
	struct file_key key = {};
	struct file_page file;

	if (!current_is_target())
		return 0;
	folio_file(folio, &file);
	key.inode = file.inode;
	key.dev = file.dev;
	if (!bpf_map_lookup_elem(&files, &key) &&
	    bpf_map_update_elem(&files, &key, &known, BPF_ANY)) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return 0;
	}
	send(folio, &file, PFSTAT_PAGE_ADDED);
	return 0;
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
		send(folio, &file, PFSTAT_PAGE_REMOVED);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page removals from the page cache, for files read by targets (the map `files`). Insertions come
 * from the requests reading the pages (block.bpf.c): a program for every page would cost more than
 * the fault spends on it.
 */
#include "common.bpf.h"
#include "page.bpf.h"
#include "removal.bpf.h"

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(on_page_removed, struct folio *folio)
{
	struct file_key key = {};
	struct file_page file;

	folio_file(folio, &file);
	key.inode = file.inode;
	key.dev = file.dev;
	if (bpf_map_lookup_elem(&files, &key))
		removal_send(folio, &file, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

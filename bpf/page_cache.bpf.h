/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks up a file's page in the page cache, without a reference and without a lock. The page cache
 * is an xarray: a tree of nodes with 64 slots, whose pointers have a tag in the lowest bits. All
 * reads are safe, and a node freed meanwhile stays until the program's end.
 */
#ifndef PFSTAT_BPF_PAGE_CACHE_H
#define PFSTAT_BPF_PAGE_CACHE_H

#include "common.bpf.h"
#include "page.bpf.h"

#define PAGE_NOT_CACHED (~0ULL)

struct xa_node {
	unsigned char shift;
	void *slots[1]; /* 64, or less in a kernel for small machines */
} __attribute__((preserve_access_index));

/* A tree for 64 bits. */
#define XA_MAX_LEVELS 11

/* As in <linux/xarray.h>. */
#define XA_TAG_MASK	0x3
#define XA_TAG_INTERNAL 0x2
#define XA_NODE_MIN	4096 /* an internal entry below is a sibling's number, or special */
#define XA_SPECIAL_MIN	((64 << 2) | XA_TAG_INTERNAL)

static __always_inline bool xa_is_internal(__u64 entry)
{
	return (entry & XA_TAG_MASK) == XA_TAG_INTERNAL;
}

static __always_inline bool xa_is_node(__u64 entry)
{
	return xa_is_internal(entry) && entry >= XA_NODE_MIN;
}

static __always_inline __u64 xa_slot(const struct xa_node *node, __u64 number)
{
	const __u64 *slots = (const void *)node + bpf_core_field_offset(node->slots);
	__u64 entry = 0;

	bpf_probe_read_kernel(&entry, sizeof(entry), slots + number);
	return entry;
}

/* NULL: the page is not in the cache, or was evicted. The mapping is a pointer of the kernel. */
static __always_inline const struct folio *cached_folio(const struct address_space *mapping,
							__u64 index)
{
	const struct xa_node *node = NULL;
	const __u64 mask = bpf_core_field_size(node->slots) / sizeof(__u64) - 1;
	__u64 entry = (__u64)mapping->i_pages.xa_head, number;
	int level;

	/* A tree without a node has only index 0. */
	if (!xa_is_node(entry) && index)
		return NULL;
	for (level = 0; level < XA_MAX_LEVELS && xa_is_node(entry); level++) {
		node = (const void *)(entry - XA_TAG_INTERNAL);
		number = index >> BPF_CORE_READ(node, shift);
		if (!level && number > mask)
			return NULL;
		entry = xa_slot(node, number & mask);
		/* A large folio has one slot, to which the folio's other slots refer. */
		if (xa_is_internal(entry) && entry < XA_SPECIAL_MIN)
			entry = xa_slot(node, entry >> 2 & mask);
	}
	return entry & XA_TAG_MASK ? NULL : (const struct folio *)entry;
}

/* PAGE_NOT_CACHED, or the flags of the page's folio. */
static __always_inline __u64 cached_flags(const struct address_space *mapping, __u64 index)
{
	const struct folio *folio = cached_folio(mapping, index);

	return folio ? folio_flags(folio) : PAGE_NOT_CACHED;
}

#endif

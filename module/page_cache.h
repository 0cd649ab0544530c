/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page cache holds at an offset of a file, without a call: the descent
 * through the tree as xa_load() makes it, in line.
 */
#ifndef PFSTAT_PAGE_CACHE_H
#define PFSTAT_PAGE_CACHE_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

/* What is not a pointer: several offsets' folio, a shadow, a tree that changes just now. */
static noinline void *page_cache_load(struct address_space *mapping, pgoff_t pgoff)
{
	void *entry = xa_load(&mapping->i_pages, pgoff);

	return xa_is_value(entry) ? NULL : entry;
}

/*
 * The folio, or NULL. Preemption must be off, which is a reader's section of RCU, so
 * that what is returned may be looked at; it is without a reference.
 */
static __always_inline struct folio *pfstat_page_cache_peek(struct address_space *mapping,
							    pgoff_t pgoff)
{
	void *entry = rcu_dereference_raw(mapping->i_pages.xa_head);
	const struct xa_node *node;

	if (unlikely(!xa_is_node(entry)))
		return page_cache_load(mapping, pgoff);
	node = xa_to_node(entry);
	if (unlikely(pgoff >> node->shift > XA_CHUNK_MASK))
		return NULL;
	for (;;) {
		entry = rcu_dereference_raw(node->slots[(pgoff >> node->shift) & XA_CHUNK_MASK]);
		if (!((unsigned long)entry & 3))
			return entry;
		if (unlikely(!xa_is_node(entry)))
			return page_cache_load(mapping, pgoff);
		node = xa_to_node(entry);
	}
}

#endif

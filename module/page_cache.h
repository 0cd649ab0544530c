/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The look-up of a file offset in the page cache, with as few instructions as possible: the descent
 * through the tree as in xa_load(), in line and without a loop for trees of three levels (files of
 * 16 MiB to 1 GiB), out of line for the others.
 *
 * A slot contains NULL, a folio, a node + 2, a value (odd), or a small number that is 2 more than a
 * multiple of 4 (the folio of several offsets; a tree that is just changing).
 */
#ifndef PFSTAT_PAGE_CACHE_H
#define PFSTAT_PAGE_CACHE_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

/* The address of a struct xa_node as a number; another number is not a node. */
typedef unsigned long page_cache_node;

static __always_inline page_cache_node page_cache_node_of(const void *entry)
{
	return (unsigned long)entry - 2;
}

/* Addresses of the kernel are negative, and the small numbers are not. */
static __always_inline bool page_cache_is_node(page_cache_node node)
{
	return likely((long)node < 0) && likely(!(node & 3));
}

static __always_inline void *page_cache_slot(page_cache_node node, unsigned long index)
{
	/*
	 * As rcu_dereference_raw(), but not volatile, and not as a member of the struct: for
	 * either the compiler would compute the address first. It is read once all the same.
	 */
	void *entry = data_race(((void **)(node + offsetof(struct xa_node, slots)))[index]);

	OPTIMIZER_HIDE_VAR(entry);
	return entry;
}

/* For an entry that is not a folio. */
struct folio *pfstat_page_cache_load(struct address_space *mapping, pgoff_t pgoff);
/* Goes through a tree of any depth. */
struct folio *pfstat_page_cache_descend(struct address_space *mapping, pgoff_t pgoff,
					page_cache_node node);

/*
 * Returns the folio, without a reference, or NULL. The caller has preemption off, which is a
 * read-side section of RCU, so it may read the folio.
 */
static __always_inline struct folio *pfstat_page_cache_peek(struct address_space *mapping,
							    pgoff_t pgoff)
{
	page_cache_node node = page_cache_node_of(rcu_dereference_raw(mapping->i_pages.xa_head));
	void *entry;

	/* The head never contains a small number. */
	if (unlikely(node & 3))
		goto load;
	if (unlikely(((const struct xa_node *)node)->shift != 2 * XA_CHUNK_SHIFT))
		return pfstat_page_cache_descend(mapping, pgoff, node);
	if (unlikely(pgoff >> (2 * XA_CHUNK_SHIFT) > XA_CHUNK_MASK))
		return NULL;
	node = page_cache_node_of(page_cache_slot(node, pgoff >> (2 * XA_CHUNK_SHIFT)));
	if (unlikely(!page_cache_is_node(node)))
		goto load;
	node = page_cache_node_of(page_cache_slot(node, (pgoff >> XA_CHUNK_SHIFT) & XA_CHUNK_MASK));
	if (unlikely(!page_cache_is_node(node)))
		goto load;
	entry = page_cache_slot(node, pgoff & XA_CHUNK_MASK);
	if (likely(!((unsigned long)entry & 3)))
		return entry;
load:
	return pfstat_page_cache_load(mapping, pgoff);
}

#endif

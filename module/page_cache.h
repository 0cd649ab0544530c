/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page cache holds at an offset of a file, with as few instructions as can be:
 * the descent through the tree as xa_load() makes it, in line and without a loop for
 * the trees of three levels (files of 16 MiB to 1 GiB), out of line for the others.
 *
 * What is in a slot: NULL, a folio, a node + 2, a value (odd), or a small number that is
 * 2 more than a multiple of 4 (several offsets' folio; a tree that changes just now).
 */
#ifndef PFSTAT_PAGE_CACHE_H
#define PFSTAT_PAGE_CACHE_H

#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

/* A struct xa_node as a number, or what is none. */
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

static_assert(XA_CHUNK_SIZE == 1UL << XA_CHUNK_SHIFT && XA_CHUNK_MASK == XA_CHUNK_SIZE - 1);
static_assert(sizeof_field(struct xa_node, slots) == XA_CHUNK_SIZE * sizeof(void *));

/* The build fails where the kernel's entries are not as the descent expects them. */
static __always_inline void page_cache_assert_entries(void)
{
	BUILD_BUG_ON(xa_mk_node((struct xa_node *)64) != (void *)(64 + 2));
	BUILD_BUG_ON(!((unsigned long)xa_mk_value(0) & 1));
	/* Small numbers, 2 more than a multiple of 4. */
	BUILD_BUG_ON(((unsigned long)xa_mk_sibling(0) & 3) != 2);
	BUILD_BUG_ON((long)xa_mk_sibling(XA_CHUNK_SIZE - 1) < 0);
	BUILD_BUG_ON(((unsigned long)XA_RETRY_ENTRY & 3) != 2 || (long)XA_RETRY_ENTRY < 0);
	BUILD_BUG_ON(((unsigned long)XA_ZERO_ENTRY & 3) != 2 || (long)XA_ZERO_ENTRY < 0);
}

/* An entry that is not a folio. */
static noinline struct folio *page_cache_load(struct address_space *mapping, pgoff_t pgoff)
{
	void *entry = xa_load(&mapping->i_pages, pgoff);

	page_cache_assert_entries();
	return xa_is_value(entry) ? NULL : entry;
}

/* Through a tree of any depth. */
static noinline struct folio *page_cache_descend(struct address_space *mapping, pgoff_t pgoff,
						 page_cache_node node)
{
	int shift = ((const struct xa_node *)node)->shift;
	void *entry;

	if (pgoff >> shift > XA_CHUNK_MASK)
		return NULL;
	for (;; node = page_cache_node_of(entry)) {
		entry = page_cache_slot(node, (pgoff >> shift) & XA_CHUNK_MASK);
		shift -= XA_CHUNK_SHIFT;
		if (shift < 0 || !page_cache_is_node(page_cache_node_of(entry)))
			break;
	}
	if (unlikely((unsigned long)entry & 3))
		return page_cache_load(mapping, pgoff);
	return entry;
}

/*
 * The folio, or NULL. Preemption must be off, which is a reader's section of RCU, so
 * that what is returned may be looked at; it is without a reference.
 */
static __always_inline struct folio *pfstat_page_cache_peek(struct address_space *mapping,
							    pgoff_t pgoff)
{
	page_cache_node node = page_cache_node_of(rcu_dereference_raw(mapping->i_pages.xa_head));
	void *entry;

	/* In the head is no small number. */
	if (unlikely(node & 3))
		goto load;
	if (unlikely(((const struct xa_node *)node)->shift != 2 * XA_CHUNK_SHIFT))
		return page_cache_descend(mapping, pgoff, node);
	if (unlikely(pgoff >> (2 * XA_CHUNK_SHIFT) > XA_CHUNK_MASK))
		return NULL;
	node = page_cache_node_of(page_cache_slot(node, pgoff >> (2 * XA_CHUNK_SHIFT)));
	if (unlikely(!page_cache_is_node(node)))
		goto load;
	node = page_cache_node_of(page_cache_slot(node,
						  (pgoff >> XA_CHUNK_SHIFT) & XA_CHUNK_MASK));
	if (unlikely(!page_cache_is_node(node)))
		goto load;
	entry = page_cache_slot(node, pgoff & XA_CHUNK_MASK);
	if (likely(!((unsigned long)entry & 3)))
		return entry;
load:
	return page_cache_load(mapping, pgoff);
}

#endif

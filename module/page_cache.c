// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rare part of the descent through a page cache, for the fast path's in page_cache.h: trees
 * of other depths, and entries that are not folios. It also checks the kernel's encoding.
 */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/xarray.h>

#include "page_cache.h"

static_assert(XA_CHUNK_SIZE == 1UL << XA_CHUNK_SHIFT && XA_CHUNK_MASK == XA_CHUNK_SIZE - 1);
static_assert(sizeof_field(struct xa_node, slots) == XA_CHUNK_SIZE * sizeof(void *));

/* The build fails where the kernel's entries are not as the descent expects them. */
static void page_cache_assert_entries(void)
{
	BUILD_BUG_ON(xa_mk_node((struct xa_node *)64) != (void *)(64 + 2));
	BUILD_BUG_ON(!((unsigned long)xa_mk_value(0) & 1));
	/* Small numbers, 2 more than a multiple of 4. */
	BUILD_BUG_ON(((unsigned long)xa_mk_sibling(0) & 3) != 2);
	BUILD_BUG_ON((long)xa_mk_sibling(XA_CHUNK_SIZE - 1) < 0);
	BUILD_BUG_ON(((unsigned long)XA_RETRY_ENTRY & 3) != 2 || (long)XA_RETRY_ENTRY < 0);
	BUILD_BUG_ON(((unsigned long)XA_ZERO_ENTRY & 3) != 2 || (long)XA_ZERO_ENTRY < 0);
}

struct folio *pfstat_page_cache_load(struct address_space *mapping, pgoff_t pgoff)
{
	void *entry = xa_load(&mapping->i_pages, pgoff);

	page_cache_assert_entries();
	return xa_is_value(entry) ? NULL : entry;
}

struct folio *pfstat_page_cache_descend(struct address_space *mapping, pgoff_t pgoff,
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
		return pfstat_page_cache_load(mapping, pgoff);
	return entry;
}

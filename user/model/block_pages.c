// SPDX-License-Identifier: GPL-2.0-only
/*
 * File pages transferred by a block request. The analysis matches waits and page states with
 * requests by these pages. A corrupt recording may have any value in a request.
 */
#include "model/block_pages.h"

#define SECTOR_BYTES 512

uint64_t block_pages_in_page(const struct pfstat_block *block, uint64_t page_bytes)
{
	const uint32_t sectors = block->event.flags >> PFSTAT_BLOCK_IN_PAGE_SHIFT &
				 PFSTAT_BLOCK_IN_PAGE_MASK;

	/* More than a page only in a corrupt recording. */
	return sectors * SECTOR_BYTES % page_bytes;
}

/* Only a corrupt recording has file_bytes above bytes. */
static uint64_t block_pages_bytes(const struct pfstat_block *block)
{
	return block->file_bytes < block->bytes ? block->file_bytes : block->bytes;
}

uint64_t block_pages_moved(const struct pfstat_block *block, uint64_t page_bytes)
{
	const uint64_t bytes = block_pages_bytes(block);

	if (!(block->event.flags & PFSTAT_BLOCK_FILE) || !bytes)
		return 0;
	return (block_pages_in_page(block, page_bytes) + bytes + page_bytes - 1) / page_bytes;
}

bool block_pages_ends_in_page(const struct pfstat_block *block, uint64_t page_bytes)
{
	return (block_pages_in_page(block, page_bytes) + block_pages_bytes(block)) % page_bytes;
}

uint64_t block_pages_read(const struct pfstat_block *block, uint64_t page_bytes)
{
	if (block->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR))
		return 0;
	return block_pages_moved(block, page_bytes);
}

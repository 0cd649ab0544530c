// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hash table of chunks, keyed by device, inode and number. evictions.c and readahead.c store
 * their state of pages in it. Distinct chunks with the same hash are chained, and the number of
 * chunks never exceeds its maximum.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/pages/page_chunks.h"

#define SECTOR_BYTES 512

struct page_chunk {
	struct page_chunk *next; /* another chunk with the same hash */
	uint64_t inode, number;	 /* index of the chunk in the file */
	uint32_t dev;
	_Alignas(8) uint8_t kept[];
};

static void page_chunks_free_list(void *value)
{
	struct page_chunk *chunk = value, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

void page_chunks_exit(struct page_chunks *chunks)
{
	hash_exit(&chunks->first, page_chunks_free_list);
}

static uint64_t key_of(uint32_t dev, uint64_t inode, uint64_t number)
{
	const uint64_t key[] = { dev, inode, number };

	return hash_of(key, sizeof(key));
}

static uint64_t page_chunks_number(const struct page_chunks *chunks, uint64_t pgoff)
{
	return pgoff >> __builtin_ctz(chunks->pages);
}

static struct page_chunks_recent *page_chunks_recent_of(struct page_chunks *chunks, uint64_t inode,
							uint64_t number)
{
	return &chunks->recent[(inode * 8 + number) % PAGE_CHUNKS_RECENT];
}

static struct page_chunk *page_chunks_look_up(const struct page_chunks *chunks, uint32_t dev,
					      uint64_t inode, uint64_t number)
{
	struct page_chunk *chunk = hash_find(&chunks->first, key_of(dev, inode, number));

	while (chunk && (chunk->dev != dev || chunk->inode != inode || chunk->number != number))
		chunk = chunk->next;
	return chunk;
}

void *page_chunks_find(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff)
{
	const uint64_t number = page_chunks_number(chunks, pgoff);
	struct page_chunks_recent *recent;

	if (!chunks->nr)
		return NULL;
	recent = page_chunks_recent_of(chunks, inode, number);
	if (!recent->known || recent->dev != dev || recent->inode != inode ||
	    recent->number != number)
		*recent = (struct page_chunks_recent){
			.inode = inode,
			.number = number,
			.dev = dev,
			.known = true,
			.chunk = page_chunks_look_up(chunks, dev, inode, number),
		};
	return recent->chunk ? recent->chunk->kept : NULL;
}

static struct page_chunk *page_chunks_make(struct page_chunks *chunks, uint32_t dev, uint64_t inode,
					   uint64_t number)
{
	const uint64_t key = key_of(dev, inode, number);
	struct page_chunk *chunk = calloc(1, sizeof(*chunk) + chunks->bytes), *first;

	if (!chunk)
		return NULL;
	chunk->dev = dev;
	chunk->inode = inode;
	chunk->number = number;
	first = hash_find(&chunks->first, key);
	if (first) {
		chunk->next = first->next;
		first->next = chunk;
	} else if (hash_add(&chunks->first, key, chunk)) {
		free(chunk);
		return NULL;
	}
	chunks->nr++;
	page_chunks_recent_of(chunks, inode, number)->known =
		false; /* it may be known as missing */
	return chunk;
}

int page_chunks_get(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff,
		    void **kept)
{
	struct page_chunk *chunk;

	*kept = page_chunks_find(chunks, dev, inode, pgoff);
	if (*kept || chunks->nr == chunks->max)
		return 0;
	chunk = page_chunks_make(chunks, dev, inode, page_chunks_number(chunks, pgoff));
	if (!chunk)
		return -ENOMEM;
	*kept = chunk->kept;
	return 0;
}

uint64_t page_chunks_in_page(const struct pfstat_block *block, uint64_t page_bytes)
{
	const uint32_t sectors = block->event.flags >> PFSTAT_BLOCK_IN_PAGE_SHIFT &
				 PFSTAT_BLOCK_IN_PAGE_MASK;

	/* A corrupt recording may have more than a page. */
	return sectors * SECTOR_BYTES % page_bytes;
}

/* A corrupt recording may have file_bytes above bytes. */
static uint64_t page_chunks_bytes(const struct pfstat_block *block)
{
	return block->file_bytes < block->bytes ? block->file_bytes : block->bytes;
}

uint64_t page_chunks_moved_by(const struct pfstat_block *block, uint64_t page_bytes)
{
	const uint64_t bytes = page_chunks_bytes(block);

	if (!(block->event.flags & PFSTAT_BLOCK_FILE) || !bytes)
		return 0;
	return (page_chunks_in_page(block, page_bytes) + bytes + page_bytes - 1) / page_bytes;
}

bool page_chunks_ends_in_page(const struct pfstat_block *block, uint64_t page_bytes)
{
	return (page_chunks_in_page(block, page_bytes) + page_chunks_bytes(block)) % page_bytes;
}

uint64_t page_chunks_read_by(const struct pfstat_block *block, uint64_t page_bytes)
{
	if (block->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR))
		return 0;
	return page_chunks_moved_by(block, page_bytes);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "hash.h"
#include "readahead.h"

#define PAGE_SIZE 4096
#define CHUNK_PAGES 8192U	/* of one chunk: 2 KiB, 32 MiB of a file */
#define CHUNKS_MAX 4096U	/* 8 MiB of memory, 128 GiB of files in reach */

enum state {
	STATE_NONE,	/* not read by a target, or no longer in the cache */
	STATE_READ,
	STATE_MAPPED,	/* since it was read */
};

struct chunk {
	uint32_t dev;
	uint64_t inode, number;		/* of the chunk in the file */
	struct chunk *next;		/* of the same key */
	uint8_t states[CHUNK_PAGES / 4];	/* two bits a page */
};

struct readahead {
	struct hash chunks;
	size_t nr_chunks;	/* also those behind another of the same key */
	struct readahead_figures figures;
};

struct readahead *readahead_new(void)
{
	return calloc(1, sizeof(struct readahead));
}

static void free_chunks(void *value)
{
	struct chunk *chunk = value, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

void readahead_free(struct readahead *readahead)
{
	if (!readahead)
		return;
	hash_exit(&readahead->chunks, free_chunks);
	free(readahead);
}

static uint64_t key_of(uint32_t dev, uint64_t inode, uint64_t number)
{
	return ((uint64_t)dev << 40) ^ (inode << 20) ^ number;
}

static struct chunk *find(const struct readahead *readahead, uint32_t dev, uint64_t inode,
			  uint64_t number)
{
	struct chunk *chunk = hash_find(&readahead->chunks, key_of(dev, inode, number));

	while (chunk && (chunk->dev != dev || chunk->inode != inode || chunk->number != number))
		chunk = chunk->next;
	return chunk;
}

/* NULL and no error: there are too many. */
static int make(struct readahead *readahead, uint32_t dev, uint64_t inode, uint64_t number,
		struct chunk **made)
{
	const uint64_t key = key_of(dev, inode, number);
	struct chunk *first, *chunk;

	*made = NULL;
	if (readahead->nr_chunks == CHUNKS_MAX)
		return 0;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->dev = dev;
	chunk->inode = inode;
	chunk->number = number;
	first = hash_find(&readahead->chunks, key);
	if (first) {
		chunk->next = first->next;
		first->next = chunk;
	} else if (hash_add(&readahead->chunks, key, chunk)) {
		free(chunk);
		return -ENOMEM;
	}
	readahead->nr_chunks++;
	*made = chunk;
	return 0;
}

static enum state get(const struct chunk *chunk, uint64_t page)
{
	const unsigned int at = page % CHUNK_PAGES;

	return chunk->states[at / 4] >> (at % 4 * 2) & 3;
}

static void set(struct chunk *chunk, uint64_t page, enum state state)
{
	const unsigned int at = page % CHUNK_PAGES;
	uint8_t *byte = &chunk->states[at / 4];

	*byte = (*byte & ~(3 << (at % 4 * 2))) | state << (at % 4 * 2);
}

static int add_read(struct readahead *readahead, const struct pfstat_block *block, uint64_t pgoff)
{
	struct chunk *chunk = find(readahead, block->fs_dev, block->inode, pgoff / CHUNK_PAGES);
	int err;

	if (!chunk) {
		err = make(readahead, block->fs_dev, block->inode, pgoff / CHUNK_PAGES, &chunk);
		if (err)
			return err;
	}
	if (!chunk) {
		readahead->figures.overflow++;
		return 0;
	}
	/* Still there as we know it: its removal was not told. */
	if (get(chunk, pgoff) == STATE_READ) {
		readahead->figures.evicted_unused++;
		readahead->figures.idle--;
	}
	readahead->figures.read++;
	readahead->figures.idle++;
	set(chunk, pgoff, STATE_READ);
	return 0;
}

int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block)
{
	const uint64_t pages = (block->file_bytes + PAGE_SIZE - 1) / PAGE_SIZE;
	uint64_t i;
	int err = 0;

	if (!(block->event.flags & PFSTAT_BLOCK_FILE) ||
	    block->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR))
		return 0;
	for (i = 0; i < pages && !err; i++)
		err = add_read(readahead, block, block->pgoff + i);
	return err;
}

static void remove_page(struct readahead *readahead, const struct pfstat_page *page,
			uint64_t pgoff)
{
	struct chunk *chunk = find(readahead, page->dev, page->inode, pgoff / CHUNK_PAGES);

	if (!chunk)
		return;
	if (get(chunk, pgoff) == STATE_READ) {
		readahead->figures.evicted_unused++;
		readahead->figures.idle--;
	}
	set(chunk, pgoff, STATE_NONE);
}

void readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page)
{
	uint32_t i;

	for (i = 0; i < page->pages; i++)
		remove_page(readahead, page, page->pgoff + i);
}

int readahead_add_fault(struct readahead *readahead, const struct explained *fault)
{
	uint64_t pgoff = fault->pgoff, pages = 1, i;
	struct chunk *chunk;

	if (!fault->solved || !fault->inode)
		return 0;
	if (fault->around_pages) {
		pgoff -= fault->around_before;
		pages = fault->around_pages;
	} else if (fault->order) {
		pages = 1ULL << fault->order;
		pgoff &= ~(pages - 1);
	}
	for (i = pgoff; i < pgoff + pages; i++) {
		chunk = find(readahead, fault->dev, fault->inode, i / CHUNK_PAGES);
		if (!chunk || get(chunk, i) != STATE_READ)
			continue;
		set(chunk, i, STATE_MAPPED);
		readahead->figures.mapped++;
		readahead->figures.idle--;
	}
	return 0;
}

void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures)
{
	*figures = readahead->figures;
}

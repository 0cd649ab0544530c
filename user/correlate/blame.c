// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame.h"
#include "hash.h"

#define PAGE_SIZE 4096
#define CHUNK_PAGES 2048U	/* of one chunk: 4 KiB, 8 MiB of a file */
#define CHUNKS_MAX 4096U	/* 16 MiB of memory, 32 GiB of evicted files in reach */

/* What is known of a page: 0, nothing; else who evicted it, plus one, and: */
#define READ_AGAIN 0x8000U
#define OTHERS BLAME_MAX_EVICTORS

struct chunk {
	struct chunk *next;	/* of the same key */
	uint64_t inode, number;	/* of the chunk in the file */
	uint32_t dev;
	uint16_t marks[CHUNK_PAGES];
};

struct evictor {
	uint32_t pid;
	char name[16];
};

struct blame {
	struct hash chunks;	/* struct chunk, by key_of() */
	size_t nr_chunks;
	struct hash evictor_of;	/* struct evictor by pid */
	struct evictor evictors[BLAME_MAX_EVICTORS + 1];	/* the last: all others */
	size_t nr_evictors;
	struct hash pair_of;	/* struct blame_pair by evictor and victim */
	struct blame_pair pairs[BLAME_MAX_PAIRS + 1];		/* the last: all others */
	size_t nr_pairs;
	struct blame_figures figures;
};

struct blame *blame_new(void)
{
	struct blame *blame = calloc(1, sizeof(*blame));

	if (!blame)
		return NULL;
	strcpy(blame->evictors[OTHERS].name, "(others)");
	strcpy(blame->pairs[BLAME_MAX_PAIRS].evictor_name, "(others)");
	return blame;
}

static void free_chunks(void *value)
{
	struct chunk *chunk = value, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

static void keep(void *value)
{
	(void)value;	/* it is part of the blame */
}

void blame_free(struct blame *blame)
{
	if (!blame)
		return;
	hash_exit(&blame->chunks, free_chunks);
	hash_exit(&blame->evictor_of, keep);
	hash_exit(&blame->pair_of, keep);
	free(blame);
}

static uint64_t key_of(uint32_t dev, uint64_t inode, uint64_t number)
{
	return (uint64_t)dev << 40 ^ inode << 20 ^ number;
}

static struct chunk *find(const struct blame *blame, uint32_t dev, uint64_t inode, uint64_t pgoff)
{
	const uint64_t number = pgoff / CHUNK_PAGES;
	struct chunk *chunk = hash_find(&blame->chunks, key_of(dev, inode, number));

	while (chunk && (chunk->dev != dev || chunk->inode != inode || chunk->number != number))
		chunk = chunk->next;
	return chunk;
}

/* NULL and no error: there are too many. */
static int make(struct blame *blame, uint32_t dev, uint64_t inode, uint64_t pgoff,
		struct chunk **made)
{
	const uint64_t key = key_of(dev, inode, pgoff / CHUNK_PAGES);
	struct chunk *first, *chunk;

	*made = NULL;
	if (blame->nr_chunks == CHUNKS_MAX)
		return 0;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->dev = dev;
	chunk->inode = inode;
	chunk->number = pgoff / CHUNK_PAGES;
	first = hash_find(&blame->chunks, key);
	if (first) {
		chunk->next = first->next;
		first->next = chunk;
	} else if (hash_add(&blame->chunks, key, chunk)) {
		free(chunk);
		return -ENOMEM;
	}
	blame->nr_chunks++;
	*made = chunk;
	return 0;
}

static int evictor_of(struct blame *blame, const struct pfstat_page *page, uint16_t *number)
{
	struct evictor *evictor = hash_find(&blame->evictor_of, page->event.pid);
	int err;

	*number = OTHERS;
	if (!evictor && blame->nr_evictors == BLAME_MAX_EVICTORS)
		return 0;
	if (!evictor) {
		evictor = &blame->evictors[blame->nr_evictors];
		err = hash_add(&blame->evictor_of, page->event.pid, evictor);
		if (err)
			return err;
		blame->nr_evictors++;
		evictor->pid = page->event.pid;
	}
	/* Its latest name: it may have executed another program. */
	snprintf(evictor->name, sizeof(evictor->name), "%s", page->comm);
	*number = evictor - blame->evictors;
	return 0;
}

static int remove_page(struct blame *blame, const struct pfstat_page *page, uint64_t pgoff,
		       uint16_t evictor)
{
	struct chunk *chunk = find(blame, page->dev, page->inode, pgoff);
	int err;

	if (!chunk) {
		err = make(blame, page->dev, page->inode, pgoff, &chunk);
		if (err)
			return err;
	}
	if (chunk)
		chunk->marks[pgoff % CHUNK_PAGES] = evictor + 1;
	else
		blame->figures.overflow++;
	return 0;
}

int blame_remove(struct blame *blame, const struct pfstat_page *page)
{
	uint16_t evictor;
	uint32_t i;
	int err;

	blame->figures.evicted += page->pages;
	err = evictor_of(blame, page, &evictor);
	for (i = 0; i < page->pages && !err; i++)
		err = remove_page(blame, page, page->pgoff + i, evictor);
	return err;
}

/* NULL: no memory. */
static struct blame_pair *pair_of(struct blame *blame, uint16_t evictor, uint32_t victim)
{
	const uint64_t key = (uint64_t)evictor << 32 | victim;
	struct blame_pair *pair = hash_find(&blame->pair_of, key);

	if (pair)
		return pair;
	if (blame->nr_pairs == BLAME_MAX_PAIRS)
		return &blame->pairs[BLAME_MAX_PAIRS];
	pair = &blame->pairs[blame->nr_pairs];
	if (hash_add(&blame->pair_of, key, pair))
		return NULL;
	blame->nr_pairs++;
	pair->evictor = evictor;	/* its number, until it is told */
	pair->victim = victim;
	return pair;
}

static int read_page(struct blame *blame, const struct pfstat_block *block, uint64_t pgoff)
{
	struct chunk *chunk = find(blame, block->fs_dev, block->inode, pgoff);
	struct blame_pair *pair;
	uint16_t *mark;

	if (!chunk)
		return 0;
	mark = &chunk->marks[pgoff % CHUNK_PAGES];
	if (!*mark || *mark & READ_AGAIN)
		return 0;
	pair = pair_of(blame, *mark - 1, block->event.pid);
	if (!pair)
		return -ENOMEM;
	pair->pages++;
	*mark |= READ_AGAIN;
	return 0;
}

int blame_add_read(struct blame *blame, const struct pfstat_block *block)
{
	const uint64_t pages = (block->file_bytes + PAGE_SIZE - 1) / PAGE_SIZE;
	uint64_t i;
	int err = 0;

	if (!(block->event.flags & PFSTAT_BLOCK_FILE) ||
	    block->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR))
		return 0;
	for (i = 0; i < pages && !err; i++)
		err = read_page(blame, block, block->pgoff + i);
	return err;
}

static bool waited(const struct explained *fault)
{
	return fault->major || (int)fault->class == PFSTAT_CLASS_DISK ||
	       (int)fault->class == PFSTAT_CLASS_WAIT;
}

int blame_add_fault(struct blame *blame, const struct explained *fault)
{
	struct chunk *chunk = fault->inode && fault->solved ?
			      find(blame, fault->dev, fault->inode, fault->pgoff) : NULL;
	struct blame_pair *pair;
	uint16_t *mark;

	if (!chunk)
		return 0;
	mark = &chunk->marks[fault->pgoff % CHUNK_PAGES];
	if (!*mark)
		return 0;
	if (waited(fault)) {
		pair = pair_of(blame, (*mark & ~READ_AGAIN) - 1, fault->pid);
		if (!pair)
			return -ENOMEM;
		pair->faults++;
		pair->total_ns += fault->end_ns - fault->start_ns;
	}
	*mark = 0;	/* it is back */
	return 0;
}

void blame_figures(const struct blame *blame, struct blame_figures *figures)
{
	*figures = blame->figures;
}

static int most_pages_first(const void *a, const void *b)
{
	const struct blame_pair *left = a, *right = b;

	if (left->pages != right->pages)
		return left->pages < right->pages ? 1 : -1;
	if (left->faults != right->faults)
		return left->faults < right->faults ? 1 : -1;
	return left->evictor < right->evictor ? -1 : left->evictor > right->evictor;
}

int blame_pairs(const struct blame *blame, struct blame_pair **pairs, size_t *nr)
{
	const struct blame_pair *others = &blame->pairs[BLAME_MAX_PAIRS];
	const struct evictor *evictor;
	size_t i;

	*nr = blame->nr_pairs;
	*pairs = malloc((*nr + 1) * sizeof(**pairs));
	if (!*pairs)
		return -ENOMEM;
	memcpy(*pairs, blame->pairs, *nr * sizeof(**pairs));
	for (i = 0; i < *nr; i++) {
		evictor = &blame->evictors[(*pairs)[i].evictor];
		(*pairs)[i].evictor = evictor->pid;
		strcpy((*pairs)[i].evictor_name, evictor->name);
	}
	if (others->pages || others->faults)
		(*pairs)[(*nr)++] = *others;
	qsort(*pairs, *nr, sizeof(**pairs), most_pages_first);
	return 0;
}

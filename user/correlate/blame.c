// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame.h"
#include "hash.h"
#include "pieces.h"

#define PIECE_PAGES 2048U	/* 4 KiB of marks, 8 MiB of a file */
#define PIECES_MAX 4096U	/* 16 MiB of memory, 32 GiB of evicted files in reach */

/* What is known of a page: 0, nothing; else who evicted it, plus one, and: */
#define READ_AGAIN 0x8000U
#define OTHERS BLAME_MAX_EVICTORS

struct evictor {
	uint32_t pid;
	char name[16];
};

struct blame {
	struct pieces marks;	/* uint16_t a page */
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
	blame->marks.pages = PIECE_PAGES;
	blame->marks.bytes = PIECE_PAGES * sizeof(uint16_t);
	blame->marks.max = PIECES_MAX;
	strcpy(blame->evictors[OTHERS].name, BLAME_OTHERS);
	strcpy(blame->pairs[BLAME_MAX_PAIRS].evictor_name, BLAME_OTHERS);
	return blame;
}

static void keep(void *value)
{
	(void)value;	/* it is part of the blame */
}

void blame_free(struct blame *blame)
{
	if (!blame)
		return;
	pieces_exit(&blame->marks);
	hash_exit(&blame->evictor_of, keep);
	hash_exit(&blame->pair_of, keep);
	free(blame);
}

/* NULL: nothing is known of any page around. */
static uint16_t *find_mark(const struct blame *blame, uint32_t dev, uint64_t inode, uint64_t pgoff)
{
	uint16_t *marks = pieces_find(&blame->marks, dev, inode, pgoff);

	return marks ? &marks[pgoff % PIECE_PAGES] : NULL;
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
	void *marks;
	int err = pieces_get(&blame->marks, page->dev, page->inode, pgoff, &marks);

	if (err)
		return err;
	if (marks)
		((uint16_t *)marks)[pgoff % PIECE_PAGES] = evictor + 1;
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
	uint16_t *mark = find_mark(blame, block->fs_dev, block->inode, pgoff);
	struct blame_pair *pair;

	if (!mark || !*mark || *mark & READ_AGAIN)
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
	const uint64_t pages = pieces_read_by(block);
	uint64_t i;
	int err = 0;

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
	uint16_t *mark = fault->inode && fault->solved ?
			 find_mark(blame, fault->dev, fault->inode, fault->pgoff) : NULL;
	struct blame_pair *pair;

	if (!mark || !*mark)
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

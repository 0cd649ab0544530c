// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remembers for each page of a file which process evicted it, and counts for each evictor, victim
 * and reason the pages that came back and the faults that waited for them. Items come from
 * analysis.c, and the reports read the pairs. Memory is bounded: marks, evictors and pairs that do
 * not fit go to "(others)" or to the overflow.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/evictions.h"
#include "analyze/pages/page_chunks.h"
#include "util/hash.h"

#define CHUNK_PAGES 2048U /* a chunk covers 8 MiB of a file, with 4 KiB of marks */
#define CHUNKS_MAX  4096U /* 16 MiB of memory cover 32 GiB of evicted files */

/* The mark of a page: 0 if it was not evicted, else its evictor's number plus one, and flags. */
#define READ_AGAIN   0x8000U
#define REASON_SHIFT 13
#define REASON_MASK  0x3U
#define EVICTOR_MASK 0x1fffU
#define OTHERS	     EVICTIONS_MAX_EVICTORS

/*
 * The marks of a chunk. An event that covers a whole chunk changes one mark, so the cost of an
 * event depends on its number of chunks, not of pages.
 */
struct marks {
	bool uniform; /* all pages have the mark `all`, and `each` is not valid */
	bool settled; /* all pages that were evicted were read again since */
	uint16_t all;
	uint16_t each[CHUNK_PAGES];
};

struct evictor {
	uint32_t pid;
	char name[16];
};

struct evictions {
	uint64_t page_bytes;
	struct page_chunks marks;			     /* struct marks */
	struct hash evictor_of;				     /* struct evictor by pid */
	struct evictor evictors[EVICTIONS_MAX_EVICTORS + 1]; /* the last one: all others */
	size_t nr_evictors;
	struct hash pair_of; /* struct evictions_pair by reason, evictor and victim */
	/* The last ones, by reason: all others. */
	struct evictions_pair pairs[EVICTIONS_MAX_PAIRS + EVICTIONS_NR_REASONS];
	size_t nr_pairs;
	struct evictions_figures figures;
};

struct evictions *evictions_new(uint64_t page_bytes)
{
	struct evictions *evictions = calloc(1, sizeof(*evictions));
	struct evictions_pair *others;
	enum evictions_reason reason;

	if (!evictions)
		return NULL;
	evictions->page_bytes = page_bytes;
	evictions->marks.pages = CHUNK_PAGES;
	evictions->marks.bytes = sizeof(struct marks);
	evictions->marks.max = CHUNKS_MAX;
	strcpy(evictions->evictors[OTHERS].name, EVICTIONS_OTHERS);
	for (reason = 0; reason < EVICTIONS_NR_REASONS; reason++) {
		others = &evictions->pairs[EVICTIONS_MAX_PAIRS + reason];
		strcpy(others->evictor_name, EVICTIONS_OTHERS);
		others->reason = reason;
	}
	return evictions;
}

static void evictions_keep(void *value)
{
	(void)value; /* the evictions own it */
}

void evictions_free(struct evictions *evictions)
{
	if (!evictions)
		return;
	page_chunks_exit(&evictions->marks);
	hash_exit(&evictions->evictor_of, evictions_keep);
	hash_exit(&evictions->pair_of, evictions_keep);
	free(evictions);
}

/* Expands the uniform mark, so that each page has its own. */
static uint16_t *marks_of_each(struct marks *marks)
{
	unsigned int i;

	for (i = 0; marks->uniform && i < CHUNK_PAGES; i++)
		marks->each[i] = marks->all;
	marks->uniform = false;
	return marks->each;
}

static void set_marks(struct marks *marks, uint64_t pgoff, uint64_t pages, uint16_t mark)
{
	uint16_t *each;
	uint64_t i;

	marks->settled = false;
	if (pages == CHUNK_PAGES) {
		marks->uniform = true;
		marks->all = mark;
		return;
	}
	each = marks_of_each(marks) + pgoff % CHUNK_PAGES;
	for (i = 0; i < pages; i++)
		each[i] = mark;
}

/* Returns the mark of a page; NULL: its chunk is not known. */
static uint16_t *find_mark(struct evictions *evictions, uint32_t dev, uint64_t inode,
			   uint64_t pgoff)
{
	struct marks *marks = page_chunks_find(&evictions->marks, dev, inode, pgoff);

	return marks ? marks_of_each(marks) + pgoff % CHUNK_PAGES : NULL;
}

static int evictor_of(struct evictions *evictions, const struct pfstat_page *page, uint16_t *number)
{
	struct evictor *evictor = hash_find(&evictions->evictor_of, page->event.pid);
	int err;

	*number = OTHERS;
	if (!evictor && evictions->nr_evictors == EVICTIONS_MAX_EVICTORS)
		return 0;
	if (!evictor) {
		evictor = &evictions->evictors[evictions->nr_evictors];
		err = hash_add(&evictions->evictor_of, page->event.pid, evictor);
		if (err)
			return err;
		evictions->nr_evictors++;
		evictor->pid = page->event.pid;
	}
	/* Takes the latest name, because the process may have executed another program. */
	snprintf(evictor->name, sizeof(evictor->name), "%s", page->comm);
	*number = evictor - evictions->evictors;
	return 0;
}

static enum evictions_reason evictions_reason_of(const struct pfstat_page *page)
{
	if (page->event.flags & PFSTAT_PAGE_RECLAIMED)
		return EVICTIONS_RECLAIMED;
	return page->event.flags & PFSTAT_PAGE_DROPPED ? EVICTIONS_DROPPED : EVICTIONS_UNKNOWN;
}

int evictions_remove(struct evictions *evictions, const struct pfstat_page *page)
{
	uint64_t pgoff = page->pgoff, left, nr;
	uint16_t evictor, mark;
	void *marks;
	int err;

	evictions->figures.evicted += page->pages;
	err = evictor_of(evictions, page, &evictor);
	mark = (evictor + 1) | evictions_reason_of(page) << REASON_SHIFT;
	for (left = page->pages; left && !err; left -= nr, pgoff += nr) {
		nr = page_chunks_within(&evictions->marks, pgoff, left);
		err = page_chunks_get(&evictions->marks, page->dev, page->inode, pgoff, &marks);
		if (err)
			return err;
		if (marks)
			set_marks(marks, pgoff, nr, mark);
		else
			evictions->figures.overflow += nr;
	}
	return err;
}

/* NULL: no memory. @mark: not 0 */
static struct evictions_pair *evictions_find_pair(struct evictions *evictions, uint16_t mark,
						  uint32_t victim)
{
	const uint64_t key = (uint64_t)(mark & ~READ_AGAIN) << 32 | victim;
	const enum evictions_reason reason = mark >> REASON_SHIFT & REASON_MASK;
	struct evictions_pair *pair = hash_find(&evictions->pair_of, key);

	if (pair)
		return pair;
	if (evictions->nr_pairs == EVICTIONS_MAX_PAIRS)
		return &evictions->pairs[EVICTIONS_MAX_PAIRS + reason];
	pair = &evictions->pairs[evictions->nr_pairs];
	if (hash_add(&evictions->pair_of, key, pair))
		return NULL;
	evictions->nr_pairs++;
	pair->reason = reason;
	pair->evictor = (mark & EVICTOR_MASK) -
			1; /* its number; evictions_pairs() replaces it by the pid */
	pair->victim = victim;
	return pair;
}

/* Counts pages with the same mark as read again. */
static int read_run(struct evictions *evictions, uint16_t mark, uint32_t victim, uint64_t pages)
{
	struct evictions_pair *pair;

	if (!mark || mark & READ_AGAIN)
		return 0;
	pair = evictions_find_pair(evictions, mark, victim);
	if (!pair)
		return -ENOMEM;
	pair->pages += pages;
	return 0;
}

static int read_marks(struct evictions *evictions, struct marks *marks, uint32_t victim,
		      uint64_t pgoff, uint64_t pages)
{
	uint64_t i, run;
	uint16_t *each;
	int err = 0;

	if (marks->settled)
		return 0;
	marks->settled = pages == CHUNK_PAGES;
	if (marks->uniform && pages == CHUNK_PAGES) {
		err = read_run(evictions, marks->all, victim, pages);
		marks->all |= marks->all ? READ_AGAIN : 0;
		return err;
	}
	each = marks_of_each(marks) + pgoff % CHUNK_PAGES;
	for (i = 0; i < pages && !err; i += run) {
		for (run = 1; i + run < pages && each[i + run] == each[i]; run++)
			;
		err = read_run(evictions, each[i], victim, run);
	}
	for (i = 0; i < pages; i++)
		each[i] |= each[i] ? READ_AGAIN : 0;
	return err;
}

int evictions_add_read(struct evictions *evictions, const struct pfstat_block *block)
{
	uint64_t pgoff = block->pgoff, left, nr;
	struct marks *marks;
	int err = 0;

	for (left = page_chunks_read_by(block, evictions->page_bytes); left && !err;
	     left -= nr, pgoff += nr) {
		nr = page_chunks_within(&evictions->marks, pgoff, left);
		marks = page_chunks_find(&evictions->marks, block->fs_dev, block->inode, pgoff);
		if (marks)
			err = read_marks(evictions, marks, block->event.pid, pgoff, nr);
	}
	return err;
}

static bool waited(const struct explained *fault)
{
	/* The kernel also counts a fault as major if it retried for a lock. */
	if (fault->class == FAULT_LOCK)
		return false;
	return fault->major || fault->class == FAULT_DISK || fault->class == FAULT_WAIT;
}

int evictions_add_fault(struct evictions *evictions, const struct explained *fault)
{
	uint16_t *mark = fault->inode && fault->solved ?
				 find_mark(evictions, fault->dev, fault->inode, fault->pgoff) :
				 NULL;
	struct evictions_pair *pair;

	if (!mark || !*mark)
		return 0;
	if (waited(fault)) {
		pair = evictions_find_pair(evictions, *mark, fault->pid);
		if (!pair)
			return -ENOMEM;
		pair->faults++;
		pair->total_ns += fault->end_ns - fault->start_ns;
	}
	*mark = 0; /* the page is mapped again */
	return 0;
}

static void evictions_add_pair(struct evictions_figures *figures, const struct evictions_pair *pair)
{
	struct evictions_sum *sum = &figures->again[pair->reason];

	sum->pages += pair->pages;
	sum->faults += pair->faults;
	sum->total_ns += pair->total_ns;
}

void evictions_figures(const struct evictions *evictions, struct evictions_figures *figures)
{
	size_t i;

	*figures = evictions->figures;
	for (i = 0; i < evictions->nr_pairs; i++)
		evictions_add_pair(figures, &evictions->pairs[i]);
	for (i = 0; i < EVICTIONS_NR_REASONS; i++)
		evictions_add_pair(figures, &evictions->pairs[EVICTIONS_MAX_PAIRS + i]);
}

static int most_pages_first(const void *a, const void *b)
{
	const struct evictions_pair *left = a, *right = b;

	if (left->pages != right->pages)
		return left->pages < right->pages ? 1 : -1;
	if (left->faults != right->faults)
		return left->faults < right->faults ? 1 : -1;
	if (left->evictor != right->evictor)
		return left->evictor < right->evictor ? -1 : 1;
	return (int)left->reason - (int)right->reason;
}

int evictions_pairs(const struct evictions *evictions, struct evictions_pair **pairs, size_t *nr)
{
	const struct evictions_pair *others = &evictions->pairs[EVICTIONS_MAX_PAIRS];
	const struct evictor *evictor;
	size_t i;

	*nr = evictions->nr_pairs;
	*pairs = malloc((*nr + EVICTIONS_NR_REASONS) * sizeof(**pairs));
	if (!*pairs)
		return -ENOMEM;
	memcpy(*pairs, evictions->pairs, *nr * sizeof(**pairs));
	for (i = 0; i < *nr; i++) {
		evictor = &evictions->evictors[(*pairs)[i].evictor];
		(*pairs)[i].evictor = evictor->pid;
		strcpy((*pairs)[i].evictor_name, evictor->name);
	}
	for (i = 0; i < EVICTIONS_NR_REASONS; i++)
		if (others[i].pages || others[i].faults)
			(*pairs)[(*nr)++] = others[i];
	qsort(*pairs, *nr, sizeof(**pairs), most_pages_first);
	return 0;
}

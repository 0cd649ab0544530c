// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process has a hash of chunks, which are bitmaps for 512 pages. A fork shares the hash until the
 * parent or the child changes it: most children execute a program before that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/page_history.h"
#include "util/hash.h"

#define CHUNK_PAGES 512U
/* Limit on chunks in all processes: 1 GiB in pages for each 120 KB, some 120 MB in total. */
#define CHUNKS_MAX (1U << 19)

struct chunk {
	uint64_t number; /* address / (CHUNK_PAGES pages) */
	uint64_t pages[CHUNK_PAGES / 64];
	uint64_t twice[CHUNK_PAGES / 64]; /* among these pages, added twice or more */
	uint64_t anon[CHUNK_PAGES / 64]; /* were added as anonymous memory, also before a removal */
};

struct page_set {
	unsigned int owners; /* processes sharing it */
	struct hash chunks;  /* by number */
	struct chunk *last;
};

struct history_process {
	uint32_t pid;
	struct page_set *set;
};

struct page_history {
	uint64_t page_bytes;
	struct hash processes; /* by pid */
	struct history_process *last;
	uint64_t nr_chunks; /* in all sets */
	uint64_t dropped;
};

struct page_history *page_history_new(uint64_t page_bytes)
{
	struct page_history *history = calloc(1, sizeof(*history));

	if (history)
		history->page_bytes = page_bytes;
	return history;
}

static void page_set_put(struct page_history *history, struct page_set *set)
{
	if (!set || --set->owners)
		return;
	history->nr_chunks -= set->chunks.count;
	hash_exit(&set->chunks, free);
	free(set);
}

static int page_history_free_process(void *context, void *value)
{
	struct history_process *process = value;

	page_set_put(context, process->set);
	free(process);
	return 0;
}

void page_history_free(struct page_history *history)
{
	if (!history)
		return;
	hash_visit(&history->processes, page_history_free_process, history);
	hash_exit(&history->processes, NULL);
	free(history);
}

static struct history_process *page_history_find(struct page_history *history, uint32_t pid)
{
	if (!history->last || history->last->pid != pid)
		history->last = hash_find(&history->processes, pid);
	return history->last;
}

static struct history_process *page_history_get(struct page_history *history, uint32_t pid)
{
	struct history_process *process = page_history_find(history, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (hash_add(&history->processes, pid, process)) {
		free(process);
		return NULL;
	}
	history->last = process;
	return process;
}

static int chunk_copy(void *context, void *value)
{
	struct page_set *set = context;
	const struct chunk *chunk = value;
	struct chunk *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *chunk;
	if (!hash_add(&set->chunks, copy->number, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* Gives the process an unshared set. */
static int page_history_own(struct page_history *history, struct history_process *process)
{
	struct page_set *set = process->set, *own;
	int err = 0;

	if (set && set->owners == 1)
		return 0;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	own->owners = 1;
	if (set && history->nr_chunks + set->chunks.count > CHUNKS_MAX)
		history->dropped += set->chunks.count * CHUNK_PAGES;
	else if (set)
		err = hash_visit(&set->chunks, chunk_copy, own);
	history->nr_chunks += own->chunks.count;
	page_set_put(history, err ? own : set);
	if (!err)
		process->set = own;
	return err;
}

static struct chunk *page_set_find(struct page_set *set, uint64_t number)
{
	if (!set->last || set->last->number != number)
		set->last = hash_find(&set->chunks, number);
	return set->last;
}

/* NULL, and no error: there are too many chunks. */
static int page_history_chunk(struct page_history *history, struct page_set *set, uint64_t number,
			      struct chunk **found)
{
	struct chunk *chunk = page_set_find(set, number);

	*found = chunk;
	if (chunk)
		return 0;
	if (history->nr_chunks == CHUNKS_MAX) {
		history->dropped++;
		return 0;
	}
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->number = number;
	if (hash_add(&set->chunks, number, chunk)) {
		free(chunk);
		return -ENOMEM;
	}
	history->nr_chunks++;
	set->last = chunk;
	*found = chunk;
	return 0;
}

/* Returns true if the bit was set. */
static bool set_bit(uint64_t *bits, uint64_t page)
{
	uint64_t *word = &bits[page % CHUNK_PAGES / 64];
	const uint64_t bit = 1ULL << page % 64;
	const bool was = *word & bit;

	*word |= bit;
	return was;
}

static bool test_bit(const uint64_t *bits, uint64_t page)
{
	return bits[page % CHUNK_PAGES / 64] & 1ULL << page % 64;
}

int page_history_add(struct page_history *history, uint32_t pid, uint64_t address, bool anon,
		     struct page_past *past)
{
	const uint64_t page = address / history->page_bytes;
	const uint64_t number = page / CHUNK_PAGES;
	struct history_process *process = page_history_get(history, pid);
	struct chunk *chunk;
	int err;

	*past = (struct page_past){ 0 };
	if (!process)
		return -ENOMEM;
	chunk = process->set ? page_set_find(process->set, number) : NULL;
	if (chunk && test_bit(chunk->twice, page)) {
		*past = (struct page_past){ .before = true, .often = true };
		return 0;
	}
	err = page_history_own(history, process);
	if (!err)
		err = page_history_chunk(history, process->set, number, &chunk);
	if (err || !chunk)
		return err;
	past->before = set_bit(chunk->pages, page);
	past->removed = !past->before && test_bit(chunk->anon, page);
	if (past->before)
		set_bit(chunk->twice, page);
	if (anon)
		set_bit(chunk->anon, page);
	return 0;
}

struct removal {
	uint64_t first, end; /* pages */
};

/* Removes the chunk's pages inside the range. */
static int chunk_remove(void *context, void *value)
{
	const struct removal *removal = context;
	struct chunk *chunk = value;
	const uint64_t from = chunk->number * CHUNK_PAGES;
	uint64_t page, bit;

	if (from >= removal->end || from + CHUNK_PAGES <= removal->first)
		return 0;
	for (page = from; page < from + CHUNK_PAGES; page++) {
		bit = 1ULL << page % 64;
		if (page < removal->first || page >= removal->end)
			continue;
		chunk->pages[page % CHUNK_PAGES / 64] &= ~bit;
		chunk->twice[page % CHUNK_PAGES / 64] &= ~bit;
	}
	return 0;
}

/* A few chunks among many: looking up each costs less than visiting all. */
static void page_set_remove_few(struct page_set *set, struct removal *removal)
{
	uint64_t number;
	struct chunk *chunk;

	for (number = removal->first / CHUNK_PAGES; number * CHUNK_PAGES < removal->end; number++) {
		chunk = hash_find(&set->chunks, number);
		if (chunk)
			chunk_remove(removal, chunk);
	}
}

int page_history_remove(struct page_history *history, uint32_t pid, uint64_t start, uint64_t end)
{
	struct history_process *process = page_history_find(history, pid);
	struct removal removal = {
		.first = start / history->page_bytes,
		.end = end / history->page_bytes,
	};
	int err;

	if (!process || !process->set || removal.first >= removal.end)
		return 0;
	err = page_history_own(history, process);
	if (err)
		return err;
	if ((removal.end - removal.first) / CHUNK_PAGES < process->set->chunks.count) {
		page_set_remove_few(process->set, &removal);
		return 0;
	}
	return hash_visit(&process->set->chunks, chunk_remove, &removal);
}

void page_history_end(struct page_history *history, uint32_t pid)
{
	struct history_process *process = hash_take(&history->processes, pid);

	if (!process)
		return;
	history->last = NULL;
	page_history_free_process(history, process);
}

int page_history_fork(struct page_history *history, uint32_t parent, uint32_t child)
{
	struct page_set *set;
	struct history_process *process;

	page_history_end(history, child);
	process = page_history_find(history, parent);
	set = process ? process->set : NULL;
	if (!set || !set->chunks.count)
		return 0;
	process = page_history_get(history, child);
	if (!process)
		return -ENOMEM;
	set->owners++;
	process->set = set;
	return 0;
}

uint64_t page_history_dropped(const struct page_history *history)
{
	return history->dropped;
}

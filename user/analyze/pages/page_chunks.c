// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hash table of chunks, keyed by device, inode and number. evictions.c and readahead.c store
 * their page state in it. Distinct chunks with the same hash are chained. Neither the number of
 * chunks nor their memory exceeds the limit, except by one chunk.
 *
 * A chunk that is looked up gets a second chance instead of another list position, because a
 * look-up is frequent and a drop is rare.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/page_chunks.h"

/* A chunk's memory besides the state: the allocation, and a share of the hash table. */
#define CHUNK_MEMORY (sizeof(struct page_chunk) + 16 + 4 * sizeof(struct hash_slot))

struct page_chunk {
	struct page_chunk *next;	    /* another chunk with the same hash */
	struct page_chunk *newer, *earlier; /* in the same list */
	uint64_t inode, number;		    /* index of the chunk in the file */
	uint32_t dev;
	bool settled;
	bool used; /* since it came to the end of the list */
	_Alignas(8) uint8_t kept[];
};

static void page_chunks_free(struct page_chunks *chunks, struct page_chunk *chunk)
{
	if (chunks->drop)
		chunks->drop(chunks->owner, chunk->kept);
	free(chunk);
}

void page_chunks_exit(struct page_chunks *chunks)
{
	struct page_chunks_list *const lists[] = { &chunks->open, &chunks->settled };
	struct page_chunk *chunk, *newer;
	unsigned int i;

	for (i = 0; i < 2; i++)
		for (chunk = lists[i]->first; chunk; chunk = newer) {
			newer = chunk->newer;
			page_chunks_free(chunks, chunk);
		}
	hash_exit(&chunks->first, NULL);
}

static struct page_chunk *page_chunk_of(void *kept)
{
	return (struct page_chunk *)((char *)kept - offsetof(struct page_chunk, kept));
}

static struct page_chunks_list *page_chunks_list_of(struct page_chunks *chunks,
						    const struct page_chunk *chunk)
{
	return chunk->settled ? &chunks->settled : &chunks->open;
}

static void page_chunks_append(struct page_chunks *chunks, struct page_chunk *chunk)
{
	struct page_chunks_list *list = page_chunks_list_of(chunks, chunk);

	chunk->newer = NULL;
	chunk->earlier = list->last;
	if (list->last)
		list->last->newer = chunk;
	else
		list->first = chunk;
	list->last = chunk;
}

static void page_chunks_unlink(struct page_chunks *chunks, struct page_chunk *chunk)
{
	struct page_chunks_list *list = page_chunks_list_of(chunks, chunk);

	if (chunk->earlier)
		chunk->earlier->newer = chunk->newer;
	else
		list->first = chunk->newer;
	if (chunk->newer)
		chunk->newer->earlier = chunk->earlier;
	else
		list->last = chunk->earlier;
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
	if (!recent->chunk)
		return NULL;
	recent->chunk->used = true;
	return recent->chunk->kept;
}

static void page_chunks_take_out(struct page_chunks *chunks, const struct page_chunk *chunk)
{
	const uint64_t key = key_of(chunk->dev, chunk->inode, chunk->number);
	struct page_chunk *before = hash_find(&chunks->first, key);

	page_chunks_recent_of(chunks, chunk->inode, chunk->number)->known = false;
	if (before != chunk) {
		while (before->next != chunk)
			before = before->next;
		before->next = chunk->next;
		return;
	}
	hash_take(&chunks->first, key);
	if (chunk->next) /* cannot fail: the table has the chunk's slot */
		hash_add(&chunks->first, key, chunk->next);
}

/* Moves chunks used since then to the end of the list. NULL: the list is empty. */
static struct page_chunk *page_chunks_first_unused(struct page_chunks *chunks,
						   struct page_chunks_list *list,
						   const struct page_chunk *except)
{
	struct page_chunk *chunk;

	while ((chunk = list->first) && (chunk->used || chunk == except)) {
		if (chunk == except && !chunk->newer)
			return NULL;
		chunk->used = false;
		page_chunks_unlink(chunks, chunk);
		page_chunks_append(chunks, chunk);
	}
	return chunk;
}

/* The fault that waited for the read by which the last chunk was settled may still come. */
static struct page_chunk *page_chunks_next_dropped(struct page_chunks *chunks,
						   const struct page_chunk *except)
{
	struct page_chunk *settled = chunks->settled.first, *found;

	if (settled && settled != except && settled != chunks->settled.last)
		return settled;
	found = page_chunks_first_unused(chunks, &chunks->open, except);
	return found ?: page_chunks_first_unused(chunks, &chunks->settled, except);
}

static void page_chunks_remove(struct page_chunks *chunks, struct page_chunk *chunk)
{
	page_chunks_take_out(chunks, chunk);
	page_chunks_unlink(chunks, chunk);
	chunks->nr--;
	chunks->used_memory -= CHUNK_MEMORY + chunks->bytes;
	page_chunks_free(chunks, chunk);
}

static void page_chunks_limit(struct page_chunks *chunks, const struct page_chunk *except)
{
	struct page_chunk *chunk;

	while (chunks->max_memory && chunks->used_memory > chunks->max_memory) {
		chunk = page_chunks_next_dropped(chunks, except);
		if (!chunk)
			return;
		page_chunks_remove(chunks, chunk);
	}
}

static int page_chunks_end_one(struct page_chunks *chunks, struct page_chunk *chunk,
			       page_chunks_end end)
{
	const uint64_t pgoff = chunk->number << __builtin_ctz(chunks->pages);
	int err = end(chunks->owner, chunk->kept, chunk->dev, chunk->inode, pgoff);

	if (!err)
		page_chunks_remove(chunks, chunk);
	return err;
}

/* The list is the chunk's list before end(), which may settle it. */
static int page_chunks_end_in_list(struct page_chunks *chunks, struct page_chunks_list *list,
				   uint32_t dev, uint64_t inode, page_chunks_end end)
{
	struct page_chunk *chunk, *newer;
	int err = 0;

	for (chunk = list->first; chunk && !err; chunk = newer) {
		newer = chunk->newer;
		if (chunk->dev == dev && chunk->inode == inode)
			err = page_chunks_end_one(chunks, chunk, end);
	}
	return err;
}

/* Looks each number up, or visits all chunks if they are fewer. */
int page_chunks_end_file(struct page_chunks *chunks, uint32_t dev, uint64_t inode,
			 page_chunks_end end)
{
	struct page_chunk *chunk;
	uint64_t number;
	int err = 0;

	if (chunks->nr < chunks->end) {
		err = page_chunks_end_in_list(chunks, &chunks->open, dev, inode, end);
		return err ?: page_chunks_end_in_list(chunks, &chunks->settled, dev, inode, end);
	}
	for (number = 0; number < chunks->end && !err; number++) {
		chunk = page_chunks_look_up(chunks, dev, inode, number);
		if (chunk)
			err = page_chunks_end_one(chunks, chunk, end);
	}
	return err;
}

void page_chunks_resized(struct page_chunks *chunks, void *kept, ptrdiff_t bytes)
{
	chunks->used_memory += bytes;
	if (bytes > 0)
		page_chunks_limit(chunks, page_chunk_of(kept));
}

void page_chunks_settle(struct page_chunks *chunks, void *kept, bool settled)
{
	struct page_chunk *chunk = page_chunk_of(kept);

	if (chunk->settled == settled)
		return;
	page_chunks_unlink(chunks, chunk);
	chunk->settled = settled;
	page_chunks_append(chunks, chunk);
}

void page_chunks_visit(const struct page_chunks *chunks,
		       void (*visit)(void *owner, void *kept, const void *context),
		       const void *context)
{
	struct page_chunk *chunk;

	for (chunk = chunks->open.first; chunk; chunk = chunk->newer)
		visit(chunks->owner, chunk->kept, context);
	for (chunk = chunks->settled.first; chunk; chunk = chunk->newer)
		visit(chunks->owner, chunk->kept, context);
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
	if (chunks->end <= number)
		chunks->end = number + 1;
	chunks->used_memory += CHUNK_MEMORY + chunks->bytes;
	page_chunks_append(chunks, chunk);
	page_chunks_recent_of(chunks, inode, number)->known =
		false; /* it may be known as missing */
	page_chunks_limit(chunks, chunk);
	return chunk;
}

int page_chunks_get(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff,
		    void **kept)
{
	struct page_chunk *chunk;

	*kept = page_chunks_find(chunks, dev, inode, pgoff);
	if (*kept || (chunks->max && chunks->nr == chunks->max))
		return 0;
	chunk = page_chunks_make(chunks, dev, inode, page_chunks_number(chunks, pgoff));
	if (!chunk)
		return -ENOMEM;
	*kept = chunk->kept;
	return 0;
}

/*
 * Runs of pages with equal marks. evictions.c stores each page's evictor in them. A change joins
 * the pages with neighbours that have the same mark, so runs are as few as possible.
 */

void page_marks_exit(struct page_marks *marks)
{
	free(marks->runs);
	*marks = (struct page_marks){ 0 };
}

/* Returns the index of the run with the page. */
static uint32_t page_marks_find(const struct page_marks *marks, uint32_t page)
{
	uint32_t low = 0, high = marks->nr, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (marks->runs[middle].from <= page)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t page_marks_run(const struct page_marks *marks, uint32_t at, uint32_t nr, uint16_t *mark)
{
	uint32_t run, length;

	*mark = 0;
	if (!marks->nr)
		return nr;
	run = page_marks_find(marks, at);
	*mark = marks->runs[run].mark;
	if (run + 1 == marks->nr)
		return nr;
	length = marks->runs[run + 1].from - at;
	return length < nr ? length : nr;
}

/* Makes room for two more runs, and for the first one. */
static int page_marks_make_room(struct page_marks *marks)
{
	uint32_t capacity = marks->capacity ?: 2;
	struct page_run *runs;

	while (capacity < (marks->nr ?: 1) + 2)
		capacity *= 2;
	if (capacity > marks->capacity) {
		runs = reallocarray(marks->runs, capacity, sizeof(*runs));
		if (!runs)
			return -ENOMEM;
		marks->runs = runs;
		marks->capacity = capacity;
	}
	if (!marks->nr)
		marks->runs[marks->nr++] = (struct page_run){ 0 };
	return 0;
}

int page_marks_set(struct page_marks *marks, uint32_t at, uint32_t nr, uint32_t all, uint16_t mark)
{
	const uint32_t end = at + nr;
	struct page_run made[2];
	uint32_t first, rest, nr_made = 0;
	uint16_t after = mark;

	if (!nr || (!marks->nr && !mark))
		return 0;
	if (page_marks_make_room(marks))
		return -ENOMEM;
	/* Runs before `first` stay, as do those from `rest` on. */
	first = page_marks_find(marks, at);
	rest = marks->nr;
	if (end < all) {
		rest = page_marks_find(marks, end);
		after = marks->runs[rest].mark;
		rest++;
	}
	if (marks->runs[first].from < at)
		first++;
	if (!first || marks->runs[first - 1].mark != mark)
		made[nr_made++] = (struct page_run){ at, mark };
	if (after != mark)
		made[nr_made++] = (struct page_run){ end, after };
	memmove(&marks->runs[first + nr_made], &marks->runs[rest],
		(marks->nr - rest) * sizeof(*marks->runs));
	memcpy(&marks->runs[first], made, nr_made * sizeof(*made));
	marks->nr = first + nr_made + marks->nr - rest;
	return 0;
}

void page_marks_change(struct page_marks *marks,
		       uint16_t (*change)(const void *context, uint16_t mark), const void *context)
{
	uint32_t i, nr = 0;
	uint16_t mark;

	for (i = 0; i < marks->nr; i++) {
		mark = change(context, marks->runs[i].mark);
		if (!nr || marks->runs[nr - 1].mark != mark)
			marks->runs[nr++] = (struct page_run){ marks->runs[i].from, mark };
	}
	marks->nr = nr;
}

size_t page_marks_bytes(const struct page_marks *marks)
{
	return marks->capacity * sizeof(*marks->runs);
}

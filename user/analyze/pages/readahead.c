// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps one bit for each page read by a target and not mapped yet. Reads, removals and faults come
 * from analysis.c. Figures and page runs go to the reports and the listener. Invariant: read =
 * mapped + evicted_unused + idle. If the memory is used up, a dropped chunk's idle pages are taken
 * out of this sum and added to the overflow.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/page_chunks.h"
#include "analyze/pages/readahead.h"
#include "fields/tables.h"
#include "model/block_pages.h"
#include "model/counters.h"

#define CHUNK_PAGES 8192U /* at most 1 KiB for bits, 32 MiB in a file */
#define WORD_BITS   64U

static const struct field readahead_rows[] = {
	FIELD(COUNT, readahead_figures, read, "Read from block devices for the program's threads."),
	FIELD(COUNT, readahead_figures, mapped, "Later mapped by a fault."),
	FIELD(COUNT, readahead_figures, evicted_unused,
	      "Removed before a fault mapped them; read(2) may have used them. null: the hook is "
	      "missing.",
	      .needs = 1U << HOOK_PAGE_DELETE),
	FIELD(COUNT, readahead_figures, idle,
	      "In neither state at the end. null: the hook is missing.",
	      .needs = 1U << HOOK_PAGE_DELETE),
	FIELD(COUNT, readahead_figures, overflow,
	      "Dropped before their fate was known; not counted above."),
};

const struct fields readahead_fields = FIELDS("readahead",
					      "File pages; read = mapped + evicted_unused + idle.",
					      readahead_figures, readahead_rows);

struct readahead_chunk {
	uint64_t *bits;		/* 1: the page was read and not mapped since */
	uint32_t words;		/* bit words, few for small files. The bits beyond are 0 */
	uint32_t idle;		/* bits set to 1 */
	uint64_t read, evicted; /* pages, until the first fault */
	bool faulted;
};

struct readahead {
	uint64_t page_bytes;
	struct page_chunks unused; /* struct readahead_chunk */
	struct readahead_figures figures;
	readahead_sink sink; /* NULL: no listener */
	void *context;
};

/* Pages in one chunk. */
struct range {
	uint32_t dev;
	uint64_t inode, pgoff, pages;
};

static void readahead_drop(void *owner, void *kept)
{
	struct readahead *readahead = owner;
	struct readahead_figures *figures = &readahead->figures;
	struct readahead_chunk *chunk = kept;

	figures->read -= chunk->idle;
	figures->idle -= chunk->idle;
	figures->overflow += chunk->idle;
	if (chunk->faulted)
		figures->faulted_read -= chunk->idle;
	page_chunks_resized(&readahead->unused, kept,
			    -(ptrdiff_t)(chunk->words * sizeof(*chunk->bits)));
	free(chunk->bits);
}

struct readahead *readahead_new(uint64_t page_bytes, size_t memory)
{
	struct readahead *readahead = calloc(1, sizeof(*readahead));

	if (!readahead)
		return NULL;
	readahead->page_bytes = page_bytes;
	readahead->unused = (struct page_chunks){
		.pages = CHUNK_PAGES,
		.bytes = sizeof(struct readahead_chunk),
		.max_memory = memory,
		.drop = readahead_drop,
		.owner = readahead,
	};
	return readahead;
}

void readahead_free(struct readahead *readahead)
{
	if (!readahead)
		return;
	page_chunks_exit(&readahead->unused);
	free(readahead);
}

void readahead_listen(struct readahead *readahead, readahead_sink sink, void *context)
{
	readahead->sink = sink;
	readahead->context = context;
}

static int tell(const struct readahead *readahead, enum readahead_fate fate,
		const struct range *range)
{
	const struct readahead_pages pages = {
		.fate = fate,
		.dev = range->dev,
		.inode = range->inode,
		.pgoff = range->pgoff,
		.pages = range->pages,
	};

	return readahead->sink ? readahead->sink(readahead->context, &pages) : 0;
}

/* A word's bits from `first` on, at most nr. */
static uint64_t mask_of(unsigned int first, uint64_t nr)
{
	const uint64_t low = nr < WORD_BITS ? (1ULL << nr) - 1 : UINT64_MAX;

	return low << first;
}

/* Returns how many bits, from `at` on, have the value in a row, at most nr. */
static uint64_t run_length(const uint64_t *bits, uint64_t at, uint64_t nr, bool value)
{
	uint64_t done = 0, others;

	while (done < nr) {
		others = bits[(at + done) / WORD_BITS];
		if (value)
			others = ~others;
		others >>= (at + done) % WORD_BITS;
		if (others) {
			done += __builtin_ctzll(others);
			break;
		}
		done += WORD_BITS - (at + done) % WORD_BITS;
	}
	return done < nr ? done : nr;
}

/* Gives the chunk bits for all pages in the range. Returns 0 or -ENOMEM. */
static int readahead_grow(struct readahead *readahead, struct readahead_chunk *chunk,
			  const struct range *range)
{
	const uint32_t last = (range->pgoff + range->pages - 1) % CHUNK_PAGES;
	uint32_t words = chunk->words ?: 1;
	uint64_t *bits;

	while (words * WORD_BITS <= last)
		words *= 2;
	if (words <= chunk->words)
		return 0;
	bits = reallocarray(chunk->bits, words, sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	memset(bits + chunk->words, 0, (words - chunk->words) * sizeof(*bits));
	page_chunks_resized(&readahead->unused, chunk, (words - chunk->words) * sizeof(*bits));
	chunk->bits = bits;
	chunk->words = words;
	return 0;
}

/* The part of the range with bits. */
static struct range range_with_bits(const struct readahead_chunk *chunk, const struct range *range)
{
	const uint64_t at = range->pgoff % CHUNK_PAGES, end = chunk->words * WORD_BITS;
	struct range part = *range;

	if (at >= end)
		part.pages = 0;
	else if (part.pages > end - at)
		part.pages = end - at;
	return part;
}

/* Reports each run of unused pages in the range to the sink. */
static int tell_runs(const struct readahead *readahead, enum readahead_fate fate,
		     const struct range *range, const uint64_t *bits)
{
	const uint64_t first = range->pgoff % CHUNK_PAGES;
	struct range run = *range;
	uint64_t done = 0;
	int err = 0;

	while (!err) {
		done += run_length(bits, first + done, range->pages - done, false);
		if (done == range->pages)
			break;
		run.pgoff = range->pgoff + done;
		run.pages = run_length(bits, first + done, range->pages - done, true);
		err = tell(readahead, fate, &run);
		done += run.pages;
	}
	return err;
}

/* Sets or clears all bits of the range, and returns how many were set before. */
static uint32_t write_bits(uint64_t *bits, const struct range *range, bool set)
{
	uint64_t at = range->pgoff % CHUNK_PAGES, left = range->pages, mask, nr;
	uint32_t was = 0;

	for (; left; left -= nr, at += nr) {
		nr = WORD_BITS - at % WORD_BITS;
		if (nr > left)
			nr = left;
		mask = mask_of(at % WORD_BITS, nr);
		was += __builtin_popcountll(bits[at / WORD_BITS] & mask);
		if (set)
			bits[at / WORD_BITS] |= mask;
		else
			bits[at / WORD_BITS] &= ~mask;
	}
	return was;
}

static void meet_fault(struct readahead *readahead, struct readahead_chunk *chunk)
{
	if (chunk->faulted)
		return;
	chunk->faulted = true;
	readahead->figures.faulted_read += chunk->read;
	readahead->figures.faulted_evicted += chunk->evicted;
}

/* Clears the unused pages of the range, reports their fate, and adds their number to *met. */
static int end_unused(struct readahead *readahead, enum readahead_fate fate,
		      const struct range *range, uint64_t *met)
{
	struct readahead_chunk *chunk =
		page_chunks_find(&readahead->unused, range->dev, range->inode, range->pgoff);
	struct range part;
	uint32_t nr;
	int err = 0;

	if (!chunk)
		return 0;
	part = range_with_bits(chunk, range);
	if (readahead->sink)
		err = tell_runs(readahead, fate, &part, chunk->bits);
	nr = write_bits(chunk->bits, &part, false);
	chunk->idle -= nr;
	page_chunks_settle(&readahead->unused, chunk, !chunk->idle);
	*met += nr;
	readahead->figures.idle -= nr;
	if (fate == READAHEAD_MAPPED)
		meet_fault(readahead, chunk);
	else if (chunk->faulted)
		readahead->figures.faulted_evicted += nr;
	else
		chunk->evicted += nr;
	return err;
}

static int add_read(struct readahead *readahead, const struct range *range)
{
	struct readahead_figures *figures = &readahead->figures;
	struct readahead_chunk *chunk;
	void *kept;
	int err =
		page_chunks_get(&readahead->unused, range->dev, range->inode, range->pgoff, &kept);

	if (err)
		return err;
	chunk = kept;
	err = readahead_grow(readahead, chunk, range);
	if (err)
		return err;
	/* Pages still unused here were removed without an event. */
	err = end_unused(readahead, READAHEAD_EVICTED, range, &figures->evicted_unused);
	figures->read += range->pages;
	figures->idle += range->pages;
	*(chunk->faulted ? &figures->faulted_read : &chunk->read) += range->pages;
	write_bits(chunk->bits, range, true);
	chunk->idle += range->pages;
	page_chunks_settle(&readahead->unused, chunk, false);
	return err ? err : tell(readahead, READAHEAD_READ, range);
}

static int remove_pages(struct readahead *readahead, const struct range *range)
{
	return end_unused(readahead, READAHEAD_EVICTED, range, &readahead->figures.evicted_unused);
}

static int readahead_end_chunk(void *owner, void *kept, uint32_t dev, uint64_t inode,
			       uint64_t pgoff)
{
	struct readahead *readahead = owner;
	const struct readahead_chunk *chunk = kept;
	uint64_t *evicted = &readahead->figures.evicted_unused;
	/* All pages with bits. */
	const struct range range = {
		.dev = dev,
		.inode = inode,
		.pgoff = pgoff,
		.pages = (uint64_t)chunk->words * WORD_BITS,
	};

	return end_unused(readahead, READAHEAD_EVICTED, &range, evicted);
}

int readahead_end_file(struct readahead *readahead, uint32_t dev, uint64_t inode)
{
	return page_chunks_end_file(&readahead->unused, dev, inode, readahead_end_chunk);
}

static int map_pages(struct readahead *readahead, const struct range *range)
{
	return end_unused(readahead, READAHEAD_MAPPED, range, &readahead->figures.mapped);
}

/* Calls `add` for the pages in each chunk. */
static int by_piece(struct readahead *readahead, struct range all,
		    int (*add)(struct readahead *readahead, const struct range *range))
{
	struct range range = all;
	uint64_t left;
	int err = 0;

	for (left = all.pages; left && !err; left -= range.pages) {
		range.pages = page_chunks_within(&readahead->unused, range.pgoff, left);
		err = add(readahead, &range);
		range.pgoff += range.pages;
	}
	return err;
}

static bool is_unused(struct readahead *readahead, const struct range *range, uint64_t pgoff)
{
	const struct readahead_chunk *chunk =
		page_chunks_find(&readahead->unused, range->dev, range->inode, pgoff);
	const uint64_t bit = pgoff % CHUNK_PAGES;

	return chunk && bit / WORD_BITS < chunk->words &&
	       chunk->bits[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/*
 * Other requests may have read the rest of a page: it is the same read of this page. Removes such
 * pages from the range.
 */
static void trim_parts(struct readahead *readahead, const struct pfstat_block *block,
		       struct range *range)
{
	if (range->pages && block_pages_ends_in_page(block, readahead->page_bytes) &&
	    is_unused(readahead, range, range->pgoff + range->pages - 1))
		range->pages--;
	if (range->pages && block_pages_in_page(block, readahead->page_bytes) &&
	    is_unused(readahead, range, range->pgoff)) {
		range->pgoff++;
		range->pages--;
	}
}

int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block)
{
	struct range range = {
		.dev = block->fs_dev,
		.inode = block->inode,
		.pgoff = block->pgoff,
		.pages = block_pages_read(block, readahead->page_bytes),
	};

	trim_parts(readahead, block, &range);
	return by_piece(readahead, range, add_read);
}

int readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page)
{
	const struct range range = {
		.dev = page->dev,
		.inode = page->inode,
		.pgoff = page->pgoff,
		.pages = page->pages,
	};

	return page->event.flags & PFSTAT_PAGE_ANON ? 0 : by_piece(readahead, range, remove_pages);
}

int readahead_add_fault(struct readahead *readahead, const struct explained *fault)
{
	struct range range = {
		.dev = fault->dev,
		.inode = fault->inode,
		.pgoff = fault->pgoff,
		.pages = 1,
	};

	if (!fault->solved || !fault->inode)
		return 0;
	if (fault->around_pages) {
		range.pgoff -= fault->around_before;
		range.pages = fault->around_pages;
	} else if (fault->order) {
		range.pages = 1ULL << fault->order;
		range.pgoff &= ~(range.pages - 1);
	}
	return by_piece(readahead, range, map_pages);
}

void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures)
{
	*figures = readahead->figures;
}

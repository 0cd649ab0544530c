// SPDX-License-Identifier: GPL-2.0-only
/*
 * A byte for each page, in chunks that are allocated when the first page is read or accessed. The
 * largest folio is a chunk, and folios are aligned, so a folio is in one chunk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/prediction/prediction.h"

#define CHUNK_PAGES (1U << CACHED_FILE_ORDER)

/* In the lowest bits of a page's byte: 1 + the order of the folio, or 0 if it is not cached. */
#define PAGE_ORDER    15U
#define PAGE_MARK     16U
#define PAGE_ACCESSED 32U

void cached_file_open(struct cached_file *file, uint64_t pages)
{
	*file = (struct cached_file){ .pages = pages };
}

void cached_file_close(struct cached_file *file)
{
	hash_exit(&file->chunks, free);
	file->recent_pages = NULL;
}

/* The bytes of the chunk that has the page, or NULL. */
static uint8_t *chunk_find(struct cached_file *file, uint64_t page)
{
	const uint64_t number = page / CHUNK_PAGES;

	if (!file->recent_pages || file->recent != number) {
		file->recent_pages = hash_find(&file->chunks, number);
		file->recent = number;
	}
	return file->recent_pages;
}

static uint8_t *chunk_get(struct cached_file *file, uint64_t page)
{
	uint8_t *pages = chunk_find(file, page);

	if (pages)
		return pages;
	pages = calloc(1, CHUNK_PAGES);
	if (!pages || hash_add(&file->chunks, page / CHUNK_PAGES, pages)) {
		free(pages);
		file->err = -ENOMEM;
		return NULL;
	}
	file->recent_pages = pages;
	return pages;
}

static uint8_t page_byte(struct cached_file *file, uint64_t page)
{
	const uint8_t *pages = chunk_find(file, page);

	return pages ? pages[page % CHUNK_PAGES] : 0;
}

bool cached_file_has(struct cached_file *file, uint64_t page)
{
	return page_byte(file, page) & PAGE_ORDER;
}

struct cached_folio cached_file_folio(struct cached_file *file, uint64_t page)
{
	const unsigned int order = (page_byte(file, page) & PAGE_ORDER) - 1;

	return (struct cached_folio){ .first = page >> order << order, .pages = 1ULL << order };
}

void cached_file_read(struct cached_file *file, uint64_t first, unsigned int order)
{
	uint8_t *pages = chunk_get(file, first);
	uint64_t i;

	for (i = 0; pages && i < 1ULL << order; i++)
		pages[first % CHUNK_PAGES + i] |= order + 1;
	file->nr_read += 1ULL << order;
}

void cached_file_mark(struct cached_file *file, uint64_t first)
{
	uint8_t *pages = chunk_get(file, first);

	if (pages)
		pages[first % CHUNK_PAGES] |= PAGE_MARK;
}

bool cached_file_has_mark(struct cached_file *file, uint64_t page)
{
	return page_byte(file, cached_file_folio(file, page).first) & PAGE_MARK;
}

void cached_file_clear_mark(struct cached_file *file, uint64_t page)
{
	const uint64_t first = cached_file_folio(file, page).first;

	chunk_find(file, first)[first % CHUNK_PAGES] &= ~PAGE_MARK;
}

bool cached_file_access(struct cached_file *file, uint64_t page)
{
	uint8_t *pages = chunk_get(file, page);

	if (!pages || pages[page % CHUNK_PAGES] & PAGE_ACCESSED)
		return false;
	pages[page % CHUNK_PAGES] |= PAGE_ACCESSED;
	file->nr_accessed++;
	return true;
}

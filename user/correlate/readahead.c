// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdlib.h>

#include "pieces.h"
#include "readahead.h"

#define PIECE_PAGES 8192U	/* 2 KiB of states, 32 MiB of a file */
#define PIECES_MAX 4096U	/* 8 MiB of memory, 128 GiB of files in reach */

enum state {
	STATE_NONE,	/* not read by a target, or no longer in the cache */
	STATE_READ,
	STATE_MAPPED,	/* since it was read */
};

struct readahead {
	struct pieces states;	/* two bits a page */
	struct readahead_figures figures;
	readahead_sink sink;	/* NULL: nobody listens */
	void *context;
};

struct readahead *readahead_new(void)
{
	struct readahead *readahead = calloc(1, sizeof(*readahead));

	if (readahead)
		readahead->states = (struct pieces){
			.pages = PIECE_PAGES, .bytes = PIECE_PAGES / 4, .max = PIECES_MAX,
		};
	return readahead;
}

void readahead_free(struct readahead *readahead)
{
	if (!readahead)
		return;
	pieces_exit(&readahead->states);
	free(readahead);
}

void readahead_listen(struct readahead *readahead, readahead_sink sink, void *context)
{
	readahead->sink = sink;
	readahead->context = context;
}

static int tell(const struct readahead *readahead, enum readahead_fate fate, uint32_t dev,
		uint64_t inode, uint64_t pgoff)
{
	const struct readahead_page page = {
		.fate = fate, .dev = dev, .inode = inode, .pgoff = pgoff,
	};

	return readahead->sink ? readahead->sink(readahead->context, &page) : 0;
}

static enum state get(const uint8_t *states, uint64_t page)
{
	const unsigned int at = page % PIECE_PAGES;

	return states[at / 4] >> (at % 4 * 2) & 3;
}

static void set(uint8_t *states, uint64_t page, enum state state)
{
	const unsigned int at = page % PIECE_PAGES;
	uint8_t *byte = &states[at / 4];

	*byte = (*byte & ~(3 << (at % 4 * 2))) | state << (at % 4 * 2);
}

static int add_read(struct readahead *readahead, const struct pfstat_block *block, uint64_t pgoff)
{
	void *states;
	int err = pieces_get(&readahead->states, block->fs_dev, block->inode, pgoff, &states);

	if (err)
		return err;
	if (!states) {
		readahead->figures.overflow++;
		return 0;
	}
	/* Still there as we know it: its removal was not told. */
	if (get(states, pgoff) == STATE_READ) {
		readahead->figures.evicted_unused++;
		readahead->figures.idle--;
		err = tell(readahead, READAHEAD_EVICTED, block->fs_dev, block->inode, pgoff);
	}
	readahead->figures.read++;
	readahead->figures.idle++;
	set(states, pgoff, STATE_READ);
	return err ? err : tell(readahead, READAHEAD_READ, block->fs_dev, block->inode, pgoff);
}

int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block)
{
	const uint64_t pages = pieces_read_by(block);
	uint64_t i;
	int err = 0;

	for (i = 0; i < pages && !err; i++)
		err = add_read(readahead, block, block->pgoff + i);
	return err;
}

static int remove_page(struct readahead *readahead, const struct pfstat_page *page,
		       uint64_t pgoff)
{
	uint8_t *states = pieces_find(&readahead->states, page->dev, page->inode, pgoff);
	int err = 0;

	if (!states)
		return 0;
	if (get(states, pgoff) == STATE_READ) {
		readahead->figures.evicted_unused++;
		readahead->figures.idle--;
		err = tell(readahead, READAHEAD_EVICTED, page->dev, page->inode, pgoff);
	}
	set(states, pgoff, STATE_NONE);
	return err;
}

int readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < page->pages && !err; i++)
		err = remove_page(readahead, page, page->pgoff + i);
	return err;
}

int readahead_add_fault(struct readahead *readahead, const struct explained *fault)
{
	uint64_t pgoff = fault->pgoff, pages = 1, i;
	uint8_t *states;
	int err = 0;

	if (!fault->solved || !fault->inode)
		return 0;
	if (fault->around_pages) {
		pgoff -= fault->around_before;
		pages = fault->around_pages;
	} else if (fault->order) {
		pages = 1ULL << fault->order;
		pgoff &= ~(pages - 1);
	}
	for (i = pgoff; i < pgoff + pages && !err; i++) {
		states = pieces_find(&readahead->states, fault->dev, fault->inode, i);
		if (!states || get(states, i) != STATE_READ)
			continue;
		set(states, i, STATE_MAPPED);
		readahead->figures.mapped++;
		readahead->figures.idle--;
		err = tell(readahead, READAHEAD_MAPPED, fault->dev, fault->inode, i);
	}
	return err;
}

void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures)
{
	*figures = readahead->figures;
}

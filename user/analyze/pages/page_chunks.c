// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "analyze/pages/page_chunks.h"

#define PAGE_SIZE 4096

struct piece {
	struct piece *next;	/* of the same key */
	uint64_t inode, number;	/* in the file */
	uint32_t dev;
	_Alignas(8) uint8_t kept[];
};

static void free_pieces(void *value)
{
	struct piece *piece = value, *next;

	for (; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
}

void pieces_exit(struct pieces *pieces)
{
	hash_exit(&pieces->first, free_pieces);
}

static uint64_t key_of(uint32_t dev, uint64_t inode, uint64_t number)
{
	const uint64_t key[] = { dev, inode, number };

	return hash_of(key, sizeof(key));
}

void *pieces_find(const struct pieces *pieces, uint32_t dev, uint64_t inode, uint64_t pgoff)
{
	const uint64_t number = pgoff / pieces->pages;
	struct piece *piece = hash_find(&pieces->first, key_of(dev, inode, number));

	while (piece && (piece->dev != dev || piece->inode != inode || piece->number != number))
		piece = piece->next;
	return piece ? piece->kept : NULL;
}

static struct piece *make(struct pieces *pieces, uint32_t dev, uint64_t inode, uint64_t number)
{
	const uint64_t key = key_of(dev, inode, number);
	struct piece *piece = calloc(1, sizeof(*piece) + pieces->bytes), *first;

	if (!piece)
		return NULL;
	piece->dev = dev;
	piece->inode = inode;
	piece->number = number;
	first = hash_find(&pieces->first, key);
	if (first) {
		piece->next = first->next;
		first->next = piece;
	} else if (hash_add(&pieces->first, key, piece)) {
		free(piece);
		return NULL;
	}
	pieces->nr++;
	return piece;
}

int pieces_get(struct pieces *pieces, uint32_t dev, uint64_t inode, uint64_t pgoff, void **kept)
{
	struct piece *piece;

	*kept = pieces_find(pieces, dev, inode, pgoff);
	if (*kept || pieces->nr == pieces->max)
		return 0;
	piece = make(pieces, dev, inode, pgoff / pieces->pages);
	if (!piece)
		return -ENOMEM;
	*kept = piece->kept;
	return 0;
}

uint64_t pieces_moved_by(const struct pfstat_block *block)
{
	/* A recording may claim more of the file than the request has bytes. */
	const uint64_t bytes = block->file_bytes < block->bytes ? block->file_bytes : block->bytes;

	return block->event.flags & PFSTAT_BLOCK_FILE ? (bytes + PAGE_SIZE - 1) / PAGE_SIZE : 0;
}

uint64_t pieces_read_by(const struct pfstat_block *block)
{
	if (block->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR))
		return 0;
	return pieces_moved_by(block);
}

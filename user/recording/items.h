/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The payload of an ITEMS block, before compression; see recording.h. Pure: from
 * items to bytes and back, no I/O. The decoder trusts nothing.
 */
#ifndef PFSTAT_USER_ITEMS_H
#define PFSTAT_USER_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

/* Kinds of item: a record, events by type, a mapping. */
#define ITEMS_KIND_RECORD      0U
#define ITEMS_KIND_EVENT(type) (1U + (type))
#define ITEMS_NR_FIXED	       ITEMS_KIND_EVENT(PFSTAT_NR_EVENTS)
#define ITEMS_KIND_MAP	       15U

/* With the final 0: longer than any path that the kernel tells. */
#define ITEMS_PATH_MAX 8192U

/* A block is full from here on. Planes of 4096 bytes stay in a CPU's second cache. */
#define ITEMS_FULL	 4096U
#define ITEMS_FULL_BYTES (1U << 20)

/* An array that grows. */
struct items_pile {
	uint8_t *bytes;
	size_t used, room;
};

/* Items on their way into a block; all zero is none. */
struct items {
	uint32_t count;
	uint8_t kinds[ITEMS_FULL];
	struct items_pile fixed[ITEMS_NR_FIXED];
	struct items_pile maps;
};

/*
 * -EINVAL: not an item of this version; -ENAMETOOLONG, -ENOMEM. There must be
 * room, see items_full().
 */
int items_add(struct items *items, const struct item *item);
bool items_full(const struct items *items);
/* What items_encode() writes, at most, bytes. */
size_t items_size(const struct items *items);
/* Into items_size() bytes; returns how many it took. Then there are no items. */
size_t items_encode(struct items *items, uint8_t *raw);
void items_exit(struct items *items);

/* Decoded at once. */
#define ITEMS_BATCH	64U
#define ITEMS_MAX_WORDS (sizeof(struct pfstat_stack) / 8)

/* Where the decoder is among the items of one kind. */
struct items_cursor {
	const uint8_t *planes[8 * ITEMS_MAX_WORDS]; /* NULL: 0 in every item */
	uint8_t masks[ITEMS_MAX_WORDS];		    /* which of a word's eight are there */
	uint32_t nr, decoded, taken;
	uint64_t before[ITEMS_MAX_WORDS]; /* the last one decoded */
	uint64_t batch[ITEMS_BATCH * ITEMS_MAX_WORDS];
};

struct items_decoder {
	const uint8_t *kinds;
	uint32_t nr, taken;
	struct items_cursor fixed[ITEMS_NR_FIXED];
	const uint8_t *maps, *end;
	struct pfstat_off_cpu off_cpu; /* the last one of version 1 */
	uint64_t map[(sizeof(struct item_map) + ITEMS_PATH_MAX) / 8];
};

/* Must be readable behind the raw bytes; what they hold does not matter. */
#define ITEMS_PADDING 8

/*
 * The raw bytes must stay while they are decoded. -EBADMSG: sizes and counts do not
 * agree, or a kind is unknown.
 */
int items_begin(struct items_decoder *decoder, const uint8_t *raw, size_t size);
/* 1 and the next item, which stays until the next call; 0: no more; -EBADMSG. */
int items_next(struct items_decoder *decoder, struct item *item);

#endif

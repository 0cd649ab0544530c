/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The payload of an ITEMS block before compression, see recording.h. Converts items to bytes and
 * back. Pure, without I/O. The decoder validates everything it reads.
 */
#ifndef PFSTAT_USER_ITEMS_H
#define PFSTAT_USER_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

/* Item kinds: a record, events by type, a mapping, and the later types of events. */
#define ITEMS_KIND_RECORD      0U
#define ITEMS_KIND_MAP	       15U
#define ITEMS_KIND_EVENT(type) (1U + (type) + ((type) + 1U >= ITEMS_KIND_MAP))
#define ITEMS_NR_FIXED	       ITEMS_KIND_EVENT(PFSTAT_NR_EVENTS)

/* With the final 0. Longer than any path the kernel reports. */
#define ITEMS_PATH_MAX 8192U

/* A block is full from this number of items. Planes of 4096 bytes fit in the L2 cache. */
#define ITEMS_FULL	 4096U
#define ITEMS_FULL_BYTES (1U << 20)

/* A growing array. */
struct items_pile {
	uint8_t *bytes;
	size_t used, room;
};

/* Items to be put into a block. All zero is empty. */
struct items {
	uint32_t count;
	uint8_t kinds[ITEMS_FULL];
	struct items_pile fixed[ITEMS_NR_FIXED];
	struct items_pile maps;
};

/*
 * Returns -EINVAL for an item that is not from this version, or -ENAMETOOLONG, -ENOMEM. The block
 * must not be full, see items_full().
 */
int items_add(struct items *items, const struct item *item);
bool items_full(const struct items *items);
/* Maximum number of bytes written by items_encode(). */
size_t items_size(const struct items *items);
/* Encodes into items_size() bytes, and returns how many were used. The items stay. */
size_t items_encode(const struct items *items, uint8_t *raw);
/* Removes all items, but keeps the memory for the next ones. */
void items_clear(struct items *items);
void items_exit(struct items *items);

/* Number of items decoded at a time. */
#define ITEMS_BATCH	64U
#define ITEMS_MAX_WORDS (sizeof(struct pfstat_stack) / 8)

/* The decoder's position among items of one kind. */
struct items_cursor {
	const uint8_t *planes[8 * ITEMS_MAX_WORDS]; /* NULL: 0 in every item */
	uint8_t masks[ITEMS_MAX_WORDS];		    /* which bytes in each word are stored */
	uint32_t nr, decoded, taken;
	uint64_t before[ITEMS_MAX_WORDS]; /* the last item decoded */
	uint64_t batch[ITEMS_BATCH * ITEMS_MAX_WORDS];
};

struct items_decoder {
	const uint8_t *kinds;
	uint32_t nr, taken;
	struct items_cursor fixed[ITEMS_NR_FIXED];
	const uint8_t *maps, *end;
	size_t record_words;
	struct pfstat_record record;   /* the last one from an earlier version, converted */
	struct pfstat_off_cpu off_cpu; /* the last version 1 event, converted */
	uint64_t map[(sizeof(struct item_map) + ITEMS_PATH_MAX) / 8];
};

/* Bytes that must be readable after the raw bytes. Their values do not matter. */
#define ITEMS_PADDING 8

/*
 * The raw bytes must stay valid during decoding. @abi: the version of the records. -EBADMSG: sizes
 * and counts do not agree, or a kind is unknown.
 */
int items_begin(struct items_decoder *decoder, uint32_t abi, const uint8_t *raw, size_t size);
/*
 * Returns 1 and the next item, valid until the next call, 0 if there are no more items, or
 * -EBADMSG.
 */
int items_next(struct items_decoder *decoder, struct item *item);

#endif

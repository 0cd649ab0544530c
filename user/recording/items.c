// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encodes and decodes a block's items. Neighbours are similar, so most bytes in their differences
 * are 0. Bytes at the same place in each item are stored together in a separate plane, which
 * compresses best.
 *
 *	items		words, as differences	planes
 *	a7 a6 … a0	00 00 … 03		03 05 02 …	(byte 0 of every item)
 *	b7 b6 … b0	00 00 … 05		…
 *	c7 c6 … c0	00 00 … 02		00 00 00 …	(byte 7: left out)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/item_valid.h"
#include "recording/items.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "items are stored as they are in memory");
_Static_assert(sizeof(struct item_map) == 64, "format");

/* Structs are read through pointers to words. */
typedef uint64_t __attribute__((may_alias)) word;

#define TILE 8 /* items encoded at a time: one for each byte in a word */

#define EVENT_WORDS(name, spelling) \
	[ITEMS_KIND_EVENT(PFSTAT_EVENT_##name)] = sizeof(struct pfstat_##spelling) / sizeof(word),

/* 0 for mappings, whose size differs. */
static const uint8_t nr_words[ITEMS_NR_FIXED] = {
	[ITEMS_KIND_RECORD] = sizeof(struct pfstat_record) / sizeof(word),
	PFSTAT_EVENTS(EVENT_WORDS)
};

static int pile_add(struct items_pile *pile, const void *bytes, size_t size)
{
	size_t room = pile->room ? pile->room : 4096;
	uint8_t *grown;

	while (room < pile->used + size)
		room *= 2;
	if (room != pile->room) {
		grown = realloc(pile->bytes, room);
		if (!grown)
			return -ENOMEM;
		pile->bytes = grown;
		pile->room = room;
	}
	memcpy(pile->bytes + pile->used, bytes, size);
	pile->used += size;
	return 0;
}

static int add_fixed(struct items *items, uint8_t kind, const void *item)
{
	int err = pile_add(&items->fixed[kind], item, 8 * nr_words[kind]);

	if (!err)
		items->kinds[items->count++] = kind;
	return err;
}

static int add_map(struct items *items, const struct item_map *map)
{
	int err;

	if (map->path_bytes > ITEMS_PATH_MAX)
		return -ENAMETOOLONG;
	if (!item_valid_map(map))
		return -EINVAL;
	err = pile_add(&items->maps, map, sizeof(*map) + map->path_bytes);
	if (!err)
		items->kinds[items->count++] = ITEMS_KIND_MAP;
	return err;
}

int items_add(struct items *items, const struct item *item)
{
	switch (item->type) {
	case ITEM_RECORD:
		return item_valid_record(item->record) ?
			       add_fixed(items, ITEMS_KIND_RECORD, item->record) :
			       -EINVAL;
	case ITEM_EVENT:
		return item->event->type != PFSTAT_EVENT_OFF_CPU_1 &&
				       item_valid_event(item->event, item->event->size) ?
			       add_fixed(items, ITEMS_KIND_EVENT(item->event->type), item->event) :
			       -EINVAL;
	case ITEM_MAP:
		return add_map(items, item->map);
	default:
		return -EINVAL;
	}
}

size_t items_size(const struct items *items)
{
	size_t size = sizeof(items->count) + items->count + items->maps.used;
	unsigned int kind;

	for (kind = 0; kind < ITEMS_NR_FIXED; kind++)
		size += nr_words[kind] + items->fixed[kind].used;
	return size;
}

bool items_full(const struct items *items)
{
	return items->count == ITEMS_FULL || items->maps.used >= ITEMS_FULL_BYTES;
}

void items_exit(struct items *items)
{
	unsigned int kind;

	for (kind = 0; kind < ITEMS_NR_FIXED; kind++)
		free(items->fixed[kind].bytes);
	free(items->maps.bytes);
	*items = (struct items){ 0 };
}

static inline void swap_bits(uint64_t *low, uint64_t *high, unsigned int shift, uint64_t mask)
{
	const uint64_t differ = ((*low >> shift) ^ *high) & mask;

	*high ^= differ;
	*low ^= differ << shift;
}

/* Transposes 8 × 8 bytes. The function is also the inverse. */
__attribute__((always_inline)) static inline void transpose(uint64_t tile[TILE])
{
	const uint64_t bytes = 0x00ff00ff00ff00ff, shorts = 0x0000ffff0000ffff;
	const uint64_t halves = 0x00000000ffffffff;

	swap_bits(&tile[0], &tile[1], 8, bytes);
	swap_bits(&tile[2], &tile[3], 8, bytes);
	swap_bits(&tile[4], &tile[5], 8, bytes);
	swap_bits(&tile[6], &tile[7], 8, bytes);
	swap_bits(&tile[0], &tile[2], 16, shorts);
	swap_bits(&tile[1], &tile[3], 16, shorts);
	swap_bits(&tile[4], &tile[6], 16, shorts);
	swap_bits(&tile[5], &tile[7], 16, shorts);
	swap_bits(&tile[0], &tile[4], 32, halves);
	swap_bits(&tile[1], &tile[5], 32, halves);
	swap_bits(&tile[2], &tile[6], 32, halves);
	swap_bits(&tile[3], &tile[7], 32, halves);
}

/* Maps small numbers of either sign to small numbers: 0, -1, 1, -2, … become 0, 1, 2, 3, … . */
static inline uint64_t folded(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t unfolded(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

/*
 * Computes the differences of one word in all items. Returns a mask of the bytes that are nonzero
 * in at least one item.
 */
static uint8_t differences_of(const word *words, size_t nr, size_t stride, uint64_t *differences)
{
	uint64_t before = 0, any = 0;
	unsigned int byte;
	uint8_t mask = 0;
	size_t i;

	for (i = 0; i < nr; i++, words += stride) {
		differences[i] = folded(*words - before);
		before = *words;
		any |= differences[i];
	}
	for (byte = 0; byte < 8; byte++)
		mask |= (any >> 8 * byte & 0xff ? 1 : 0) << byte;
	return mask;
}

/* Writes the differences for up to TILE items as bytes in the stored planes. */
static void encode_tile(uint8_t *planes, size_t nr, uint8_t mask, const uint64_t *differences,
			size_t count)
{
	uint64_t tile[TILE] = { 0 };
	unsigned int byte;

	memcpy(tile, differences, count * sizeof(*tile));
	transpose(tile);
	for (byte = 0; byte < 8; byte++) {
		if (!(mask & 1 << byte))
			continue;
		memcpy(planes, &tile[byte], count);
		planes += nr;
	}
}

static uint8_t *encode_word(uint8_t *planes, size_t nr, uint8_t mask, const uint64_t *differences)
{
	size_t first;

	for (first = 0; mask && first < nr; first += TILE)
		encode_tile(planes + first, nr, mask, differences + first,
			    nr - first < TILE ? nr - first : TILE);
	return planes + __builtin_popcount(mask) * nr;
}

static uint8_t *encode_fixed(uint8_t *raw, const struct items_pile *pile, size_t words)
{
	const size_t nr = words ? pile->used / (8 * words) : 0;
	uint64_t differences[ITEMS_FULL];
	uint8_t *planes = raw + words;
	size_t at;

	if (!nr)
		return raw;
	for (at = 0; at < words; at++) {
		raw[at] = differences_of((const word *)pile->bytes + at, nr, words, differences);
		planes = encode_word(planes, nr, raw[at], differences);
	}
	return planes;
}

size_t items_encode(const struct items *items, uint8_t *raw)
{
	const uint8_t *const begin = raw;
	unsigned int kind;

	raw = mempcpy(raw, &items->count, sizeof(items->count));
	raw = mempcpy(raw, items->kinds, items->count);
	for (kind = 0; kind < ITEMS_NR_FIXED; kind++)
		raw = encode_fixed(raw, &items->fixed[kind], nr_words[kind]);
	if (items->maps.used)
		raw = mempcpy(raw, items->maps.bytes, items->maps.used);
	return raw - begin;
}

void items_clear(struct items *items)
{
	unsigned int kind;

	for (kind = 0; kind < ITEMS_NR_FIXED; kind++)
		items->fixed[kind].used = 0;
	items->maps.used = 0;
	items->count = 0;
}

/* Returns the address after the planes of this kind, or NULL if the data is too short. */
static const uint8_t *place_cursor(struct items_cursor *cursor, size_t words, uint32_t nr,
				   const uint8_t *raw, const uint8_t *end)
{
	const uint8_t *planes = raw + words;
	size_t plane;

	cursor->nr = nr;
	cursor->decoded = 0;
	cursor->taken = 0;
	if (!nr)
		return raw;
	if (words > (size_t)(end - raw))
		return NULL;
	memset(cursor->before, 0, sizeof(cursor->before));
	memcpy(cursor->masks, raw, words);
	for (plane = 0; plane < 8 * words; plane++) {
		cursor->planes[plane] = NULL;
		if (!(cursor->masks[plane / 8] & 1 << plane % 8))
			continue;
		if (nr > (size_t)(end - planes))
			return NULL;
		cursor->planes[plane] = planes;
		planes += nr;
	}
	return planes;
}

/* Maps take the remaining bytes. */
static int place_cursors(struct items_decoder *decoder, const uint8_t *raw, const uint32_t *counts)
{
	unsigned int kind;

	raw = place_cursor(&decoder->fixed[ITEMS_KIND_RECORD], decoder->record_words,
			   counts[ITEMS_KIND_RECORD], raw, decoder->end);
	for (kind = ITEMS_KIND_RECORD + 1; raw && kind < ITEMS_NR_FIXED; kind++)
		raw = place_cursor(&decoder->fixed[kind], nr_words[kind], counts[kind], raw,
				   decoder->end);
	decoder->maps = raw;
	return raw && (counts[ITEMS_KIND_MAP] || raw == decoder->end) ? 0 : -EBADMSG;
}

int items_begin(struct items_decoder *decoder, uint32_t abi, const uint8_t *raw, size_t size)
{
	uint32_t counts[ITEMS_NR_FIXED] = { 0 };
	uint32_t i;

	decoder->taken = 0;
	decoder->nr = 0;
	decoder->record_words =
		(abi < PFSTAT_ABI_SPANS ? PFSTAT_RECORD_8_BYTES : sizeof(struct pfstat_record)) /
		sizeof(word);
	if (size < sizeof(decoder->nr))
		return -EBADMSG;
	memcpy(&decoder->nr, raw, sizeof(decoder->nr));
	decoder->kinds = raw + sizeof(decoder->nr);
	decoder->end = raw + size;
	if (decoder->nr > size - sizeof(decoder->nr))
		return -EBADMSG;
	for (i = 0; i < decoder->nr; i++) {
		if (decoder->kinds[i] >= ITEMS_NR_FIXED)
			return -EBADMSG;
		counts[decoder->kinds[i]]++;
	}
	return place_cursors(decoder, decoder->kinds + decoder->nr, counts);
}

/* Decodes one word for TILE items. Entries after the last item are undefined. */
static inline void decode_tile(const uint8_t *const *planes, size_t first, uint64_t tile[TILE])
{
	unsigned int byte;

	for (byte = 0; byte < 8; byte++) {
		tile[byte] = 0;
		if (planes[byte])
			memcpy(&tile[byte], planes[byte] + first, 8);
	}
	transpose(tile);
}

/* Decodes one word in a batch of items. */
static inline uint64_t decode_word(const uint8_t *const *planes, size_t first, size_t count,
				   uint64_t value, word *out, size_t stride)
{
	const size_t end = first + count;
	uint64_t tile[TILE];
	unsigned int i;

	for (; first < end; first += TILE) {
		decode_tile(planes, first, tile);
		for (i = 0; i < TILE; i++, out += stride) {
			value += unfolded(tile[i]);
			*out = value;
		}
	}
	return value;
}

static inline void decode_batch(struct items_cursor *cursor, size_t words)
{
	const size_t left = cursor->nr - cursor->decoded;
	const size_t count = left < ITEMS_BATCH ? left : ITEMS_BATCH;
	word *out = (word *)cursor->batch;
	size_t at, i;

	for (at = 0; at < words; at++, out++) {
		if (cursor->masks[at])
			cursor->before[at] = decode_word(&cursor->planes[8 * at], cursor->decoded,
							 count, cursor->before[at], out, words);
		else /* the word is the same in all items */
			for (i = 0; i < count; i++)
				out[i * words] = 0;
	}
	cursor->decoded += count;
}

static const void *take_fixed(struct items_cursor *cursor, size_t words)
{
	if (cursor->taken == cursor->decoded) {
		/* Most items are records, so they get a copy of the loop with a constant count. */
		if (words == sizeof(struct pfstat_record) / sizeof(word))
			decode_batch(cursor, sizeof(struct pfstat_record) / sizeof(word));
		else
			decode_batch(cursor, words);
	}
	return &cursor->batch[words * (cursor->taken++ % ITEMS_BATCH)];
}

/* Copies the map, so the numbers in it are aligned. NULL if the bytes are not a valid map. */
static const struct item_map *take_map(struct items_decoder *decoder)
{
	const size_t left = decoder->end - decoder->maps;
	struct item_map *map = (void *)decoder->map;
	size_t size;

	if (left < sizeof(*map))
		return NULL;
	memcpy(map, decoder->maps, sizeof(*map));
	size = sizeof(*map) + map->path_bytes;
	if (map->path_bytes > ITEMS_PATH_MAX || size > left)
		return NULL;
	memcpy(map->path, decoder->maps + sizeof(*map), map->path_bytes);
	decoder->maps += size;
	return item_valid_map(map) ? map : NULL;
}

static int next_map(struct items_decoder *decoder, struct item *item)
{
	const struct item_map *map = take_map(decoder);

	if (!map)
		return -EBADMSG;
	*item = (struct item){ .type = ITEM_MAP, .ns = map->ns, .map = map };
	return 1;
}

/* Converts a version 1 off-CPU event to the current type, with total_ns unknown. */
static const struct pfstat_event *with_total(struct items_decoder *decoder,
					     const struct pfstat_event *event)
{
	struct pfstat_off_cpu *interval = &decoder->off_cpu;

	memcpy(interval, event, event->size);
	interval->event.type = PFSTAT_EVENT_OFF_CPU;
	interval->event.size = sizeof(*interval);
	interval->total_ns = 0;
	return &interval->event;
}

static int next_event(struct items_decoder *decoder, unsigned int kind, struct item *item)
{
	const struct pfstat_event *event = take_fixed(&decoder->fixed[kind], nr_words[kind]);

	if (ITEMS_KIND_EVENT(event->type) != kind || !item_valid_event(event, 8 * nr_words[kind]))
		return -EBADMSG;
	if (event->type == PFSTAT_EVENT_OFF_CPU_1)
		event = with_total(decoder, event);
	*item = (struct item){ .type = ITEM_EVENT, .ns = event->ns, .event = event };
	return 1;
}

static int next_record(struct items_decoder *decoder, struct item *item)
{
	const size_t words = decoder->record_words;
	const struct pfstat_record *record;

	record = take_fixed(&decoder->fixed[ITEMS_KIND_RECORD], words);
	if (words * sizeof(word) < sizeof(*record)) {
		memcpy(&decoder->record, record, words * sizeof(word));
		record = &decoder->record;
	}
	if (!item_valid_record(record))
		return -EBADMSG;
	*item = (struct item){
		.type = ITEM_RECORD,
		.ns = item_record_end_ns(record),
		.record = record,
	};
	return 1;
}

int items_next(struct items_decoder *decoder, struct item *item)
{
	unsigned int kind;

	if (decoder->taken == decoder->nr)
		return decoder->maps == decoder->end ? 0 : -EBADMSG;
	kind = decoder->kinds[decoder->taken++];
	if (kind == ITEMS_KIND_RECORD)
		return next_record(decoder, item);
	if (kind == ITEMS_KIND_MAP)
		return next_map(decoder, item);
	return next_event(decoder, kind, item);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds events between reading and passing them on. Their bytes lie in one buffer, in arrival
 * order. The entries are sorted by time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/reorder_queue.h"

struct queue_entry {
	uint64_t ns;
	size_t offset; /* into bytes */
	uint32_t size;
	enum item_type type;
};

#define FIRST_ENTRIES 256
#define FIRST_BYTES   16384

/* Comparisons for each entry, above which the new ones are not nearly in order. */
#define INSERT_MAX 16

void reorder_queue_exit(struct reorder_queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	*queue = (struct reorder_queue){ 0 };
}

static int queue_grow(void **array, size_t *capacity, size_t needed, size_t first, size_t size)
{
	size_t more = *capacity ? *capacity : first;
	void *grown;

	while (more < needed)
		more *= 2;
	if (more == *capacity)
		return 0;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = more;
	return 0;
}

static int queue_append(struct reorder_queue *queue, enum item_type type, uint64_t ns,
			const void *data, size_t size)
{
	const size_t aligned = (size + 7) & ~(size_t)7;
	int err;

	err = queue_grow((void **)&queue->entries, &queue->capacity, queue->count + 1,
			 FIRST_ENTRIES, sizeof(*queue->entries));
	if (!err)
		err = queue_grow((void **)&queue->bytes, &queue->room, queue->used + aligned,
				 FIRST_BYTES, 1);
	if (err)
		return err;
	memcpy(queue->bytes + queue->used, data, size);
	queue->entries[queue->count++] = (struct queue_entry){
		.ns = ns,
		.offset = queue->used,
		.size = size,
		.type = type,
	};
	queue->used += aligned;
	return 0;
}

/*
 * Removes the entries that were taken. Their bytes lie among the bytes of the rest, which is small:
 * what one drain leaves to the next.
 */
static int queue_forget_taken(struct reorder_queue *queue)
{
	struct reorder_queue rest = { 0 };
	struct item item;
	size_t size;
	int err = 0;

	if (!queue->first)
		return 0;
	if (!reorder_queue_any(queue)) {
		queue->first = 0;
		queue->count = 0;
		queue->used = 0;
		return 0;
	}
	while (!err && reorder_queue_any(queue)) {
		size = queue->entries[queue->first].size;
		item = reorder_queue_take(queue);
		err = queue_append(&rest, item.type, item.ns, item.event, size);
	}
	reorder_queue_exit(queue);
	*queue = rest;
	return err;
}

int reorder_queue_add(struct reorder_queue *queue, enum item_type type, uint64_t ns,
		      const void *data, size_t size)
{
	int err = queue_forget_taken(queue);

	return err ? err : queue_append(queue, type, ns, data, size);
}

/* Bytes lie in the order in which they came: equal times keep it. */
static bool queue_is_later(const struct queue_entry *a, const struct queue_entry *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a->offset > b->offset;
}

static int queue_by_time(const void *a, const void *b, void *compared)
{
	++*(uint64_t *)compared;
	return queue_is_later(a, b) - queue_is_later(b, a);
}

/* Among those before it, which are in order. */
static uint64_t queue_insert(struct queue_entry *entries, size_t number)
{
	const struct queue_entry entry = entries[number];
	size_t at = number;

	for (; at > 0 && queue_is_later(&entries[at - 1], &entry); at--)
		entries[at] = entries[at - 1];
	entries[at] = entry;
	return number - at + 1;
}

/*
 * New entries are nearly sorted, and inserted. But the mappings a process had when it was found
 * have time 0, and lie behind a whole ring's events: each would be moved past all these events.
 */
uint64_t reorder_queue_sort(struct reorder_queue *queue)
{
	const size_t count = queue->count - queue->first;
	struct queue_entry *entries;
	uint64_t compared = 0;
	size_t i;

	if (!count)
		return 0;
	entries = queue->entries + queue->first;
	for (i = 1; i < count && compared < INSERT_MAX * count; i++)
		compared += queue_insert(entries, i);
	if (i < count)
		qsort_r(entries, count, sizeof(*entries), queue_by_time, &compared);
	return compared;
}

bool reorder_queue_any(const struct reorder_queue *queue)
{
	return queue->first < queue->count;
}

uint64_t reorder_queue_next_ns(const struct reorder_queue *queue)
{
	return reorder_queue_any(queue) ? queue->entries[queue->first].ns : UINT64_MAX;
}

struct item reorder_queue_take(struct reorder_queue *queue)
{
	const struct queue_entry *entry = &queue->entries[queue->first++];
	const void *data = queue->bytes + entry->offset;
	struct item item = { .type = entry->type, .ns = entry->ns };

	if (entry->type == ITEM_MAP)
		item.map = data;
	else
		item.event = data;
	return item;
}

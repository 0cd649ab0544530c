// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

struct queue_entry {
	uint64_t ns;
	size_t offset;		/* into bytes */
	uint32_t size;
	enum item_type type;
};

#define FIRST_ENTRIES 256
#define FIRST_BYTES 16384

void queue_exit(struct queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	*queue = (struct queue){ 0 };
}

static int grow(void **array, size_t *capacity, size_t needed, size_t first, size_t size)
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

static int append(struct queue *queue, enum item_type type, uint64_t ns, const void *data,
		  size_t size)
{
	const size_t aligned = (size + 7) & ~(size_t)7;
	int err;

	err = grow((void **)&queue->entries, &queue->capacity, queue->count + 1, FIRST_ENTRIES,
		   sizeof(*queue->entries));
	if (!err)
		err = grow((void **)&queue->bytes, &queue->room, queue->used + aligned,
			   FIRST_BYTES, 1);
	if (err)
		return err;
	memcpy(queue->bytes + queue->used, data, size);
	queue->entries[queue->count++] = (struct queue_entry){
		.ns = ns, .offset = queue->used, .size = size, .type = type,
	};
	queue->used += aligned;
	return 0;
}

/*
 * What was taken makes room. Its bytes lie among those of the rest, which is
 * little then: what one drain left to the next.
 */
static int forget_taken(struct queue *queue)
{
	struct queue rest = { 0 };
	struct item item;
	size_t size;
	int err = 0;

	if (!queue->first)
		return 0;
	if (!queue_any(queue)) {
		queue->first = 0;
		queue->count = 0;
		queue->used = 0;
		return 0;
	}
	while (!err && queue_any(queue)) {
		size = queue->entries[queue->first].size;
		item = queue_take(queue);
		err = append(&rest, item.type, item.ns, item.event, size);
	}
	queue_exit(queue);
	*queue = rest;
	return err;
}

int queue_add(struct queue *queue, enum item_type type, uint64_t ns, const void *data, size_t size)
{
	int err = forget_taken(queue);

	return err ? err : append(queue, type, ns, data, size);
}

/* By insertion: nearly sorted, and equal times keep their order. */
void queue_sort(struct queue *queue)
{
	struct queue_entry *entries, entry;
	const size_t count = queue->count - queue->first;
	size_t i, at;

	if (!count)
		return;
	entries = queue->entries + queue->first;
	for (i = 1; i < count; i++) {
		entry = entries[i];
		for (at = i; at > 0 && entries[at - 1].ns > entry.ns; at--)
			entries[at] = entries[at - 1];
		entries[at] = entry;
	}
}

bool queue_any(const struct queue *queue)
{
	return queue->first < queue->count;
}

uint64_t queue_next_ns(const struct queue *queue)
{
	return queue_any(queue) ? queue->entries[queue->first].ns : UINT64_MAX;
}

struct item queue_take(struct queue *queue)
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

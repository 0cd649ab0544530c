/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that were read and cannot be passed on yet. They arrive nearly in time order (CPUs
 * overtake each other by moments) and leave in time order.
 */
#ifndef PFSTAT_USER_REORDER_QUEUE_H
#define PFSTAT_USER_REORDER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

struct queue_entry;

/* All zero is an empty one. */
struct reorder_queue {
	struct queue_entry *entries; /* first … count: still here */
	size_t first, count, capacity;
	char *bytes; /* for all entries */
	size_t used, room;
};

void reorder_queue_exit(struct reorder_queue *queue);

/* Copies `size` bytes of an event or map. -ENOMEM. */
int reorder_queue_add(struct reorder_queue *queue, enum item_type type, uint64_t ns,
		      const void *data, size_t size);
/* Sorts the added entries. Call it before the next two. Returns the number of comparisons. */
uint64_t reorder_queue_sort(struct reorder_queue *queue);
bool reorder_queue_any(const struct reorder_queue *queue);
/* The oldest entry's time. UINT64_MAX: there is none. */
uint64_t reorder_queue_next_ns(const struct reorder_queue *queue);
/* The oldest entry, which stays until something is added. There must be one. */
struct item reorder_queue_take(struct reorder_queue *queue);

#endif

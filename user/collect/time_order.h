/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts items from several sources in time order: a heap, a queue, and a merge of rings. */
#ifndef PFSTAT_USER_TIME_ORDER_H
#define PFSTAT_USER_TIME_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/record_ring.h"
#include "model/item.h"

struct queue_entry;

/*
 * Merges several sources (a ring per CPU, mostly) by time, with a binary heap of the next item's
 * time in each source. The cost per item grows with the logarithm of the number of sources. At
 * equal times the source with the lowest number comes first.
 */

struct time_heap_entry {
	uint64_t ns; /* the source's next item */
	unsigned int source;
};

/* All zero is an empty one without room. */
struct time_heap {
	struct time_heap_entry *entries; /* the first is the oldest */
	size_t count;
};

/* Makes room for this many sources. -ENOMEM. */
int time_heap_init(struct time_heap *heap, size_t nr_sources);
void time_heap_exit(struct time_heap *heap);

/* A source not in the heap. There must be room. */
void time_heap_add(struct time_heap *heap, uint64_t ns, unsigned int source);
/* The source whose next item is the oldest. It and the next two need one that is not empty. */
unsigned int time_heap_first(const struct time_heap *heap);
/* The first source's item was consumed. @ns is the time of the next one. */
void time_heap_update_first(struct time_heap *heap, uint64_t ns);
/* The first source has no more items. */
void time_heap_remove_first(struct time_heap *heap);

/*
 * Events that were read and cannot be passed on yet. They arrive nearly in time order (CPUs
 * overtake each other by moments) and leave in time order.
 */

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

/*
 * Merges the records in all rings by their end time, one time window after the other:
 *
 *	ring 0	| a   d | e	  |	gather: ring after ring	   a d b c
 *	ring 1	|  b c  |   f     |	sort by the digits of ns   a b c d
 *		  window   the next	pass on, then publish the tails
 *
 * Each record is read and moved equally often for any number of CPUs, and each ring is read in one
 * go. A window's width follows the record density. At equal times the first ring's record comes
 * first.
 */

struct merged_record {
	uint64_t ns; /* at which it ended */
	const struct pfstat_record *record;
};

/* Takes the record, which stays in the ring until the return. 0, or a negative errno. */
typedef int (*record_merge_sink)(void *context, const struct merged_record *merged);

struct record_merge {
	struct record_ring *rings;
	unsigned int nr_rings;
	size_t max; /* records per window */
	struct merged_record *window, *spare;
	size_t count;
	bool in_order; /* the window is, as it was gathered */
	uint64_t width_ns;
	uint64_t steps; /* looks at a record or a ring, and record moves, since the init */
};

/* The caller still owns the rings. 0 or -ENOMEM. */
int record_merge_init(struct record_merge *merge, struct record_ring *rings, unsigned int nr_rings);
void record_merge_exit(struct record_merge *merge);

/*
 * Passes all records up to the last record_ring_look() that ended until then. Returns the sink's
 * error. -EBADMSG: a record has a wrong sequence number. The window before it was passed.
 */
int record_merge_pass(struct record_merge *merge, uint64_t until_ns, record_merge_sink sink,
		      void *context);

#endif

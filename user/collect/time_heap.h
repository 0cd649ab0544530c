/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges several sources (a ring per CPU, mostly) by time, with a binary heap of the next item's
 * time in each source. The cost per item grows with the logarithm of the number of sources. At
 * equal times the source with the lowest number comes first.
 */
#ifndef PFSTAT_USER_TIME_HEAP_H
#define PFSTAT_USER_TIME_HEAP_H

#include <stddef.h>
#include <stdint.h>

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

#endif

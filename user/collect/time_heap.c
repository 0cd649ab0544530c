// SPDX-License-Identifier: GPL-2.0-only
/* A binary heap, so merging many CPUs' rings costs the logarithm of their number. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collect/time_heap.h"

int time_heap_init(struct time_heap *heap, size_t nr_sources)
{
	heap->count = 0;
	heap->entries = calloc(nr_sources ? nr_sources : 1, sizeof(*heap->entries));
	return heap->entries ? 0 : -ENOMEM;
}

void time_heap_exit(struct time_heap *heap)
{
	free(heap->entries);
	*heap = (struct time_heap){ 0 };
}

static bool time_heap_is_before(const struct time_heap_entry *a, const struct time_heap_entry *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->source < b->source;
}

void time_heap_add(struct time_heap *heap, uint64_t ns, unsigned int source)
{
	const struct time_heap_entry entry = { .ns = ns, .source = source };
	size_t at = heap->count++;

	for (; at && time_heap_is_before(&entry, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
		heap->entries[at] = heap->entries[(at - 1) / 2];
	heap->entries[at] = entry;
}

unsigned int time_heap_first(const struct time_heap *heap)
{
	return heap->entries[0].source;
}

/* From the root down, to where both children are later. */
static void time_heap_put_down(struct time_heap *heap, struct time_heap_entry entry)
{
	struct time_heap_entry *entries = heap->entries;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    time_heap_is_before(&entries[child + 1], &entries[child]))
			child++;
		if (!time_heap_is_before(&entries[child], &entry))
			break;
		entries[at] = entries[child];
		at = child;
	}
	entries[at] = entry;
}

void time_heap_update_first(struct time_heap *heap, uint64_t ns)
{
	const unsigned int source = heap->entries[0].source;

	time_heap_put_down(heap, (struct time_heap_entry){ .ns = ns, .source = source });
}

void time_heap_remove_first(struct time_heap *heap)
{
	if (--heap->count)
		time_heap_put_down(heap, heap->entries[heap->count]);
}

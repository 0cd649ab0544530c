// SPDX-License-Identifier: GPL-2.0-only
/* Puts records and events from several sources in time order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/time_order.h"
#include "model/item.h"

/* A binary heap, so merging many CPUs' rings costs the logarithm of their number. */

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

/*
 * Holds events between reading and passing them on. Their bytes lie in one buffer, in arrival
 * order. The entries are sorted by time.
 */

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

/*
 * Merges the rings for the collector. A window has at most `max` records. If it has more, half the
 * time is tried. A radix sort orders the records in a window by the bytes of their time, the lowest
 * byte first.
 */

/* A window's entries fit into the L1 cache, the records into the L2 cache. */
#define WINDOW_RECORDS 1024U
/* The minimum for each ring: the records that a ring has in a window share a look at the ring. */
#define RING_RECORDS 16U
/* Fewer records are sorted by comparisons. */
#define FEW_RECORDS    32U
#define FIRST_WIDTH_NS (1U << 20)

int record_merge_init(struct record_merge *merge, struct record_ring *rings, unsigned int nr_rings)
{
	size_t max = RING_RECORDS * (size_t)nr_rings;

	if (max < WINDOW_RECORDS)
		max = WINDOW_RECORDS;
	*merge = (struct record_merge){
		.rings = rings,
		.nr_rings = nr_rings,
		.max = max,
		.window = calloc(max, sizeof(*merge->window)),
		.spare = calloc(max, sizeof(*merge->spare)),
		.width_ns = FIRST_WIDTH_NS,
	};
	if (merge->window && merge->spare)
		return 0;
	record_merge_exit(merge);
	return -ENOMEM;
}

void record_merge_exit(struct record_merge *merge)
{
	free(merge->window);
	free(merge->spare);
	*merge = (struct record_merge){ 0 };
}

/* Returns false if the ring has no more, or an invalid record. */
static bool record_merge_look(struct record_merge *merge, const struct record_ring *ring,
			      struct merged_record *merged, int *err)
{
	merge->steps++;
	merged->record = record_ring_peek(ring, err);
	if (!merged->record)
		return false;
	merged->ns = item_record_end_ns(merged->record);
	return true;
}

/* The oldest end time among the rings' next records. UINT64_MAX: there is none. */
static uint64_t record_merge_oldest(struct record_merge *merge, int *err)
{
	struct merged_record merged;
	uint64_t oldest_ns = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < merge->nr_rings; i++)
		if (record_merge_look(merge, &merge->rings[i], &merged, err) &&
		    merged.ns < oldest_ns)
			oldest_ns = merged.ns;
	return oldest_ns;
}

/*
 * Moves the ring behind the records in the window. Returns false if they do not all fit, which a
 * narrower window avoids. All records in one nanosecond may pass in any order, so these need not
 * fit.
 */
static bool record_merge_gather_ring(struct record_merge *merge, struct record_ring *ring,
				     uint64_t last_ns, int *err)
{
	struct merged_record merged;

	while (record_merge_look(merge, ring, &merged, err) && merged.ns <= last_ns) {
		if (merge->count == merge->max)
			return false;
		if (merge->count && merged.ns < merge->window[merge->count - 1].ns)
			merge->in_order = false;
		merge->window[merge->count++] = merged;
		record_ring_next(ring);
	}
	return true;
}

static bool record_merge_gather(struct record_merge *merge, uint64_t last_ns, int *err)
{
	unsigned int i;

	merge->count = 0;
	merge->in_order = true;
	for (i = 0; i < merge->nr_rings; i++)
		if (!record_merge_gather_ring(merge, &merge->rings[i], last_ns, err))
			return false;
	return true;
}

/* Back to the first record not passed. */
static void record_merge_give_back(struct record_merge *merge)
{
	unsigned int i;

	for (i = 0; i < merge->nr_rings; i++)
		record_ring_back(&merge->rings[i]);
	merge->steps += merge->nr_rings;
}

/* Fills the window from the oldest record on. Returns the time of the last nanosecond. */
static uint64_t record_merge_fill(struct record_merge *merge, uint64_t first_ns, uint64_t until_ns,
				  int *err)
{
	uint64_t last_ns;

	for (;;) {
		last_ns = first_ns + merge->width_ns - 1;
		if (last_ns < first_ns || last_ns > until_ns)
			last_ns = until_ns;
		if (record_merge_gather(merge, last_ns, err) || merge->width_ns == 1)
			break;
		record_merge_give_back(merge);
		merge->width_ns /= 2;
	}
	if (merge->count < merge->max / 4 && merge->width_ns <= UINT64_MAX / 2)
		merge->width_ns *= 2;
	return last_ns;
}

static void record_merge_insert(struct record_merge *merge, size_t number)
{
	const struct merged_record merged = merge->window[number];
	size_t at = number;

	for (; at && merge->window[at - 1].ns > merged.ns; at--)
		merge->window[at] = merge->window[at - 1];
	merge->window[at] = merged;
	merge->steps += number - at + 1;
}

/* A record that ended before the window is late. It counts as the first. */
static unsigned int record_merge_digit(const struct merged_record *merged, uint64_t first_ns,
				       unsigned int shift)
{
	return merged->ns > first_ns ? (merged->ns - first_ns) >> shift & 0xff : 0;
}

/* Sorts by one byte, and keeps the order for equal bytes. */
static void record_merge_sort_byte(struct record_merge *merge, uint64_t first_ns,
				   unsigned int shift)
{
	struct merged_record *const from = merge->window, *const to = merge->spare;
	uint32_t places[256] = { 0 }, place = 0, nr;
	size_t i;

	for (i = 0; i < merge->count; i++)
		places[record_merge_digit(&from[i], first_ns, shift)]++;
	for (i = 0; i < 256; i++) {
		nr = places[i];
		places[i] = place;
		place += nr;
	}
	for (i = 0; i < merge->count; i++)
		to[places[record_merge_digit(&from[i], first_ns, shift)]++] = from[i];
	merge->window = to;
	merge->spare = from;
	merge->steps += 2 * merge->count + 256;
}

static void record_merge_sort(struct record_merge *merge, uint64_t first_ns, uint64_t last_ns)
{
	unsigned int shift;
	size_t i;

	if (merge->in_order)
		return;
	if (merge->count < FEW_RECORDS) {
		for (i = 1; i < merge->count; i++)
			record_merge_insert(merge, i);
		return;
	}
	for (shift = 0; shift < 64 && (last_ns - first_ns) >> shift; shift += 8)
		record_merge_sort_byte(merge, first_ns, shift);
}

static int record_merge_pass_window(struct record_merge *merge, record_merge_sink sink,
				    void *context)
{
	unsigned int i;
	int err = 0;
	size_t at;

	for (at = 0; at < merge->count && !err; at++)
		err = sink(context, &merge->window[at]);
	for (i = 0; i < merge->nr_rings; i++)
		record_ring_publish(&merge->rings[i]);
	merge->steps += merge->nr_rings;
	return err;
}

int record_merge_pass(struct record_merge *merge, uint64_t until_ns, record_merge_sink sink,
		      void *context)
{
	int err = 0, broken = 0;
	uint64_t first_ns, last_ns;

	for (;;) {
		first_ns = record_merge_oldest(merge, &broken);
		if (first_ns == UINT64_MAX || first_ns > until_ns)
			return broken;
		last_ns = record_merge_fill(merge, first_ns, until_ns, &broken);
		record_merge_sort(merge, first_ns, last_ns);
		err = record_merge_pass_window(merge, sink, context);
		if (err || broken)
			return err ? err : broken;
	}
}

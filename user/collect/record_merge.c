// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges the rings for the collector. A window has at most `max` records. If it has more, half the
 * time is tried. A radix sort orders the records in a window by the bytes of their time, the lowest
 * byte first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/record_merge.h"
#include "model/item.h"

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

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access loops from loop.h for patterns in which some accesses store. They are separate, so a
 * pattern that only reads does not pay for the check.
 */
#ifndef PFSTAT_USER_LOOP_STORING_H
#define PFSTAT_USER_LOOP_STORING_H

#include "workload/loop.h"
#include "workload/pattern.h"

/* The byte written by a store, as in the study. */
#define STORED_BYTE 1

/* Returns the byte that was read, or 0 if it was overwritten without being read. */
static ALWAYS_INLINE uint64_t loop_touch(volatile uint8_t *byte, struct stores *stores)
{
	if (!stores_next(stores))
		return *byte;
	*byte = STORED_BYTE;
	return 0;
}

static ALWAYS_INLINE uint64_t
loop_spans_storing(const struct pattern *pattern, const volatile uint8_t *data,
		   struct pattern_watch *watch, struct loop_span (*next)(void *state, uint64_t max),
		   void *state)
{
	struct stores stores = stores_begin(pattern->store_share);
	uint64_t left = pattern->accesses, sum = 0, i;
	volatile uint8_t *byte;
	struct loop_span span;

	watch->done = 0;
	while (left && !*watch->stop) {
		span = next(state, loop_stretch(left));
		/* A pattern with stores always runs over a writable mapping. */
		byte = (volatile uint8_t *)data + span.offset;
		for (i = span.count; i; i--) {
			sum += loop_touch(byte, &stores);
			byte += span.step;
		}
		left -= span.count;
		watch->done = pattern->accesses - left;
	}
	return sum;
}

static ALWAYS_INLINE uint64_t loop_singles_storing(const struct pattern *pattern,
						   const volatile uint8_t *data,
						   struct pattern_watch *watch,
						   uint64_t (*next)(void *state), void *state)
{
	struct stores stores = stores_begin(pattern->store_share);
	uint64_t left = pattern->accesses, sum = 0, stretch, i;

	watch->done = 0;
	while (left && !*watch->stop) {
		stretch = loop_stretch(left);
		for (i = stretch; i; i--)
			sum += loop_touch((volatile uint8_t *)data + next(state), &stores);
		left -= stretch;
		watch->done = pattern->accesses - left;
	}
	return sum;
}

#endif

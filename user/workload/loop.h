/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access loops, as templates. A pattern calls one with a private `next`. Both are inlined into
 * one function, so choosing the next byte costs no call and the state stays in registers.
 */
#ifndef PFSTAT_USER_LOOP_H
#define PFSTAT_USER_LOOP_H

#include <stdint.h>

#include "workload/pattern.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * Accesses between two checks of the watch. Few enough to stop soon if each access waits for a
 * disk, and enough to make the check cost about one in a hundred instructions in the cheapest loop.
 */
#define LOOP_STRETCH 512U

/* @count bytes: the first at @offset, each next one @step bytes later. */
struct loop_span {
	uint64_t offset, step, count;
};

static ALWAYS_INLINE uint64_t loop_stretch(uint64_t left)
{
	return left < LOOP_STRETCH ? left : LOOP_STRETCH;
}

/* For patterns that produce spans. next() returns 1 … max accesses and advances the state. */
static ALWAYS_INLINE uint64_t loop_spans(const volatile uint8_t *data, uint64_t accesses,
					 struct pattern_watch *watch,
					 struct loop_span (*next)(void *state, uint64_t max),
					 void *state)
{
	uint64_t left = accesses, sum = 0, i;
	const volatile uint8_t *byte;
	struct loop_span span;

	watch->done = 0;
	while (left && !*watch->stop) {
		span = next(state, loop_stretch(left));
		byte = data + span.offset;
		for (i = span.count; i; i--) {
			sum += *byte;
			byte += span.step;
		}
		left -= span.count;
		watch->done = accesses - left;
	}
	return sum;
}

/* For patterns producing single accesses. next() returns the offset of the byte to access. */
static ALWAYS_INLINE uint64_t loop_singles(const volatile uint8_t *data, uint64_t accesses,
					   struct pattern_watch *watch,
					   uint64_t (*next)(void *state), void *state)
{
	uint64_t left = accesses, sum = 0, stretch, i;

	watch->done = 0;
	while (left && !*watch->stop) {
		stretch = loop_stretch(left);
		for (i = stretch; i; i--)
			sum += data[next(state)];
		left -= stretch;
		watch->done = accesses - left;
	}
	return sum;
}

#endif

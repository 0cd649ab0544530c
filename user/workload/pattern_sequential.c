// SPDX-License-Identifier: GPL-2.0-only
/* sequential: bytes 0, 1, 2, ... After the last byte of the file it starts again at 0. */
#include "workload/loop_storing.h"
#include "workload/pattern_engine.h"

struct sequential {
	uint64_t offset, bytes;
};

static ALWAYS_INLINE struct loop_span sequential_next(void *state, uint64_t max)
{
	struct sequential *sequential = state;
	struct loop_span span = { .offset = sequential->offset, .step = 1 };
	const uint64_t left = sequential->bytes - sequential->offset;

	span.count = max < left ? max : left;
	sequential->offset += span.count;
	if (sequential->offset == sequential->bytes)
		sequential->offset = 0;
	return span;
}

static uint64_t sequential_run(const struct pattern *pattern, const volatile uint8_t *data,
			       struct pattern_watch *watch)
{
	struct sequential state = { .bytes = pattern->bytes };

	if (pattern->store_share)
		return loop_spans_storing(pattern, data, watch, sequential_next, &state);
	return loop_spans(data, pattern->accesses, watch, sequential_next, &state);
}

static int sequential_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			    bool written, struct pattern_visits *visits)
{
	struct sequential state = { .bytes = pattern->bytes };
	const uint64_t bytes = pattern->accesses < pattern->bytes ? pattern->accesses :
								    pattern->bytes;

	if (written)
		return pattern_count_pages(pattern, stop, true, sequential_next, &state, visits);
	while (visits->count < pattern_pages_of(pattern, bytes))
		pattern_visit(visits, visits->count);
	return 0;
}

const struct pattern_engine pattern_sequential = {
	.run = sequential_run,
	.pages = sequential_pages,
};

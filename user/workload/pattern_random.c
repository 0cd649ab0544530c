// SPDX-License-Identifier: GPL-2.0-only
/* random: each access goes to any byte in the file with the same probability. */
#include "util/random.h"
#include "workload/loop_storing.h"
#include "workload/pattern_engine.h"

static ALWAYS_INLINE uint64_t random_next(void *state)
{
	return random_below(state);
}

static struct loop_span random_next_span(void *state, uint64_t max)
{
	(void)max;
	return (struct loop_span){ .offset = random_below(state), .count = 1 };
}

static uint64_t random_run(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	struct random state = random_begin(pattern->seed, pattern->bytes);

	if (pattern->store_share)
		return loop_singles_storing(pattern, data, watch, random_next, &state);
	return loop_singles(data, pattern->accesses, watch, random_next, &state);
}

static int random_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct pattern_visits *visits)
{
	struct random state = random_begin(pattern->seed, pattern->bytes);

	return pattern_count_pages(pattern, stop, written, random_next_span, &state, visits);
}

const struct pattern_engine pattern_random = {
	.run = random_run,
	.pages = random_pages,
};

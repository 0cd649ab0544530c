// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mmap measurement study's access pattern: a working set with 512 cache lines of 64 bytes,
 * accessed 16 times in order. Each pass stores to every eighth line (the first, the ninth, …) and
 * loads from the others. The next round has another working set, for 2^20 rounds.
 *
 *	random		a working set begins at any line, with the same probability
 *	sequential	each begins 512 lines after the one before, the first one at line
 *			512; when it would reach the end, at line 0
 *
 * A set starts below line (bytes / 64 - 512), as in the study: the last lines in memory are never
 * the first of a set.
 *
 * The pattern's argument is 1 if the working sets follow each other in order. run() and pages()
 * must visit the same working sets.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util/bitmap.h"
#include "util/random.h"
#include "workload/loop_storing.h"
#include "workload/pattern.h"
#include "workload/pattern_engine.h"

struct locality {
	struct random random;
	bool sequential;
	uint64_t base;	/* first line in the working set */
	uint64_t bases; /* number of lines where a set may start */
};

static struct locality locality_begin(const struct pattern *pattern)
{
	struct locality locality = {
		.sequential = pattern->argument,
		.bases = pattern->bytes / LOCALITY_LINE - LOCALITY_LINES,
	};

	locality.random = random_begin(pattern->seed, locality.bases);
	return locality;
}

static ALWAYS_INLINE void locality_next_round(struct locality *locality)
{
	if (!locality->sequential) {
		locality->base = random_below(&locality->random);
		return;
	}
	locality->base += LOCALITY_LINES;
	if (locality->base >= locality->bases)
		locality->base = 0;
}

static int locality_parse(struct pattern *pattern, const char *argument)
{
	if (argument && strcmp(argument, "random") && strcmp(argument, "sequential"))
		return -EINVAL;
	pattern->argument = argument && !strcmp(argument, "sequential");
	pattern->store_share = STORES_ALL / LOCALITY_STORE_EACH;
	return 0;
}

static ALWAYS_INLINE uint64_t locality_touch_lines(volatile uint8_t *line, uint64_t count)
{
	uint64_t sum = 0, i;

	for (i = 0; i < count; i++, line += LOCALITY_LINE) {
		if (i % LOCALITY_STORE_EACH)
			sum += *line;
		else
			*line = STORED_BYTE;
	}
	return sum;
}

/* A pass is as long as the stretch between two checks of the watch. */
_Static_assert(LOCALITY_LINES == LOOP_STRETCH, "a pass is a stretch");

static uint64_t locality_run(const struct pattern *pattern, const volatile uint8_t *data,
			     struct pattern_watch *watch)
{
	struct locality locality = locality_begin(pattern);
	uint64_t left = pattern->accesses, sum = 0, count;
	volatile uint8_t *lines;
	unsigned int pass;

	watch->done = 0;
	while (left && !*watch->stop) {
		locality_next_round(&locality);
		lines = (volatile uint8_t *)data + locality.base * LOCALITY_LINE;
		for (pass = 0; pass < LOCALITY_PASSES && left && !*watch->stop; pass++) {
			count = loop_stretch(left);
			sum += locality_touch_lines(lines, count);
			left -= count;
			watch->done = pattern->accesses - left;
		}
	}
	return sum;
}

/* Marks the pages for a round's lines, or only those that are stored to. */
static void locality_mark_round(struct bitmap *pages, uint64_t lines_a_page, uint64_t base,
				uint64_t lines, bool written, struct pattern_visits *visits)
{
	const uint64_t step = written ? LOCALITY_STORE_EACH : 1;
	uint64_t i;

	for (i = 0; i < lines; i += step)
		if (bitmap_set(pages, (base + i) / lines_a_page))
			pattern_visit(visits, (base + i) / lines_a_page);
}

static int locality_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			  bool written, struct pattern_visits *visits)
{
	const uint64_t lines_a_page = pattern->page_bytes / LOCALITY_LINE;
	const uint64_t all = pattern_pages_of(pattern, pattern->bytes);
	struct locality locality = locality_begin(pattern);
	struct bitmap *seen = bitmap_new(all);
	uint64_t left = pattern->accesses;

	if (!seen)
		return -ENOMEM;
	while (left && visits->count < all && !*stop) {
		locality_next_round(&locality);
		locality_mark_round(seen, lines_a_page, locality.base, loop_stretch(left), written,
				    visits);
		left -= left < LOCALITY_ROUND ? left : LOCALITY_ROUND;
	}
	bitmap_free(seen);
	return *stop ? -EINTR : 0;
}

const struct pattern_engine pattern_locality = {
	.parse = locality_parse,
	.run = locality_run,
	.pages = locality_pages,
	.accesses = LOCALITY_ROUNDS * LOCALITY_ROUND,
	.min_bytes = LOCALITY_MIN_BYTES,
	.repeats = LOCALITY_REPEATS,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds a pattern's engine by name and calls it. Parsing and fitting come first, and an engine's
 * run() may rely on the sizes they checked.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/bitmap.h"
#include "util/page_size.h"
#include "workload/pattern.h"
#include "workload/pattern_engine.h"

static const struct {
	const char *name;
	const struct pattern_engine *engine;
} patterns[] = {
#define PATTERN_ROW(name, usage) { #name, &pattern_##name },
	PATTERNS(PATTERN_ROW)
#undef PATTERN_ROW
};

int pattern_parse(struct pattern *pattern, const char *text)
{
	const size_t length = strcspn(text, ":");
	const char *argument = text[length] ? text + length + 1 : NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (strlen(patterns[i].name) != length || strncmp(patterns[i].name, text, length))
			continue;
		*pattern = (struct pattern){
			.engine = patterns[i].engine,
			.page_bytes = page_size(),
		};
		if (pattern->engine->parse)
			return pattern->engine->parse(pattern, argument);
		return argument ? -EINVAL : 0;
	}
	return -ENOENT;
}

int pattern_fit(struct pattern *pattern, uint64_t bytes, uint64_t accesses, uint64_t seed)
{
	const struct pattern_engine *engine = pattern->engine;

	if (bytes < engine->min_bytes)
		return -EMSGSIZE;
	pattern->bytes = bytes;
	pattern->accesses = accesses ?: engine->accesses ?: bytes;
	pattern->seed = seed;
	return engine->fit ? engine->fit(pattern) : 0;
}

uint64_t pattern_min_bytes(const struct pattern *pattern)
{
	return pattern->engine->min_bytes;
}

unsigned int pattern_repeats(const struct pattern *pattern)
{
	return pattern->engine->repeats ?: 1;
}

uint64_t pattern_run(const struct pattern *pattern, const volatile uint8_t *data,
		     struct pattern_watch *watch)
{
	return pattern->engine->run(pattern, data, watch);
}

void pattern_warm_up(const struct pattern *pattern)
{
	/* Large enough for locality's working set. Not const, because a pattern may store. */
	static uint8_t buffer[40960];
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct pattern small = *pattern;

	small.bytes = sizeof(buffer);
	/* More than the number of bytes, to run the wrap too. */
	small.accesses = 2 * sizeof(buffer);
	if (small.engine->shrink)
		small.engine->shrink(&small);
	pattern_run(&small, buffer, &watch);
}

int pattern_count_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct loop_span (*next)(void *state, uint64_t max),
			void *state, struct pattern_visits *visits)
{
	struct stores stores = stores_begin(written ? pattern->store_share : STORES_ALL);
	const uint64_t all = pattern_pages_of(pattern, pattern->bytes);
	struct bitmap *visited = bitmap_new(all);
	uint64_t left = pattern->accesses, page, i;
	struct loop_span span;

	if (!visited)
		return -ENOMEM;
	while (left && visits->count < all && !*stop) {
		span = next(state, loop_stretch(left));
		for (i = 0; i < span.count; i++) {
			page = (span.offset + i * span.step) / pattern->page_bytes;
			if (stores_next(&stores) && bitmap_set(visited, page))
				pattern_visit(visits, page);
		}
		left -= span.count;
	}
	bitmap_free(visited);
	return *stop ? -EINTR : 0;
}

int pattern_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop, uint64_t *pages)
{
	return pattern_page_order(pattern, stop, NULL, pages);
}

int pattern_page_order(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		       uint32_t *order, uint64_t *pages)
{
	struct pattern_visits visits = { .order = order };
	const int err = pattern->engine->pages(pattern, stop, false, &visits);

	*pages = visits.count;
	return err;
}

int pattern_pages_written(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			  uint64_t *pages)
{
	struct pattern_visits visits = { 0 };
	int err = 0;

	if (pattern->store_share)
		err = pattern->engine->pages(pattern, stop, true, &visits);
	*pages = visits.count;
	return err;
}

int stores_parse(const char *text, uint64_t *share)
{
	/* strtod() would also accept "nan", "0x1p-3" and " 1". */
	const size_t length = strspn(text, "0123456789.");
	double ratio;
	char *end;

	if (!length)
		return -EINVAL;
	ratio = strtod(text, &end);
	if (end != text + length)
		return -EINVAL;
	if (!strcmp(end, "%"))
		ratio /= 100;
	else if (*end)
		return -EINVAL;
	if (ratio > 1)
		return -ERANGE;
	/* A share rounding to 0 would silently store nothing. */
	if (ratio > 0 && ratio * STORES_ALL < 0.5)
		return -ERANGE;
	*share = llround(ratio * STORES_ALL);
	return 0;
}

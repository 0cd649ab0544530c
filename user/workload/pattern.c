// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/bitmap.h"
#include "util/random.h"
#include "util/size.h"
#include "workload/loop_storing.h"
#include "workload/pattern.h"
#include "workload/pattern_locality.h"

static uint64_t pages_up_to(uint64_t last_offset)
{
	return last_offset / PATTERN_PAGE + 1;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Counts by going the same way again, over a bitmap, until all pages were met. */
static int count_visited(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			 bool written, struct span (*next)(void *state, uint64_t max),
			 void *state, uint64_t *pages)
{
	struct stores stores = stores_begin(written ? pattern->store_share : STORES_ALL);
	const uint64_t all = pages_up_to(pattern->bytes - 1);
	struct bitmap *visited = bitmap_new(all);
	uint64_t left = pattern->accesses, count = 0, i;
	struct span span;

	if (!visited)
		return -ENOMEM;
	while (left && count < all && !*stop) {
		span = next(state, loop_stretch(left));
		for (i = 0; i < span.count; i++)
			if (stores_next(&stores))
				count += bitmap_set(visited,
						    (span.offset + i * span.step) / PATTERN_PAGE);
		left -= span.count;
	}
	bitmap_free(visited);
	*pages = count;
	return *stop ? -EINTR : 0;
}

/* Sequential */

struct sequential {
	uint64_t offset, bytes;
};

static ALWAYS_INLINE struct span sequential_next(void *state, uint64_t max)
{
	struct sequential *sequential = state;
	struct span span = { .offset = sequential->offset, .step = 1 };

	span.count = smaller(max, sequential->bytes - sequential->offset);
	sequential->offset += span.count;
	if (sequential->offset == sequential->bytes)
		sequential->offset = 0;
	return span;
}

static int sequential_parse(struct pattern *pattern, const char *argument)
{
	(void)pattern;
	return argument ? -EINVAL : 0;
}

static uint64_t sequential_run(const struct pattern *pattern, const volatile uint8_t *data,
			       struct pattern_watch *watch)
{
	struct sequential state = { .bytes = pattern->bytes };

	if (pattern->store_share)
		return storing_spans(pattern, data, watch, sequential_next, &state);
	return loop_spans(data, pattern->accesses, watch, sequential_next, &state);
}

static int sequential_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			    bool written, uint64_t *pages)
{
	struct sequential state = { .bytes = pattern->bytes };

	if (written)
		return count_visited(pattern, stop, true, sequential_next, &state, pages);
	*pages = pages_up_to(smaller(pattern->accesses, pattern->bytes) - 1);
	return 0;
}

/* Stride: a sweep is one span, or several when it is longer than a stretch. */

struct stride {
	uint64_t offset, stride;
	uint64_t sweep_left;	/* accesses until the sweep ends */
	uint64_t start;		/* of this sweep: p * page + byte */
	uint64_t byte;
	/* Sweeps from up to last_long have `longest` accesses, the others one less. */
	uint64_t longest, last_long;
};

/* Inlined and without a division: with long strides a sweep is soon over. */
static ALWAYS_INLINE void stride_begin_sweep(struct stride *stride)
{
	stride->offset = stride->start;
	stride->sweep_left = stride->longest - (stride->start > stride->last_long);
}

/* A start is below the stride, which is at most the file's size: no sweep is empty. */
static ALWAYS_INLINE void stride_next_sweep(struct stride *stride)
{
	stride->start += PATTERN_PAGE;
	if (stride->start >= stride->stride) {
		stride->byte++;
		if (stride->byte == PATTERN_PAGE || stride->byte == stride->stride)
			stride->byte = 0;
		stride->start = stride->byte;
	}
	stride_begin_sweep(stride);
}

static struct stride stride_begin(const struct pattern *pattern)
{
	struct stride stride = {
		.stride = pattern->stride,
		.longest = (pattern->bytes - 1) / pattern->stride + 1,
		.last_long = (pattern->bytes - 1) % pattern->stride,
	};

	stride_begin_sweep(&stride);
	return stride;
}

static ALWAYS_INLINE struct span stride_next(void *state, uint64_t max)
{
	struct stride *stride = state;
	struct span span = { .offset = stride->offset, .step = stride->stride };

	span.count = smaller(max, stride->sweep_left);
	stride->sweep_left -= span.count;
	if (stride->sweep_left)
		stride->offset += span.count * span.step;
	else
		stride_next_sweep(stride);
	return span;
}

static int stride_parse(struct pattern *pattern, const char *argument)
{
	if (!argument || size_parse(argument, &pattern->stride) || !pattern->stride)
		return -EINVAL;
	return 0;
}

static uint64_t stride_run(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	struct stride state = stride_begin(pattern);

	if (pattern->store_share)
		return storing_spans(pattern, data, watch, stride_next, &state);
	return loop_spans(data, pattern->accesses, watch, stride_next, &state);
}

static int stride_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, uint64_t *pages)
{
	struct stride state = stride_begin(pattern);

	return count_visited(pattern, stop, written, stride_next, &state, pages);
}

/* Random */

static ALWAYS_INLINE uint64_t random_next(void *state)
{
	return random_below(state);
}

static struct span random_next_span(void *state, uint64_t max)
{
	(void)max;
	return (struct span){ .offset = random_below(state), .count = 1 };
}

static int random_parse(struct pattern *pattern, const char *argument)
{
	(void)pattern;
	return argument ? -EINVAL : 0;
}

static uint64_t random_run(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	struct random state = random_begin(pattern->seed, pattern->bytes);

	if (pattern->store_share)
		return storing_singles(pattern, data, watch, random_next, &state);
	return loop_singles(data, pattern->accesses, watch, random_next, &state);
}

static int random_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, uint64_t *pages)
{
	struct random state = random_begin(pattern->seed, pattern->bytes);

	return count_visited(pattern, stop, written, random_next_span, &state, pages);
}

static const struct pattern_engine random_engine = {
	.name = "random", .parse = random_parse, .run = random_run, .pages = random_pages,
};

static const struct pattern_engine sequential_engine = {
	.name = "sequential", .parse = sequential_parse, .run = sequential_run,
	.pages = sequential_pages,
};

static const struct pattern_engine stride_engine = {
	.name = "stride", .parse = stride_parse, .run = stride_run, .pages = stride_pages,
};

static const struct pattern_engine *const engines[] = {
	&random_engine, &sequential_engine, &stride_engine, &pattern_locality,
};

int pattern_parse(struct pattern *pattern, const char *text)
{
	size_t length = strcspn(text, ":");
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		if (strlen(engines[i]->name) != length || strncmp(engines[i]->name, text, length))
			continue;
		*pattern = (struct pattern){ .engine = engines[i] };
		return engines[i]->parse(pattern, text[length] ? text + length + 1 : NULL);
	}
	return -ENOENT;
}

int pattern_fit(struct pattern *pattern, uint64_t bytes, uint64_t accesses, uint64_t seed)
{
	if (pattern->stride > bytes)
		return -ERANGE;
	if (bytes < pattern->engine->min_bytes)
		return -EMSGSIZE;
	pattern->bytes = bytes;
	pattern->accesses = accesses ?: pattern->engine->accesses ?: bytes;
	pattern->seed = seed;
	return 0;
}

uint64_t pattern_run(const struct pattern *pattern, const volatile uint8_t *data,
		     struct pattern_watch *watch)
{
	return pattern->engine->run(pattern, data, watch);
}

void pattern_warm_up(const struct pattern *pattern)
{
	/* Room for locality's working set; not const, for there may be stores. */
	static uint8_t buffer[10 * PATTERN_PAGE];
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct pattern small = *pattern;

	small.paced = false;
	small.bytes = sizeof(buffer);
	/* More than the bytes, so that the wrap is run as well. */
	small.accesses = 2 * sizeof(buffer);
	if (small.stride > small.bytes)
		small.stride = small.bytes;
	pattern_run(&small, buffer, &watch);
}

int pattern_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		  uint64_t *pages)
{
	return pattern->engine->pages(pattern, stop, false, pages);
}

int pattern_pages_written(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			  uint64_t *pages)
{
	*pages = 0;
	return pattern->store_share ? pattern->engine->pages(pattern, stop, true, pages) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * stride:SIZE accesses bytes 0, S, 2S, ... to the end of the file, which is a sweep. The next sweep
 * starts one page later within the stride. After every page in the stride has been a start, the
 * next sweeps start one byte later. So the starts are p * page + b for b = 0 … page - 1, for p = 0,
 * 1, ... while the start is less than S. After S sweeps each byte has been accessed exactly once,
 * for any S. A stride below a page has only p = 0, so its sweeps start one byte apart. The first
 * sweep follows the last. The pattern's argument is S. A sweep is one span, or several if it is
 * longer than a stretch.
 */
#include <errno.h>

#include "util/text.h"
#include "workload/loop_storing.h"
#include "workload/pattern_engine.h"

struct stride {
	uint64_t offset, stride, page;
	uint64_t sweep_left; /* accesses until the end of the sweep */
	uint64_t start;	     /* where this sweep starts: p * page + byte */
	uint64_t byte;
	/* Sweeps that start at or below last_long have `longest` accesses, others one less. */
	uint64_t longest, last_long;
};

/* Inlined and without a division, because a sweep with a long stride is short. */
static ALWAYS_INLINE void stride_begin_sweep(struct stride *stride)
{
	stride->offset = stride->start;
	stride->sweep_left = stride->longest - (stride->start > stride->last_long);
}

/* A start is below the stride, which is at most the size of the file, so no sweep is empty. */
static ALWAYS_INLINE void stride_next_sweep(struct stride *stride)
{
	stride->start += stride->page;
	if (stride->start >= stride->stride) {
		stride->byte++;
		if (stride->byte == stride->page || stride->byte == stride->stride)
			stride->byte = 0;
		stride->start = stride->byte;
	}
	stride_begin_sweep(stride);
}

static struct stride stride_begin(const struct pattern *pattern)
{
	struct stride stride = {
		.stride = pattern->argument,
		.page = pattern->page_bytes,
		.longest = (pattern->bytes - 1) / pattern->argument + 1,
		.last_long = (pattern->bytes - 1) % pattern->argument,
	};

	stride_begin_sweep(&stride);
	return stride;
}

static ALWAYS_INLINE struct loop_span stride_next(void *state, uint64_t max)
{
	struct stride *stride = state;
	struct loop_span span = { .offset = stride->offset, .step = stride->stride };

	span.count = max < stride->sweep_left ? max : stride->sweep_left;
	stride->sweep_left -= span.count;
	if (stride->sweep_left)
		stride->offset += span.count * span.step;
	else
		stride_next_sweep(stride);
	return span;
}

static int stride_parse(struct pattern *pattern, const char *argument)
{
	if (!argument || size_parse(argument, &pattern->argument) || !pattern->argument)
		return -EINVAL;
	return 0;
}

static uint64_t stride_run(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	struct stride state = stride_begin(pattern);

	if (pattern->store_share)
		return loop_spans_storing(pattern, data, watch, stride_next, &state);
	return loop_spans(data, pattern->accesses, watch, stride_next, &state);
}

static int stride_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct pattern_visits *visits)
{
	struct stride state = stride_begin(pattern);

	return pattern_count_pages(pattern, stop, written, stride_next, &state, visits);
}

static int stride_fit(const struct pattern *pattern)
{
	return pattern->argument > pattern->bytes ? -ERANGE : 0;
}

static void stride_shrink(struct pattern *pattern)
{
	if (pattern->argument > pattern->bytes)
		pattern->argument = pattern->bytes;
}

const struct pattern_engine pattern_stride = {
	.parse = stride_parse,
	.fit = stride_fit,
	.shrink = stride_shrink,
	.run = stride_run,
	.pages = stride_pages,
};

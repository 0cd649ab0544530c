// SPDX-License-Identifier: GPL-2.0-only
/* The figure for memory.latency: points from rows, and marks for known caches. */
#include <string.h>

#include "bench/suite/fig_memory.h"
#include "runner.h"

static const struct bench_operation latency = { .name = "memory.latency" };
static const struct bench_operation other = { .name = "memory.pair" };

static struct bench_row row(const struct bench_operation *operation, const char *point, double ns)
{
	struct bench_row made = { .operation = operation, .figures.mean = ns, .half_width = 0.5 };

	snprintf(made.point_name, sizeof(made.point_name), "%s", point);
	return made;
}

static bool has(const struct drawing *drawing, enum drawing_text text, const char *expected)
{
	return strstr(drawing->texts[text], expected);
}

TEST(test_figure_has_points_by_size_and_stride)
{
	struct bench_row rows[] = {
		row(&latency, "4K:64", 1.5), row(&latency, "4K:4K", 1.25), row(&other, "64", 7),
		row(&latency, "6M:64", 90),  row(&latency, "8M:64", 100),
	};
	const struct bench_results results = {
		.rows = rows,
		.nr = 5,
		.machine.cache_bytes = { 32768, 0, 8388608 },
	};
	struct drawing drawing;

	why_set(&rows[3].noise, "too noisy");
	why_set(&rows[4].missing, "no memory");
	ck_assert_int_eq(fig_memory_draw(&drawing, &results), 0);
	ck_assert(drawing_is_drawn(&drawing));
	ck_assert_str_eq(drawing.texts[DRAWING_CSV],
			 "stride_bytes,size_bytes,ns,half_width_ns,noisy\n"
			 "64,4096,1.5000,0.5000,0\n4096,4096,1.2500,0.5000,0\n"
			 "64,6291456,90.0000,0.5000,1\n");
	ck_assert(has(&drawing, DRAWING_AMOUNT, "3 points. 1 more could not be measured."));
	ck_assert(has(&drawing, DRAWING_READING,
		      "A load takes 1.25 ns in 4 KiB and 90.0 ns in 6144 KiB "
		      "with a stride of 64 bytes, 72 times as long."));
	ck_assert(has(&drawing, DRAWING_SCRIPT, "set label 'L1d' at 32768,"));
	ck_assert(has(&drawing, DRAWING_SCRIPT, "set label 'L3' at 8388608,"));
	/* An unknown cache is not marked. */
	ck_assert(!has(&drawing, DRAWING_SCRIPT, "'L2'"));
	ck_assert(has(&drawing, DRAWING_SCRIPT, "title 'stride 4096 bytes'"));
	drawing_free(&drawing);
}

TEST(test_figure_needs_points)
{
	struct bench_row rows[] = { row(&other, "64", 7) };
	const struct bench_results results = { .rows = rows, .nr = 1 };
	struct drawing drawing;

	ck_assert_int_eq(fig_memory_draw(&drawing, &results), 0);
	ck_assert(!drawing_is_drawn(&drawing));
	ck_assert_str_eq(drawing.texts[DRAWING_MISSING], "no memory.latency was measured");
	drawing_free(&drawing);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Axis labels: whole for counts, different from each other, with units, without exponents. */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/figures/drawing.h"

static char *text;
static size_t bytes;

static FILE *begin(void)
{
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	return out;
}

static void ends_with(FILE *out, const char *expected)
{
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

TEST(test_a_count_has_no_fractions)
{
	FILE *out = begin();

	axes_whole(out, 'x', 0, 1);
	ends_with(out, "set xrange [0:1] noextend\nset xtics ('0' 0, '1' 1)\n");
	out = begin();
	axes_whole(out, 'y', 7, 9);
	ends_with(out, "set yrange [7:9] noextend\nset ytics ('7' 7, '8' 8, '9' 9)\n");
}

TEST(test_a_single_page_is_in_the_middle)
{
	FILE *out = begin();

	axes_whole_around(out, 'y', 0, 0);
	ends_with(out, "set yrange [-1:1] noextend\nset ytics ('0' 0, '1' 1)\n");
	out = begin();
	axes_whole_around(out, 'y', 5, 5);
	ends_with(out, "set yrange [4:6] noextend\nset ytics ('4' 4, '5' 5, '6' 6)\n");
}

TEST(test_large_counts_have_no_exponent)
{
	FILE *out = begin();

	axes_whole(out, 'x', 0, 12345678);
	ends_with(out, "set xrange [0:12345678] noextend\nset xtics ('0' 0, "
		       "'2 000 000' 2000000, '4 000 000' 4000000, '6 000 000' 6000000, "
		       "'8 000 000' 8000000, '10 000 000' 10000000, '12 000 000' 12000000)\n");
	out = begin();
	axes_log_count(out, 'y', 1000);
	ends_with(out, "set logscale y\nset yrange [0.5:1e4] noextend\nset ytics ('1' 1e0, "
		       "'10' 1e1, '100' 1e2, '1 000' 1e3, '10 000' 1e4)\n");
}

/* A double does not count beyond 2^53: the step is lost. */
TEST(test_an_axis_ends_whatever_its_range)
{
	FILE *out = begin();

	axes_whole_around(out, 'y', UINT64_MAX - 1, UINT64_MAX);
	axes_whole(out, 'y', UINT64_MAX - 4096, UINT64_MAX);
	axes_whole(out, 'y', 0, UINT64_MAX);
	axes_time(out, "time", 0);
	fclose(out);
	ck_assert_uint_lt(bytes, 4096);
	free(text);
}

TEST(test_a_time_has_the_unit_of_its_range)
{
	FILE *out = begin();

	ck_assert_double_eq(axes_time(out, "time", 86400e3), 1e-3);
	ends_with(out, "set xlabel 'time (s)'\nset xrange [0:86400] noextend\nset xtics ('0' 0, "
		       "'20 000' 20000, '40 000' 40000, '60 000' 60000, '80 000' 80000)\n");
	out = begin();
	ck_assert_double_eq(axes_time(out, "time", 1.5), 1);
	ends_with(out, "set xlabel 'time (ms)'\nset xrange [0:1.5] noextend\nset xtics ('0.0' 0, "
		       "'0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1.0' 1, '1.2' 1.2, "
		       "'1.4' 1.4)\n");
	out = begin();
	ck_assert_double_eq(axes_time(out, "time", 0.5), 1e3);
	ends_with(out, "set xlabel 'time (µs)'\nset xrange [0:500] noextend\nset xtics ('0' 0, "
		       "'100' 100, '200' 200, '300' 300, '400' 400, '500' 500)\n");
}

TEST(test_decades_of_time_have_units)
{
	FILE *out = begin();

	axes_log_time(out, 'x', 0.3, 2e4);
	ends_with(out, "set logscale x\nset xrange [1e-1:1e5] noextend\nset xtics ('100 ns' 1e-1, "
		       "'1 µs' 1e0, '10 µs' 1e1, '100 µs' 1e2, '1 ms' 1e3, '10 ms' 1e4, "
		       "'100 ms' 1e5)\n");
	/* One decade at least, and none below the clock's resolution. */
	out = begin();
	axes_log_time(out, 'y', 0.0001, 0.001);
	ends_with(out, "set logscale y\nset yrange [1e-3:1e-2] noextend\n"
		       "set ytics ('1 ns' 1e-3, '10 ns' 1e-2)\n");
	/* Every second label on a long axis. */
	out = begin();
	axes_log_time(out, 'y', 0.001, 1e9);
	ends_with(out, "set logscale y\nset yrange [1e-3:1e9] noextend\nset ytics ('1 ns' 1e-3, "
		       "'100 ns' 1e-1, '10 µs' 1e1, '1 ms' 1e3, '100 ms' 1e5, '10 s' 1e7, "
		       "'1000 s' 1e9)\n");
}

TEST(test_a_short_range_of_ratios_is_in_per_cent)
{
	FILE *out = begin();

	axes_ratio(out, 0.85, 1.15);
	ends_with(out, "set logscale x\nset xrange [0.85:1.15] noextend\n"
		       "set xtics ('−10 %%' 0.9, '=' 1, '+10 %%' 1.1)\n");
	/* The labels do not touch each other. */
	out = begin();
	axes_ratio(out, 0.5, 2.1);
	ends_with(out, "set logscale x\nset xrange [0.5:2.1] noextend\n"
		       "set xtics ('−50 %%' 0.5, '−30 %%' 0.7, '=' 1, '+20 %%' 1.2, "
		       "'+60 %%' 1.6)\n");
	out = begin();
	axes_ratio(out, 0.9, 50);
	ends_with(out, "set logscale x\nset xrange [0.9:50] noextend\n"
		       "set xtics ('=' 1, '×2' 2, '×10' 10)\n");
	out = begin();
	axes_ratio(out, 0.01, 100);
	ends_with(out, "set logscale x\nset xrange [0.01:100] noextend\n"
		       "set xtics ('÷100' 0.01, '÷10' 0.1, '=' 1, '×10' 10, '×100' 100)\n");
}

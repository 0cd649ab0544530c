// SPDX-License-Identifier: GPL-2.0-only
/* The page's call paths: each frame is below its caller, and as wide as its time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/print/html/html.h"

static char *text;
static struct report report;

static void setup(void)
{
	report_init(&report);
	report.faults.all.whole.total_ns = 1000000;
}

static void teardown(void)
{
	report_exit(&report);
	free(text);
	text = NULL;
}

FIXTURE(setup, teardown);

static void draw(const struct group *stacks, size_t nr)
{
	const struct html_page page = { .report = &report, .stacks = stacks, .nr_stacks = nr };
	size_t bytes;
	FILE *out;

	ck_assert(html_has_flame(&page));
	free(text);
	out = open_memstream(&text, &bytes);
	ck_assert_int_eq(html_print_flame(out, &page), 0);
	fclose(out);
}

static void shows(const char *expected)
{
	ck_assert_msg(strstr(text, expected), "no '%s' in\n%s", expected, text);
}

static unsigned int frames(void)
{
	unsigned int nr = 0;
	const char *at;

	for (at = text; (at = strstr(at, "<rect")); at++)
		nr++;
	return nr;
}

TEST(test_frames_are_as_wide_as_their_time)
{
	static const struct group stacks[] = {
		{ .name = "main;load;memcpy", .total_ns = 400000, .faults = 4 },
		{ .name = "main b;load", .total_ns = 250000, .faults = 3 },
		{ .name = "main;load", .total_ns = 100000, .faults = 1 },
		{ .name = "main", .total_ns = 50000, .faults = 1 },
		{ .name = "main;read", .total_ns = 200000, .faults = 2 },
	};

	draw(stacks, 5);
	ck_assert_uint_eq(frames(), 6);
	shows("viewBox=\"0 0 960 54\"");
	shows("<title>main: 0.75 ms, 75.0 % of the fault time, 8 faults</title>"
	      "<rect x=\"0.0\" y=\"0\" width=\"720.0\" height=\"18\"/>");
	/* The time in main() itself comes first. */
	shows("<title>load: 0.5 ms, 50.0 % of the fault time, 5 faults</title>"
	      "<rect x=\"48.0\" y=\"18\" width=\"480.0\" height=\"18\"/>");
	shows("<title>memcpy: 0.4 ms, 40.0 % of the fault time, 4 faults</title>"
	      "<rect x=\"144.0\" y=\"36\" width=\"384.0\" height=\"18\"/>");
	shows("<title>read: 0.2 ms, 20.0 % of the fault time, 2 faults</title>"
	      "<rect x=\"528.0\" y=\"18\" width=\"192.0\" height=\"18\"/>");
	shows("<title>main b: 0.25 ms, 25.0 % of the fault time, 3 faults</title>"
	      "<rect x=\"720.0\" y=\"0\" width=\"240.0\" height=\"18\"/>");
}

TEST(test_narrow_frames_are_left_out)
{
	static const struct group stacks[] = {
		{ .name = "main;wide", .total_ns = 999500, .faults = 9 },
		{ .name = "main;narrow;deep;deeper", .total_ns = 500, .faults = 1 },
	};

	draw(stacks, 2);
	ck_assert_uint_eq(frames(), 2);
	shows("viewBox=\"0 0 960 36\"");
	ck_assert_ptr_null(strstr(text, "narrow"));
}

TEST(test_names_are_escaped_and_shortened)
{
	static const struct group stacks[] = {
		{ .name = "<script>\"&;\303\244\303\244\303\244\303\244\303\244\303\244\303\244",
		  .total_ns = 60000,
		  .faults = 1 },
		{ .name = "a;b", .total_ns = 940000, .faults = 1 },
	};

	draw(stacks, 2);
	shows("<title>&lt;script&gt;&quot;&amp;: 0.06 ms, 6.0 %");
	shows(">&lt;scrip…</text>");
	/* No character is cut in two. */
	shows(">\303\244\303\244\303\244…</text>");
	ck_assert_ptr_null(strstr(text, "<script"));
}

TEST(test_paths_of_one_frame_are_not_drawn)
{
	static const struct group stacks[] = {
		{ .name = "main", .total_ns = 1000, .faults = 1 },
		{ .name = "(not known)", .total_ns = 1000, .faults = 1 },
	};
	struct html_page page = { .report = &report, .stacks = stacks, .nr_stacks = 2 };

	ck_assert(!html_has_flame(&page));
	page.nr_stacks = 0;
	ck_assert(!html_has_flame(&page));
}

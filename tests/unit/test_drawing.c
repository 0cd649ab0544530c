// SPDX-License-Identifier: GPL-2.0-only
/* Names in data, scripts and pages are escaped, so that no name is executed or parsed. */
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/figures/calls.h"
#include "user/figures/drawing.h"
#include "user/figures/figures.h"
#include "user/print/html/html_text.h"

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

TEST(test_a_csv_cell_never_splits)
{
	FILE *out = begin();

	drawing_cell(out, "a,b \"c\"\nf\x7f é");
	ends_with(out, "\"a,b 'c'?f? é\"");
}

/* gnuplot executes `…` and $(…) in a script, and gnuplot strings end at a quote. */
TEST(test_a_label_is_never_executed)
{
	FILE *out = begin();

	drawing_label(out, "it's `id` $(id) \"x\" \\n @m {^2} a-b_c (7): é");
	ends_with(out, "'it?s ?id? ?(id) ?x? ?n ?m ??2? a-b_c (7): é'");
}

/* The kernel cuts a thread's name after 15 bytes, possibly within a character. */
TEST(test_a_label_is_utf8)
{
	FILE *out = begin();

	drawing_label(out, "a-worker-gr\xc3\xb6\xc3 (7)");
	ends_with(out, "'a-worker-gr\xc3\xb6? (7)'");
	out = begin();
	drawing_label(out, "\xff.\xe2\x82 \xc0.\xbc \xef\xbf\xbf€😀\xf0\x9f\x98 ");
	ends_with(out, "'?.?? ?.? ???€😀??? '");
}

TEST(test_text_of_a_page_is_escaped)
{
	FILE *out = begin();

	html_text(out, "<b a='x' c=\"y\">&amp;\x01\xff é€😀");
	ends_with(out,
		  "&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt;&amp;amp;\xef\xbf\xbd\xef\xbf\xbd é€😀");
}

/* Overlong forms, surrogates, too large or cut off: none of them is a valid character. */
TEST(test_invalid_utf8_is_replaced)
{
	static const char *const bad[] = {
		"\xc0\xbc", "\xe0\x80\xbc", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xe2\x82", "\x80",	    "\xef\xbf\xbf",
	};
	unsigned int i;
	FILE *out;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		out = begin();
		html_text(out, bad[i]);
		fclose(out);
		ck_assert_ptr_null(strstr(text, bad[i]));
		ck_assert_int_eq(strncmp(text, "\xef\xbf\xbd", 3), 0);
		free(text);
	}
}

static void svg_becomes(const char *svg, const char *expected)
{
	struct drawing drawing;
	const char *body;
	FILE *out = begin();

	ck_assert_int_eq(drawing_begin(&drawing, "cost", "A <title>"), 0);
	ck_assert_int_eq(drawing_end(&drawing), 0);
	ck_assert_int_eq(html_svg(out, &drawing, svg), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "A &lt;title&gt;"));
	body = strstr(text, "</desc>\n") + strlen("</desc>\n");
	ck_assert_str_eq(body, expected);
	free(text);
	drawing_free(&drawing);
}

TEST(test_colours_of_a_drawing_follow_the_page)
{
	svg_becomes("<svg viewBox='0 0 1 1'><g fill=\"none\" color=\"black\">"
		    "<use xlink:href='#gpPt6' transform='translate(1.5,2) scale(3)' "
		    "color='rgb(  0, 114, 178)'/></g></svg>",
		    "<g fill=\"none\" color=\"var(--ink)\"><use href=\"#cost-gpPt6\" "
		    "transform=\"translate(1.5,2) scale(3)\" "
		    "color=\"var(--blue)\"/>\n</g>\n</svg>\n");
	svg_becomes("<svg><polygon fill = '#123456' points = '1,2 3,4 '/></svg>",
		    "<polygon fill=\"#123456\" points=\"1,2 3,4 \"/>\n</svg>\n");
	/* gnuplot breaks long point lists into lines. */
	svg_becomes("<svg><polygon points='1,2 3,4\n5,6\t7,8'/></svg>",
		    "<polygon points=\"1,2 3,4 5,6 7,8\"/>\n</svg>\n");
}

TEST(test_only_drawing_elements_of_an_svg_are_kept)
{
	svg_becomes("<?xml version='1.0'?><!-- x --><svg><title>t</title><desc>d</desc>"
		    "<script>alert(1)</script><rect fill='#ffffff'/><g></g>"
		    "<path onclick='x()' d='M0,0' style='fill:url(http://e)'/>"
		    "<use xlink:href='http://e/x'/><image href='x'/>"
		    "<text>a&lt;b</text></svg>",
		    "<path d=\"M0,0\"/>\n<use/>\n<text>a&lt;b</text></svg>\n");
	/* Cut off in the middle: only the existing bytes are replaced. */
	svg_becomes("<svg><path d='M0", "</svg>\n");
}

TEST(test_levels_are_logarithmic_and_all_are_used)
{
	uint64_t count;
	unsigned int last = 0, level;

	ck_assert_uint_eq(palette_level(1, 1), 0);
	ck_assert_uint_eq(palette_level(3, 3), 2);
	for (count = 1; count <= 1000000; count++) {
		level = palette_level(count, 1000000);
		ck_assert(level == last || level == last + 1);
		last = level;
	}
	ck_assert_uint_eq(last, PALETTE_LEVELS - 1);
}

TEST(test_every_colour_has_a_dark_variant)
{
	enum fault_class class;
	enum part part;
	unsigned int i;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		ck_assert_ptr_nonnull(palette_find(fault_classes[class].rgb));
	for (part = 0; part < NR_PARTS; part++)
		ck_assert_ptr_nonnull(palette_find(part_rows[part].rgb));
	for (i = 0; i < PALETTE_LEVELS; i++)
		ck_assert_ptr_nonnull(palette_find(palette_levels[i]));
	ck_assert_uint_eq(fault_classes[FAULT_DISK].rgb, 0);
}

static unsigned int nr_exits;

static void count_exit(void *data)
{
	(void)data;
	nr_exits++;
}

static void count_one(struct call_places *places, uint64_t inode, uint64_t weight)
{
	const struct call_place place = { .dev = 1, .inode = inode };
	void *data;

	ck_assert_int_eq(call_places_get(places, &place, weight, &data), 0);
}

TEST(test_places_that_are_not_kept_are_counted)
{
	struct call_places places = { .bytes = sizeof(struct place_data), .exit = count_exit };
	const struct place_data *largest;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		count_one(&places, 1, 3);
		count_one(&places, 2 + i, 3);
	}
	largest = call_places_largest(&places);
	ck_assert_uint_eq(largest->place.inode, 1);
	ck_assert_uint_eq(largest->count, 100);
	ck_assert_uint_eq(places.nr, PLACES_MAX);
	ck_assert_uint_eq(call_places_others(&places), 100);
	call_places_exit(&places);
	ck_assert_uint_eq(nr_exits, PLACES_MAX);
}

/* Two places come last and alternate: both find a slot, and all but their first calls count. */
TEST(test_late_places_do_not_displace_each_other)
{
	struct call_places places = { .bytes = sizeof(struct place_data), .exit = count_exit };
	const struct place_data *largest;
	unsigned int i;

	for (i = 0; i < PLACES_MAX; i++)
		count_one(&places, 100 + i, 100);
	for (i = 0; i < 20000; i++)
		count_one(&places, 7 + i % 2, 1);
	largest = call_places_largest(&places);
	ck_assert_uint_eq(largest->count, 10000 - 200);
	ck_assert_uint_eq(largest->before, 200);
	ck_assert_uint_eq(call_places_others(&places), PLACES_MAX + 10000 + 200);
	call_places_exit(&places);
}

/* All places have equal counts: the drawn place keeps nearly all its calls. */
TEST(test_equal_places_do_not_displace_each_other)
{
	struct call_places places = { .bytes = sizeof(struct place_data), .exit = count_exit };
	const struct place_data *largest;
	uint64_t state = 1;
	unsigned int i;

	for (i = 0; i < 100000; i++)
		count_one(&places, 1 + random_next(&state) % 100, 1);
	largest = call_places_largest(&places);
	ck_assert_uint_ge(largest->count, 1000);
	ck_assert_uint_lt(largest->before, 10);
	call_places_exit(&places);
}

/* Some places with equal counts, then a late one, between calls from all others. */
TEST(test_largest_place_is_nearly_the_most_frequent_one)
{
	struct call_places places;
	uint64_t state = 1, had[64], most;
	const struct place_data *largest;
	unsigned int i, nr, at;

	for (nr = 1; nr < 64; nr++) {
		places = (struct call_places){ .bytes = sizeof(struct place_data),
					       .exit = count_exit };
		memset(had, 0, sizeof(had));
		for (i = 0, most = 0; i < 200 * nr; i++) {
			at = i < 100 * nr || random_next(&state) % 4 == 0 ?
				     random_next(&state) % nr :
				     nr;
			count_one(&places, 1 + at, 1);
			had[at]++;
			most = had[at] > most ? had[at] : most;
			largest = call_places_largest(&places);
			ck_assert_uint_le(largest->weight + largest->before,
					  had[largest->place.inode - 1]);
			ck_assert_uint_le(most, largest->weight + (i + 1) / 7);
			ck_assert_uint_eq(call_places_others(&places) + largest->count, i + 1);
		}
		call_places_exit(&places);
	}
}

static unsigned int lines_with(const char *needle)
{
	unsigned int nr = 0;
	const char *line;

	for (line = text; line && *line; line = strchr(line, '\n'), line += !!line)
		if (strstr(line, needle) &&
		    strcspn(line, "\n") > (size_t)(strstr(line, needle) - line))
			nr++;
	return nr;
}

TEST(test_a_terminal_shows_disk_faults_apart)
{
	struct drawing drawing;
	FILE *out = begin();

	ck_assert_int_eq(drawing_begin(&drawing, "order", "Order"), 0);
	drawing_say(&drawing, DRAWING_CSV,
		    "first_call,last_call,mean_call,mean_page,class,calls\n"
		    "1,1,1,0,disk,1\n2,2,2,50,long,1\n100,100,100,100,long,1\n"
		    "100,100,100,100,wait,1\n");
	drawing_say(&drawing, DRAWING_READING, "2 µs of \033[2J\x7f");
	drawing_say(&drawing, DRAWING_AMOUNT, "é\n\302\2331m\233.");
	ck_assert_int_eq(drawing_end(&drawing), 0);
	ck_assert_uint_eq(drawing_rows(&drawing), 4);
	ck_assert_int_eq(ascii_plot_print(out, &drawing, 60, false), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "2 us of ?[2J?\n????1m?.\n\npage\n"));
	ck_assert_uint_eq(lines_with("|"), 20);
	ck_assert_uint_eq(lines_with("|#"), 1);			   /* the first call, bottom left */
	ck_assert_uint_eq(lines_with("|."), 1);			   /* the second, half way up */
	ck_assert_uint_eq(lines_with("                    +"), 1); /* the last, top right */
	free(text);
	drawing_free(&drawing);
}

TEST(test_terminal_drawing_has_no_control_characters)
{
	struct drawing drawing;
	FILE *out = begin();

	ck_assert_int_eq(drawing_begin(&drawing, "order", "Order"), 0);
	drawing_say(&drawing, DRAWING_CSV,
		    "first_call,last_call,mean_call,mean_page,class,calls\n"
		    "1,1,1,0,disk,1\n");
	drawing_say(&drawing, DRAWING_READING, "2 µs of \033[2J\x7f");
	drawing_say(&drawing, DRAWING_AMOUNT, "é\n\302\2331m\233.");
	ck_assert_int_eq(drawing_end(&drawing), 0);
	ck_assert_int_eq(ascii_plot_print(out, &drawing, 60, true), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "2 µs of ?[2J?\né???1m?.\n\npage\n"));
	free(text);
	drawing_free(&drawing);
}

TEST(test_times_have_three_digits_and_a_unit)
{
	ck_assert_str_eq(drawing_time(0).text, "0 ns");
	ck_assert_str_eq(drawing_time(999).text, "999 ns");
	ck_assert_str_eq(drawing_time(1234).text, "1.23 µs");
	ck_assert_str_eq(drawing_time(99940).text, "99.9 µs");
	ck_assert_str_eq(drawing_time(99960).text, "100 µs");
	ck_assert_str_eq(drawing_time(999600).text, "1.00 ms");
	ck_assert_str_eq(drawing_time(12e9).text, "12.0 s");
	ck_assert_str_eq(drawing_time(86400e9).text, "86400 s");
}

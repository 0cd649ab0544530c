// SPDX-License-Identifier: GPL-2.0-only
/* The template for HTML pages: slots are filled in order, and misuse aborts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/print/html/html_template.h"

static char *text;
static size_t bytes;
static FILE *out;

static void open_memory(void)
{
	out = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(out);
}

static void free_memory(void)
{
	free(text);
}

TEST(test_slot_is_replaced_and_a_part_ends_before_the_next)
{
	struct html_part part = html_part("fact");

	html_part_to(out, &part, "name");
	fputs("Faults", out);
	html_part_to(out, &part, "value");
	fputs("7", out);
	html_part_end(out, &part);
	fclose(out);
	ck_assert_str_eq(text, "<div><dt>Faults</dt><dd>7</dd></div>\n");
}

TEST(test_name_that_begins_another_is_not_that_part)
{
	struct html_part part = html_part("figure");

	html_part_to(out, &part, "name");
	fclose(out);
	ck_assert_str_eq(text, "<figure id=\"");
}

TEST(test_style_has_colours_of_both_themes)
{
	struct html_part style = html_template_stylesheet();

	html_part_to(out, &style, "light_palette");
	html_part_to(out, &style, "dark_palette");
	html_part_end(out, &style);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, ":root{color-scheme:light dark;"));
	ck_assert_ptr_null(strchr(text, '$'));
}

TEST(test_slot_out_of_order_aborts, .signal = SIGABRT)
{
	struct html_part part = html_part("fact");

	html_part_to(out, &part, "value");
}

TEST(test_slot_that_is_not_filled_aborts, .signal = SIGABRT)
{
	struct html_part part = html_part("fact");

	html_part_to(out, &part, "name");
	html_part_end(out, &part);
}

TEST(test_part_that_does_not_exist_aborts, .signal = SIGABRT)
{
	html_part("facts");
}

FIXTURE(open_memory, free_memory);

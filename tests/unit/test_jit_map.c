// SPDX-License-Identifier: GPL-2.0-only
/* Names for code compiled at run time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/system/jit_map.h"

static struct jit_map_place places[3];

/* Prints the names of 0x1000, 0x1010 and 0x2000 from a map file with this text. */
static void read_text(const char *text, size_t bytes)
{
	static const uint64_t addresses[] = { 0x1000, 0x1010, 0x2000 };
	FILE *file = fmemopen((void *)text, bytes, "r");
	int i;

	for (i = 0; i < 3; i++) {
		free(places[i].name);
		places[i] = (struct jit_map_place){ .address = addresses[i] };
	}
	ck_assert_int_eq(jit_map_read(file, places, 3), 0);
	fclose(file);
}

TEST(test_addresses_get_the_names_of_their_functions)
{
	const char *text = "1000 10 first\n1010 ff0 Builtin: the second ~/a b.js:1\n";

	read_text(text, strlen(text));
	ck_assert_pstr_eq(places[0].name, "first+0x0");
	ck_assert_pstr_eq(places[1].name, "Builtin: the second ~/a b.js:1+0x0");
	ck_assert_ptr_null(places[2].name);
}

TEST(test_the_last_compiled_function_gives_the_name)
{
	const char *text = "1000 1001 old\n1008 20 new\n";

	read_text(text, strlen(text));
	ck_assert_pstr_eq(places[0].name, "old+0x0");
	ck_assert_pstr_eq(places[1].name, "new+0x8");
	ck_assert_pstr_eq(places[2].name, "old+0x1000");
}

TEST(test_malformed_lines_are_skipped)
{
	const char *text = "\n1000\n1000 10\n1000 10 \nx 10 a\n1000 -1 b\nffffffffffffffff 2 c\n"
			   "1000 0 d\n-1000 10 e\n2000 1 end";

	read_text(text, strlen(text));
	ck_assert_ptr_null(places[1].name);
	ck_assert_pstr_eq(places[2].name, "end+0x0");
}

TEST(test_an_overlong_line_is_read_as_one_line)
{
	char *text = malloc(20000);

	memset(text, 'x', 20000);
	memcpy(text, "1000 10 ", 8);
	memcpy(text + 10000, "1010 10 ", 8); /* within the same line */
	memcpy(text + 19000, "\n2000 10 next\n", 14);
	read_text(text, 19014);
	ck_assert_uint_eq(strlen(places[0].name), 220 + strlen("...+0x0"));
	ck_assert_ptr_null(places[1].name);
	ck_assert_pstr_eq(places[2].name, "next+0x0");
	free(text);
}

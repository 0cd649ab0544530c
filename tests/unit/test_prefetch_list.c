// SPDX-License-Identifier: GPL-2.0-only
/* The prefetch list text format: the parser accepts only text the writer writes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "apps/prefetch/prefetch.h"

#define HEAD "pfstat-prefetch 1\n"
#define LS   "file 254:1 77 147176 1700000000.000000009 /bin/ls\n"

static struct prefetch_list list;
static size_t line;
static struct why why;

static int parse(const char *text)
{
	why.text[0] = '\0';
	return prefetch_list_parse(&list, text, strlen(text), &line, &why);
}

static char *write_list(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	prefetch_list_write(out, &list);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

TEST(test_a_list_is_read_as_it_was_written)
{
	static const char text[] = HEAD LS
		"file 0:39 18446744073709551615 9223372036854775807 -5.123456789 /a b/\\134\\012ä\n"
		"read 1 0 4096\nread 2 9223372036854771712 4095\nread 1 143360 3816\nend 2 3\n";
	char *again;

	ck_assert_int_eq(parse(text), 0);
	ck_assert_uint_eq(list.nr_files, 2);
	ck_assert_uint_eq(list.nr_reads, 3);
	ck_assert_str_eq(list.files[0].path, "/bin/ls");
	ck_assert_uint_eq(list.files[0].dev_major, 254);
	ck_assert_uint_eq(list.files[0].inode, 77);
	ck_assert_uint_eq(list.files[0].mtime_ns, 9);
	ck_assert_str_eq(list.files[1].path, "/a b/\\\nä");
	ck_assert_int_eq(list.files[1].mtime_s, -5);
	ck_assert_uint_eq(list.reads[2].file, 0);
	ck_assert_uint_eq(list.reads[2].offset, 143360);
	ck_assert_uint_eq(list.reads[2].bytes, 3816);
	again = write_list();
	ck_assert_str_eq(again, text);
	free(again);
	prefetch_list_exit(&list);
}

TEST(test_an_empty_list_is_valid)
{
	ck_assert_int_eq(parse(HEAD "end 0 0\n"), 0);
	ck_assert_uint_eq(list.nr_files, 0);
	prefetch_list_exit(&list);
}

TEST(test_a_wrong_line_is_refused_with_its_number)
{
	static const struct {
		const char *text;
		size_t line;
	} cases[] = {
		{ "", 1 },
		{ "\n", 1 },
		{ "pfstat-prefetch 2\nend 0 0\n", 1 },
		{ "pfstat-prefetch 11\nend 0 0\n", 1 },
		{ "pfstat-prefetch 1", 1 },
		{ HEAD, 2 },
		{ HEAD "end 0 0", 2 },
		{ HEAD "end 0 0\n\n", 3 },
		{ HEAD "end 0 1\n", 2 },
		{ HEAD "end 0 0 \n", 2 },
		{ HEAD LS, 3 },
		{ HEAD LS "read 1 0 1\n", 4 },
		{ HEAD LS "end 0 0\n", 3 },
		{ HEAD "# comment\nend 0 0\n", 2 },
		{ HEAD LS "read 0 0 1\nend 1 1\n", 3 },
		{ HEAD LS "read 2 0 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 0 0\nend 1 1\n", 3 },
		{ HEAD LS "read 1 147176 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 9223372036854775807 9223372036854775807\nend 1 1\n", 3 },
		{ HEAD LS "read 1 18446744073709551616 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 -1 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 00 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1  0 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 0 1 1\nend 1 1\n", 3 },
		{ HEAD LS "read 1 0 1\n" LS "end 2 1\n", 4 },
		{ HEAD "file 254:1 77 1 1.5 /bin/ls\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 -0.000000001 /bin/ls\nend 1 0\n", 2 },
		{ HEAD "file 254.1 77 1 1.000000000 /bin/ls\nend 1 0\n", 2 },
		{ HEAD "file 4294967296:1 77 1 1.000000000 /bin/ls\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 bin/ls\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 \nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 /a\tb\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 /a\\000b\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 /a\\101\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 /a\\01\nend 1 0\n", 2 },
		{ HEAD "file 254:1 77 1 1.000000000 /a\\\nend 1 0\n", 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(parse(cases[i].text) == -EINVAL, "accepted: %s", cases[i].text);
		ck_assert_msg(line == cases[i].line, "line %zu of %s", line, cases[i].text);
		ck_assert_str_ne(why.text, "");
		ck_assert_uint_eq(list.nr_files, 0);
	}
}

TEST(test_a_nul_byte_is_refused)
{
	static const char text[] = HEAD "file 1:1 7 1 1.000000000 /a\0b\nend 1 0\n";

	ck_assert_int_eq(prefetch_list_parse(&list, text, sizeof(text) - 1, &line, &why), -EINVAL);
	ck_assert_uint_eq(line, 2);
}

TEST(test_a_path_has_at_most_4095_bytes)
{
	char text[8192], path[4098];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[4096] = '\0';
	snprintf(text, sizeof(text), HEAD "file 1:1 7 1 1.000000000 %s\nend 1 0\n", path);
	ck_assert_int_eq(parse(text), -EINVAL);
	path[4095] = '\0';
	snprintf(text, sizeof(text), HEAD "file 1:1 7 1 1.000000000 %s\nend 1 0\n", path);
	ck_assert_int_eq(parse(text), 0);
	prefetch_list_exit(&list);
}

/* Each changed byte is refused, or gives a list that is written as it was read. */
TEST(test_a_damaged_list_is_never_read_as_another_text)
{
	static const char text[] = HEAD LS "read 1 4096 8192\nread 1 0 4096\nend 1 2\n";
	char damaged[sizeof(text)], *again;
	uint64_t state = 1;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		memcpy(damaged, text, sizeof(text));
		damaged[random_next(&state) % (sizeof(text) - 1)] = random_next(&state) % 255 + 1;
		if (parse(damaged))
			continue;
		again = write_list();
		ck_assert_str_eq(again, damaged);
		free(again);
		prefetch_list_exit(&list);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Small text files, which tests write and compare with a command's output. */
#ifndef PFSTAT_TESTS_TEXT_FILE_H
#define PFSTAT_TESTS_TEXT_FILE_H

#include <check.h>
#include <stdio.h>
#include <string.h>

static inline void text_file_write(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(text, out), 0);
	ck_assert_int_eq(fclose(out), 0);
}

/* Returns the whole text, up to 1 MiB, valid until the next call. */
static inline char *text_file_read(const char *path)
{
	static char text[1 << 20];
	FILE *in = fopen(path, "r");
	size_t length;

	ck_assert_msg(in, "no %s", path);
	length = fread(text, 1, sizeof(text) - 1, in);
	ck_assert(feof(in));
	fclose(in);
	text[length] = '\0';
	return text;
}

static inline void text_file_check(const char *path, const char *part)
{
	ck_assert_msg(strstr(text_file_read(path), part), "\"%s\" is not in %s:\n%s", part, path,
		      text_file_read(path));
}

#endif

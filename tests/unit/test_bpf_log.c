// SPDX-License-Identifier: GPL-2.0-only
/* The log keeps the end of libbpf's messages and prints it if PFDRIVE_DEBUG=1. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/collect/bpf_programs.h"

static void keep(enum libbpf_print_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	bpf_log_keep(level, format, arguments);
	va_end(arguments);
}

static char *dumped(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bpf_log_dump(out);
	fclose(out);
	return text;
}

static void check_dumped(const char *expected)
{
	char *text = dumped();

	ck_assert_pstr_eq(text, expected);
	free(text);
}

TEST(test_debug_messages_are_printed_once_on_request)
{
	unsetenv("PFDRIVE_DEBUG");
	keep(LIBBPF_WARN, "prog '%s': failed\n", "on_exit");
	keep(LIBBPF_DEBUG, "not kept\n");
	check_dumped("");
	setenv("PFDRIVE_DEBUG", "1", 1);
	keep(LIBBPF_DEBUG, "a detail\n");
	check_dumped("prog 'on_exit': failed\na detail\n");
	check_dumped("");
}

TEST(test_the_end_of_a_long_log_is_kept)
{
	char *text;
	int i;

	setenv("PFDRIVE_DEBUG", "1", 1);
	for (i = 0; i < 20000; i++)
		keep(LIBBPF_WARN, "line %d\n", i);
	text = dumped();
	ck_assert_uint_eq(strlen(text), BPF_LOG_BYTES);
	ck_assert_pstr_eq(text + BPF_LOG_BYTES - strlen("line 19999\n"), "line 19999\n");
	free(text);
}

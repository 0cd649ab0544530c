// SPDX-License-Identifier: GPL-2.0-only
/* A gzip stream can be uncompressed again, and reports output errors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "random.h"
#include "runner.h"
#include "user/util/output_stream.h"

#define NR_NUMBERS 200000U

TEST(test_the_text_is_read_back)
{
	char path[] = "/tmp/pfstat-gzip.XXXXXX";
	uint64_t seed = 1, number;
	FILE *out = fdopen(mkstemp(path), "w"), *gzip;
	char line[32], expected[32];
	gzFile in;
	int i;

	ck_assert_ptr_nonnull(out);
	gzip = gzip_stream_open(out);
	ck_assert_ptr_nonnull(gzip);
	for (i = 0; i < (int)NR_NUMBERS; i++)
		fprintf(gzip, "%llx\n", (unsigned long long)random_next(&seed));
	ck_assert_int_eq(fclose(gzip), 0);
	ck_assert_int_eq(fclose(out), 0);

	in = gzopen(path, "r");
	seed = 1;
	for (i = 0; i < (int)NR_NUMBERS; i++) {
		number = random_next(&seed);
		snprintf(expected, sizeof(expected), "%llx\n", (unsigned long long)number);
		ck_assert_ptr_nonnull(gzgets(in, line, sizeof(line)));
		ck_assert_str_eq(line, expected);
	}
	ck_assert_ptr_null(gzgets(in, line, sizeof(line)));
	ck_assert_int_eq(gzdirect(in), 0);
	ck_assert_int_eq(gzclose(in), Z_OK);
	remove(path);
}

TEST(test_a_full_disk_is_an_error)
{
	FILE *out = fopen("/dev/full", "w"), *gzip;
	uint64_t seed = 1;
	int i;

	ck_assert_ptr_nonnull(out);
	gzip = gzip_stream_open(out);
	ck_assert_ptr_nonnull(gzip);
	for (i = 0; i < (int)NR_NUMBERS; i++)
		fprintf(gzip, "%llx\n", (unsigned long long)random_next(&seed));
	ck_assert_int_ne(ferror(gzip), 0);
	ck_assert_int_ne(fclose(gzip), 0);
	fclose(out);
}

TEST(test_a_full_disk_at_the_end_is_an_error)
{
	FILE *out = fopen("/dev/full", "w"), *gzip;

	ck_assert_ptr_nonnull(out);
	gzip = gzip_stream_open(out);
	ck_assert_ptr_nonnull(gzip);
	fputs("short", gzip);
	errno = 0;
	ck_assert_int_ne(fclose(gzip), 0);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(out);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The access order, and the number of pages visited. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random.h"
#include "runner.h"
#include "user/util/page_size.h"
#include "user/workload/pattern.h"

#define PAGE ((uint64_t)page_size())

static const volatile sig_atomic_t go_on;

static struct pattern fitted(const char *text, uint64_t bytes, uint64_t accesses)
{
	struct pattern pattern;

	ck_assert_int_eq(pattern_parse(&pattern, text), 0);
	ck_assert_int_eq(pattern_fit(&pattern, bytes, accesses, 7), 0);
	return pattern;
}

static uint64_t sum_of(const char *text, const uint8_t *data, uint64_t bytes, uint64_t accesses)
{
	struct pattern pattern = fitted(text, bytes, accesses);
	struct pattern_watch watch = { .stop = &go_on };
	uint64_t sum = pattern_run(&pattern, data, &watch);

	ck_assert_uint_eq(watch.done, pattern.accesses);
	return sum;
}

static void fill(uint8_t *data, uint64_t bytes)
{
	uint64_t state = 1, i;

	for (i = 0; i < bytes; i++)
		data[i] = random_next(&state);
}

/*
 * The order of pattern.h: sweeps over p * page + b, with b in the outer loop and p in the inner
 * one.
 */
static void check_stride_order(const char *text, uint64_t stride, uint64_t bytes)
{
	static uint8_t data[8 * PAGE_SIZE_MAX];
	uint64_t made = 0, before = 0, after, byte, page, start, offset;

	ck_assert_uint_le(bytes, sizeof(data));
	fill(data, bytes);
	for (byte = 0; byte < PAGE && byte < stride && made < 1000; byte++) {
		for (page = 0; (start = page * PAGE + byte) < stride; page++) {
			for (offset = start; offset < bytes; offset += stride) {
				after = sum_of(text, data, bytes, ++made);
				ck_assert_uint_eq(after - before, data[offset]);
				before = after;
			}
		}
	}
}

TEST(test_stride_accesses_come_in_order)
{
	char pages[32];

	snprintf(pages, sizeof(pages), "stride:%" PRIu64, 3 * PAGE);
	check_stride_order("stride:1", 1, 3000);
	check_stride_order("stride:100", 100, 7000);
	check_stride_order("stride:4K", 4096, 7 * PAGE + 5);
	check_stride_order("stride:5000", 5000, 6 * PAGE + 1);
	check_stride_order(pages, 3 * PAGE, 8 * PAGE);
	check_stride_order(pages, 3 * PAGE, 3 * PAGE);
}

TEST(test_patterns_access_every_byte_once)
{
	static const char *const patterns[] = {
		"sequential", "stride:1", "stride:3", "stride:4K", "stride:4097", "stride:16K",
	};
	static uint8_t data[8 * 4096];
	static const uint64_t sizes[] = { 16 * 1024, 4 * 4096 + 1, 30000, sizeof(data) };
	uint64_t sum;
	size_t i, j, k;

	fill(data, sizeof(data));
	for (j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
		for (k = 0, sum = 0; k < sizes[j]; k++)
			sum += data[k];
		for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
			ck_assert_uint_eq(sum_of(patterns[i], data, sizes[j], 0), sum);
			/* and again, when the watch allows more */
			ck_assert_uint_eq(sum_of(patterns[i], data, sizes[j], 2 * sizes[j]),
					  2 * sum);
		}
	}
}

/* Pages that a run adds to an empty memory file, as a reference for pattern_pages(). */
static uint64_t pages_seen(const struct pattern *pattern)
{
	uint64_t nr = (pattern->bytes + PAGE - 1) / PAGE, seen = 0, i;
	struct pattern_watch watch = { .stop = &go_on };
	unsigned char *vector = malloc(nr);
	int fd = memfd_create("pattern", MFD_CLOEXEC);
	void *data;

	ck_assert_int_eq(ftruncate(fd, pattern->bytes), 0);
	data = mmap(NULL, pattern->bytes, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(data, MAP_FAILED);
	pattern_run(pattern, data, &watch);
	ck_assert_int_eq(mincore(data, pattern->bytes, vector), 0);
	for (i = 0; i < nr; i++)
		seen += vector[i] & 1;
	munmap(data, pattern->bytes);
	close(fd);
	free(vector);
	return seen;
}

TEST(test_page_count_matches_the_pages_of_a_run)
{
	static const char *const patterns[] = {
		"random",      "sequential",  "stride:1",   "stride:100",  "stride:4K",
		"stride:4097", "stride:5000", "stride:12K", "stride:256K",
	};
	static const uint64_t sizes[] = { 1, 100, 4096, 4097, 70000, 1000000 };
	struct pattern pattern;
	uint64_t accesses[5], pages;
	size_t i, j, k;

	for (i = 0; i < 9; i++) {
		for (j = 0; j < 6; j++) {
			accesses[0] = 1;
			accesses[1] = 7;
			accesses[2] = sizes[j] / 300 + 1;
			accesses[3] = sizes[j] / 3 + 1;
			accesses[4] = 2 * sizes[j] + 3;
			for (k = 0; k < 5; k++) {
				ck_assert_int_eq(pattern_parse(&pattern, patterns[i]), 0);
				if (pattern_fit(&pattern, sizes[j], accesses[k], 42))
					continue; /* the stride exceeds the file length */
				ck_assert_int_eq(pattern_pages(&pattern, &go_on, &pages), 0);
				ck_assert_uint_eq(pages, pages_seen(&pattern));
			}
		}
	}
}

/* All bytes in the file are equally likely: chi-square over 256 parts. */
TEST(test_random_accesses_are_uniform)
{
	const uint64_t parts = 256, accesses = 1 << 20;
	const double expected = (double)accesses / parts;
	static uint8_t data[256];
	double chi_square = 0, difference;
	uint64_t part;

	for (part = 0; part < parts; part++) {
		data[part] = 1;
		difference = sum_of("random", data, sizeof(data), accesses) - expected;
		data[part] = 0;
		chi_square += difference * difference / expected;
	}
	/* 255 degrees of freedom: mean 255, deviation 22.6. Allow six deviations either way. */
	ck_assert_double_lt(chi_square, 391);
	ck_assert_double_gt(chi_square, 119);
}

TEST(test_random_follows_the_seed)
{
	static uint8_t data[10000];
	struct pattern_watch watch = { .stop = &go_on };
	struct pattern pattern = fitted("random", sizeof(data), 1000);
	uint64_t first, other;

	fill(data, sizeof(data));
	first = pattern_run(&pattern, data, &watch);
	ck_assert_uint_eq(pattern_run(&pattern, data, &watch), first);
	pattern.seed++;
	other = pattern_run(&pattern, data, &watch);
	ck_assert_uint_ne(other, first);
}

TEST(test_stop_ends_a_run_and_a_count)
{
	const volatile sig_atomic_t stop = 1;
	struct pattern_watch watch = { .stop = &stop };
	struct pattern pattern = fitted("random", 1 << 20, 1 << 30);
	uint8_t byte = 0;
	uint64_t pages;

	ck_assert_uint_eq(pattern_run(&pattern, &byte, &watch), 0);
	ck_assert_uint_eq(watch.done, 0);
	ck_assert_int_ne(pattern_pages(&pattern, &stop, &pages), 0);
}

TEST(test_warm_up_takes_every_pattern)
{
	struct pattern pattern;

	pattern = fitted("random", 1, 1);
	pattern_warm_up(&pattern);
	pattern = fitted("sequential", 1, 1);
	pattern_warm_up(&pattern);
	pattern = fitted("stride:1", 1, 1);
	pattern_warm_up(&pattern);
	pattern = fitted("stride:1G", 1ULL << 40, 1);
	pattern_warm_up(&pattern);
}

TEST(test_malformed_patterns_are_refused)
{
	static const char *const arguments[] = {
		"random:",
		"random:1",
		"sequential:4K",
		"stride",
		"stride:",
		"stride:0",
		"stride:-1",
		"stride:4k",
		"stride:4KB",
		"stride: 4",
		"stride:99999999999999999999",
		"stride:17179869184G",
	};
	static const char *const names[] = { "", "rand", "randomly", ":", "Random", "strides:4K" };
	struct pattern pattern;
	size_t i;

	for (i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
		ck_assert_int_eq(pattern_parse(&pattern, arguments[i]), -EINVAL);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert_int_eq(pattern_parse(&pattern, names[i]), -ENOENT);
	ck_assert_int_eq(pattern_parse(&pattern, "stride:4097"), 0);
	ck_assert_int_eq(pattern_fit(&pattern, 4096, 0, 1), -ERANGE);
}

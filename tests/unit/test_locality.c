// SPDX-License-Identifier: GPL-2.0-only
/* The mmap study's working set: order and number of the accessed lines, and the stores. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/util/page_size.h"
#include "user/workload/pattern.h"

#define LINE LOCALITY_LINE
#define SET  (512 * LINE) /* bytes */

static const volatile sig_atomic_t go_on;

static struct pattern fitted(const char *text, uint64_t bytes, uint64_t accesses)
{
	struct pattern pattern;

	ck_assert_int_eq(pattern_parse(&pattern, text), 0);
	ck_assert_int_eq(pattern_fit(&pattern, bytes, accesses, 3), 0);
	return pattern;
}

static uint64_t run_over(const struct pattern *pattern, uint8_t *data)
{
	struct pattern_watch watch = { .stop = &go_on };
	uint64_t sum = pattern_run(pattern, data, &watch);

	ck_assert_uint_eq(watch.done, pattern->accesses);
	return sum;
}

TEST(test_defaults_are_those_of_the_study)
{
	struct pattern pattern = fitted("locality", 1 << 30, 0);

	ck_assert_uint_eq(pattern.accesses, (1ULL << 20) * 16 * 512);
	ck_assert_uint_eq(pattern.store_share, STORES_ALL / 8);
	ck_assert_uint_eq(fitted("locality:random", 1 << 30, 0).accesses, pattern.accesses);
	ck_assert_uint_eq(fitted("locality:random", 1 << 30, 0).argument, pattern.argument);
	ck_assert_uint_ne(fitted("locality:sequential", 1 << 30, 0).argument, pattern.argument);
	ck_assert_uint_eq(pattern_repeats(&pattern), 5);
}

/* One round, in order: lines 512 … 1023, with a store to every eighth line, 15 loads of 1 … */
TEST(test_a_round_touches_512_lines_16_times)
{
	struct pattern pattern = fitted("locality:sequential", 3 * SET, LOCALITY_ROUND);
	static uint8_t data[3 * SET];
	size_t i;

	memset(data, 3, sizeof(data));
	/* One pass reads 448 lines and stores to 64. */
	ck_assert_uint_eq(run_over(&pattern, data), 16 * 448 * 3);
	for (i = 0; i < sizeof(data); i++) {
		if (i >= SET && i < 2 * SET && i % (8 * LINE) == 0)
			ck_assert_uint_eq(data[i], 1);
		else
			ck_assert_uint_eq(data[i], 3);
	}
}

/* The bases are 512, 1024, then 0 (1536 is not a base, since there are 2048 lines), 512 … */
TEST(test_sequential_sets_follow_each_other)
{
	static const uint64_t bases[] = { 512, 1024, 0, 512 };
	static uint8_t data[4 * SET];
	struct pattern pattern;
	uint64_t before = 0, after;
	size_t i, j;

	for (i = 0; i < sizeof(data) / SET; i++)
		for (j = 0; j < SET; j++)
			data[i * SET + j] = i + 2;
	for (i = 0; i < 4; i++) {
		pattern = fitted("locality:sequential", sizeof(data), (i + 1) * LOCALITY_ROUND);
		after = run_over(&pattern, data);
		ck_assert_uint_eq(after - before, 16 * 448 * (bases[i] / 512 + 2));
		before = after;
	}
}

/* Each line below bytes / 64 - 512 may be a base: 2000 rounds visit all 8 of them. */
TEST(test_random_sets_begin_at_any_line)
{
	const uint64_t bytes = SET + 8 * LINE;
	struct pattern pattern = fitted("locality", bytes, 2000 * LOCALITY_ROUND);
	static uint8_t data[SET + 8 * LINE];
	size_t line;

	run_over(&pattern, data);
	/* Bases 0 … 7: each line below 7 + 505 is stored to. The last line is never accessed. */
	for (line = 0; line < bytes / LINE; line++)
		ck_assert_uint_eq(data[line * LINE], line < 512);
}

TEST(test_random_follows_the_seed)
{
	static uint8_t first[64 * SET], second[64 * SET];
	struct pattern pattern = fitted("locality", sizeof(first), LOCALITY_ROUND);

	run_over(&pattern, first);
	run_over(&pattern, second);
	ck_assert_int_eq(memcmp(first, second, sizeof(first)), 0);
	pattern.seed++;
	run_over(&pattern, second);
	ck_assert_int_ne(memcmp(first, second, sizeof(first)), 0);
}

static uint64_t changed(const uint8_t *data, uint64_t bytes, uint8_t what)
{
	uint64_t pages = 0, at, i;

	for (at = 0; at < bytes; at += page_size()) {
		for (i = at; i < at + page_size() && i < bytes && data[i] != what; i++)
			;
		pages += i < at + page_size() && i < bytes;
	}
	return pages;
}

/* A store leaves a 1, so the written pages are those that contain a 1. */
TEST(test_pages_written_are_those_that_a_run_writes)
{
	static const uint64_t sizes[] = { LOCALITY_MIN_BYTES, SET + 5000, 10 * SET + 77, 64 * SET };
	static const uint64_t accesses[] = {
		1, 8, 9, 511, 600, LOCALITY_ROUND - 1, 3 * LOCALITY_ROUND + 17, 40 * LOCALITY_ROUND,
	};
	static const char *const patterns[] = { "locality:random", "locality:sequential" };
	static uint8_t data[64 * SET];
	struct pattern pattern;
	uint64_t written, visited;
	size_t i, j, k;

	for (i = 0; i < 4; i++) {
		for (j = 0; j < 8; j++) {
			for (k = 0; k < 2; k++) {
				pattern = fitted(patterns[k], sizes[i], accesses[j]);
				memset(data, 0, sizes[i]);
				run_over(&pattern, data);
				ck_assert_int_eq(pattern_pages_written(&pattern, &go_on, &written),
						 0);
				ck_assert_uint_eq(written, changed(data, sizes[i], 1));
				ck_assert_int_eq(pattern_pages(&pattern, &go_on, &visited), 0);
				ck_assert_uint_ge(visited, written);
			}
		}
	}
}

TEST(test_pattern_counts_the_pages_it_visits)
{
	struct pattern pattern;
	uint64_t pages;

	/* A 32 KiB set that starts with line 512, at a page boundary. */
	pattern = fitted("locality:sequential", 4 * SET, LOCALITY_ROUND);
	ck_assert_int_eq(pattern_pages(&pattern, &go_on, &pages), 0);
	ck_assert_uint_eq(pages, page_size_count(SET));
	pattern = fitted("locality:sequential", 4 * SET, 65);
	ck_assert_int_eq(pattern_pages(&pattern, &go_on, &pages), 0);
	ck_assert_uint_eq(pages, page_size_count(65 * LINE));
	/* 512 + 1 lines have one base: the page of the last line is not visited. */
	pattern = fitted("locality", LOCALITY_MIN_BYTES, 0);
	pattern.accesses = 100 * LOCALITY_ROUND;
	ck_assert_int_eq(pattern_pages(&pattern, &go_on, &pages), 0);
	ck_assert_uint_eq(pages, page_size_count(SET));
}

TEST(test_malformed_localities_are_refused)
{
	struct pattern pattern;

	ck_assert_int_eq(pattern_parse(&pattern, "locality:"), -EINVAL);
	ck_assert_int_eq(pattern_parse(&pattern, "locality:both"), -EINVAL);
	ck_assert_int_eq(pattern_parse(&pattern, "localit"), -ENOENT);
	ck_assert_int_eq(pattern_parse(&pattern, "locality"), 0);
	ck_assert_int_eq(pattern_fit(&pattern, LOCALITY_MIN_BYTES - 1, 0, 1), -EMSGSIZE);
	ck_assert_int_eq(pattern_fit(&pattern, LOCALITY_MIN_BYTES, 0, 1), 0);
}

TEST(test_stop_ends_a_run_and_a_count)
{
	const volatile sig_atomic_t stop = 1;
	struct pattern_watch watch = { .stop = &stop };
	struct pattern pattern = fitted("locality", 4 * SET, 0);
	static uint8_t data[4 * SET];
	uint64_t pages;

	ck_assert_uint_eq(pattern_run(&pattern, data, &watch), 0);
	ck_assert_uint_eq(watch.done, 0);
	ck_assert_int_eq(pattern_pages(&pattern, &stop, &pages), -EINTR);
	pattern_warm_up(&pattern);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The share of stores: notation, and spread over a run. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/util/page_size.h"
#include "user/workload/pattern.h"

static const volatile sig_atomic_t go_on;

static uint64_t share_of(const char *text)
{
	uint64_t share = 0;

	ck_assert_msg(!stores_parse(text, &share), "%s is refused", text);
	return share;
}

TEST(test_shares_are_fractions_or_percentages)
{
	static const char *const wrong[] = {
		"",	"x",	"-0.5", "+1", " 1", "nan",   "inf",  "0x1p-3",
		"1e-1", "0.5 ", "50%%", "%",  ".",  "0.5.5", "half", "50 %",
	};
	uint64_t share;
	size_t i;

	ck_assert_uint_eq(share_of("0"), 0);
	ck_assert_uint_eq(share_of("0%"), 0);
	ck_assert_uint_eq(share_of("1"), STORES_ALL);
	ck_assert_uint_eq(share_of("1.0"), STORES_ALL);
	ck_assert_uint_eq(share_of("100%"), STORES_ALL);
	ck_assert_uint_eq(share_of("0.125"), STORES_ALL / 8);
	ck_assert_uint_eq(share_of("12.5%"), STORES_ALL / 8);
	ck_assert_uint_eq(share_of(".5"), STORES_ALL / 2);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(stores_parse(wrong[i], &share) == -EINVAL, "'%s' is taken", wrong[i]);
	ck_assert_int_eq(stores_parse("1.001", &share), -ERANGE);
	ck_assert_int_eq(stores_parse("101%", &share), -ERANGE);
	/* Less than one access in 2^33 is not 0, but a store would never occur. */
	ck_assert_int_eq(stores_parse("0.00000000001", &share), -ERANGE);
}

TEST(test_stores_are_spread_evenly_from_the_first_access)
{
	static const struct {
		uint64_t share;
		const char *made; /* S: a store */
	} cases[] = {
		{ 0, "........" },
		{ STORES_ALL, "SSSSSSSS" },
		{ STORES_ALL / 8, "S.......S.......S" },
		{ STORES_ALL / 2, "S.S.S.S." },
		{ STORES_ALL / 4 * 3, "S.SSS.SS" },
	};
	struct stores stores;
	const char *c;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stores = stores_begin(cases[i].share);
		for (c = cases[i].made; *c; c++)
			ck_assert_int_eq(stores_next(&stores), *c == 'S');
	}
}

TEST(test_share_of_stores_is_exact)
{
	static const double ratios[] = { 0.1, 1.0 / 3, 0.9, 0.001 };
	struct stores stores;
	uint64_t made, n;
	size_t i;

	for (i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		stores = stores_begin(ratios[i] * STORES_ALL);
		for (n = 0, made = 0; n < 1000000; n++)
			made += stores_next(&stores);
		ck_assert_uint_ge(made, 1000000 * ratios[i]);
		ck_assert_uint_le(made, 1000000 * ratios[i] + 2);
	}
}

static struct pattern storing(const char *text, uint64_t bytes, uint64_t accesses, uint64_t share)
{
	struct pattern pattern;

	ck_assert_int_eq(pattern_parse(&pattern, text), 0);
	pattern.store_share = share;
	ck_assert_int_eq(pattern_fit(&pattern, bytes, accesses, 7), 0);
	return pattern;
}

static uint64_t run_over(const struct pattern *pattern, uint8_t *data)
{
	struct pattern_watch watch = { .stop = &go_on };
	uint64_t sum = pattern_run(pattern, data, &watch);

	ck_assert_uint_eq(watch.done, pattern->accesses);
	return sum;
}

/* Bytes with value 1 were stored to. All other bytes are unchanged. */
TEST(test_half_share_stores_to_every_second_byte)
{
	struct pattern pattern = storing("sequential", 10000, 10000, STORES_ALL / 2);
	static uint8_t data[10000];
	size_t i;

	memset(data, 7, sizeof(data));
	ck_assert_uint_eq(run_over(&pattern, data), 5000 * 7);
	for (i = 0; i < sizeof(data); i++)
		ck_assert_uint_eq(data[i], i % 2 ? 7 : 1);
}

TEST(test_a_run_without_stores_writes_nothing)
{
	static const char *const patterns[] = { "random", "sequential", "stride:4K" };
	static uint8_t data[30000];
	struct pattern pattern;
	uint64_t pages;
	size_t i, j;

	memset(data, 7, sizeof(data));
	for (i = 0; i < 3; i++) {
		pattern = storing(patterns[i], sizeof(data), 0, 0);
		ck_assert_uint_eq(run_over(&pattern, data), 7 * sizeof(data));
		ck_assert_int_eq(pattern_pages_written(&pattern, &go_on, &pages), 0);
		ck_assert_uint_eq(pages, 0);
	}
	for (j = 0; j < sizeof(data); j++)
		ck_assert_uint_eq(data[j], 7);
}

static uint64_t pages_stored_to(const uint8_t *data, uint64_t bytes)
{
	uint64_t pages = 0, at, end;

	for (at = 0; at < bytes; at += page_size()) {
		end = at + page_size() < bytes ? at + page_size() : bytes;
		pages += !!memchr(data + at, 1, end - at);
	}
	return pages;
}

TEST(test_pages_written_are_those_that_a_run_writes)
{
	static const char *const patterns[] = {
		"random",    "sequential",  "stride:1",	  "stride:100",
		"stride:4K", "stride:5000", "stride:64K",
	};
	static const uint64_t shares[] = { 1000000, STORES_ALL / 100, STORES_ALL / 2, STORES_ALL };
	static uint8_t data[300001];
	uint64_t accesses[] = { 1, 2, 100, 5000, 700000 }, pages;
	struct pattern pattern;
	size_t i, j, k;

	for (i = 0; i < 7; i++) {
		for (j = 0; j < 4; j++) {
			for (k = 0; k < 5; k++) {
				pattern =
					storing(patterns[i], sizeof(data), accesses[k], shares[j]);
				memset(data, 0, sizeof(data));
				run_over(&pattern, data);
				ck_assert_int_eq(pattern_pages_written(&pattern, &go_on, &pages),
						 0);
				ck_assert_uint_eq(pages, pages_stored_to(data, sizeof(data)));
			}
		}
	}
}

/* The access order is the same with and without stores. */
TEST(test_stores_do_not_change_the_order)
{
	static const char *const patterns[] = { "random", "sequential", "stride:4K" };
	static uint8_t data[50000];
	struct pattern reading, writing;
	uint64_t pages, same;
	size_t i;

	for (i = 0; i < 3; i++) {
		reading = storing(patterns[i], sizeof(data), 100, 0);
		writing = storing(patterns[i], sizeof(data), 100, STORES_ALL);
		memset(data, 0, sizeof(data));
		run_over(&writing, data);
		/* Each byte that is read was stored to. */
		ck_assert_uint_eq(run_over(&reading, data), 100);
		ck_assert_int_eq(pattern_pages(&reading, &go_on, &pages), 0);
		ck_assert_int_eq(pattern_pages_written(&writing, &go_on, &same), 0);
		ck_assert_uint_eq(pages, same);
	}
}

TEST(test_warm_up_takes_stores)
{
	struct pattern pattern;

	pattern = storing("random", 1, 1, STORES_ALL / 3);
	pattern_warm_up(&pattern);
	pattern = storing("sequential", 1, 1, STORES_ALL);
	pattern_warm_up(&pattern);
	pattern = storing("stride:1G", 1ULL << 40, 1, STORES_ALL / 3);
	pattern_warm_up(&pattern);
}

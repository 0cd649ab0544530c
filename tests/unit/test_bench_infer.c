// SPDX-License-Identifier: GPL-2.0-only
/* Inferring caches from the latencies of simulated machines with known caches. */
#include <math.h>
#include <stdbool.h>

#include "bench/suite/core/infer.h"
#include "runner.h"
#include "user/util/random.h"

#define K    1024ULL
#define M    (1024 * K)
#define MOST 64

struct machine {
	uint64_t bytes[3]; /* cache sizes, ended by 0 */
	double ns[4];	   /* latency of each cache, then of memory */
};

static const struct machine ordinary = { { 32 * K, 1 * M, 32 * M }, { 1.1, 4, 16, 100 } };

/* Accesses to the part of the range that exceeds a cache miss it. The others hit. */
static double latency(const struct machine *machine, uint64_t bytes)
{
	double ns = machine->ns[0], miss;
	int i;

	for (i = 0; i < 3 && machine->bytes[i]; i++) {
		miss = bytes > machine->bytes[i] ? 1 - (double)machine->bytes[i] / bytes : 0;
		ns += miss * (machine->ns[i + 1] - machine->ns[i]);
	}
	return ns;
}

static size_t sweep(const struct machine *machine, uint64_t to, struct infer_point *points)
{
	uint64_t bytes;
	size_t nr = 0;

	for (bytes = 4 * K; bytes <= to; bytes *= 2) {
		points[nr++] = (struct infer_point){ bytes, latency(machine, bytes) };
		points[nr++] =
			(struct infer_point){ bytes / 2 * 3, latency(machine, bytes / 2 * 3) };
	}
	return nr;
}

static void check_caches(const struct machine *machine, uint64_t to, size_t expected)
{
	struct infer_point points[MOST];
	uint64_t sizes[INFER_LEVELS];
	size_t nr = sweep(machine, to, points), i;

	ck_assert_uint_eq(infer_caches(points, nr, sizes), expected);
	for (i = 0; i < expected; i++)
		ck_assert_uint_eq(sizes[i], machine->bytes[i]);
}

TEST(test_three_caches_are_found)
{
	check_caches(&ordinary, 512 * M, 3);
}

TEST(test_caches_beyond_the_sweep_are_not_found)
{
	check_caches(&ordinary, 16 * M, 2);
	check_caches(&ordinary, 512 * K, 1);
	check_caches(&ordinary, 16 * K, 0);
}

TEST(test_two_caches_are_not_reported_as_three)
{
	static const struct machine small = { { 48 * K, 2 * M, 0 }, { 1.4, 5, 90, 0 } };

	check_caches(&small, 256 * M, 2);
}

TEST(test_constant_latency_shows_no_cache)
{
	static const struct machine flat = { { 0 }, { 3, 0, 0, 0 } };

	check_caches(&flat, 256 * M, 0);
}

/* The TLB's reach ends within the second cache: a third more time is not the end of a cache. */
TEST(test_a_small_step_is_not_a_cache)
{
	struct infer_point points[MOST];
	uint64_t sizes[INFER_LEVELS];
	size_t nr = sweep(&ordinary, 512 * M, points), i;

	for (i = 0; i < nr; i++)
		if (points[i].bytes > 256 * K)
			points[i].ns *= 1.35;
	ck_assert_uint_eq(infer_caches(points, nr, sizes), 3);
	ck_assert_uint_eq(sizes[0], 32 * K);
	ck_assert_uint_eq(sizes[1], 1 * M);
	ck_assert_uint_eq(sizes[2], 32 * M);
}

/* True if the next size costs about as much, false where a cache ends. */
static bool is_level(const struct infer_point *points, size_t i)
{
	return points[i + 1].ns < 1.1 * points[i].ns;
}

/* Other load makes single sizes up to ten times slower. It only adds time. */
TEST(test_disturbed_sizes_do_not_change_the_result)
{
	struct random random = random_begin(3, 0);
	struct infer_point points[MOST];
	uint64_t sizes[INFER_LEVELS];
	size_t nr, i, disturbed = 0, chosen;
	int round;

	for (round = 0; round < 200; round++) {
		nr = sweep(&ordinary, 512 * M, points);
		random.bound = nr / 2 - 1;
		for (i = 0; i < 3; i++) {
			chosen = 2 * random_below(&random);
			if (!is_level(points, chosen))
				continue;
			points[chosen].ns *= 10;
			disturbed++;
		}
		ck_assert_uint_eq(infer_caches(points, nr, sizes), 3);
		ck_assert_uint_eq(sizes[0], 32 * K);
		ck_assert_uint_eq(sizes[1], 1 * M);
		ck_assert_uint_eq(sizes[2], 32 * M);
	}
	ck_assert_uint_ge(disturbed, 200);
}

TEST(test_a_line_ends_where_the_second_load_misses)
{
	static const struct infer_point lines_of_64[] = {
		{ 8, 5.4 }, { 16, 5.5 }, { 32, 5.4 }, { 64, 8.2 }, { 128, 7.8 }, { 256, 7.9 },
	};
	static const struct infer_point lines_of_128[] = {
		{ 8, 5.4 }, { 16, 5.5 }, { 32, 5.4 }, { 64, 5.6 }, { 128, 8.8 }, { 256, 8.9 },
	};
	static const struct infer_point none[] = {
		{ 8, 5.4 }, { 16, 5.5 }, { 32, 5.6 }, { 64, 5.9 }, { 128, 5.5 }, { 256, 6.0 },
	};

	ck_assert_uint_eq(infer_line(lines_of_64, 6), 64);
	ck_assert_uint_eq(infer_line(lines_of_128, 6), 128);
	ck_assert_uint_eq(infer_line(none, 6), 0);
}

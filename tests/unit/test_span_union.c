// SPDX-License-Identifier: GPL-2.0-only
/* The union of spans, compared with an exact one, for long spans and any order of arrival. */
#include <stdlib.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/span_union.h"
#include "user/util/array.h"

#define SPANS 60000U
#define MS    1000000ULL

struct span {
	uint64_t from_ns, to_ns;
	uint64_t arrival; /* spans arrive in this order */
};

static struct span spans[SPANS], sorted[SPANS];
static struct span_union tested;
static uint64_t min_ns, max_ns;

static void add(uint64_t from_ns, uint64_t to_ns)
{
	ck_assert_int_eq(span_union_add(&tested, from_ns, to_ns), 0);
	ck_assert_uint_le(tested.nr, SPAN_UNION_CHUNKS_MAX);
	span_union_covered(&tested, &min_ns, &max_ns);
}

static int compare_starts(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return left->from_ns < right->from_ns ? -1 : left->from_ns > right->from_ns;
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return left->arrival < right->arrival ? -1 : left->arrival > right->arrival;
}

static uint64_t exact_union(size_t nr)
{
	uint64_t covered_ns = 0, until_ns = 0;
	size_t i;

	memcpy(sorted, spans, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_starts);
	for (i = 0; i < nr; i++) {
		if (sorted[i].from_ns > until_ns)
			until_ns = sorted[i].from_ns;
		if (sorted[i].to_ns > until_ns) {
			covered_ns += sorted[i].to_ns - until_ns;
			until_ns = sorted[i].to_ns;
		}
	}
	return covered_ns;
}

/* Between 2^0 and 2^@log2 ns, each magnitude as often as the others. */
static uint64_t random_ns(uint64_t *seed, unsigned int log2)
{
	return 1 + random_next(seed) % (1ULL << random_next(seed) % (log2 + 1));
}

/* Threads alternate between spans and gaps. @late: arrivals that are up to so much later */
static void make_spans(uint64_t seed, unsigned int threads, unsigned int log2_span,
		       unsigned int log2_gap, uint64_t late_ns)
{
	uint64_t now_ns[64] = { 0 };
	unsigned int thread;
	size_t i;

	for (thread = 0; thread < threads; thread++)
		now_ns[thread] = random_ns(&seed, 20);
	for (i = 0; i < SPANS; i++) {
		thread = random_next(&seed) % threads;
		spans[i].from_ns = now_ns[thread];
		/* Most spans are short; the first thread has the long ones. */
		now_ns[thread] += random_ns(&seed, thread ? log2_span / 2 : log2_span);
		spans[i].to_ns = now_ns[thread];
		spans[i].arrival = now_ns[thread];
		if (late_ns)
			spans[i].arrival += random_next(&seed) % late_ns;
		now_ns[thread] += random_ns(&seed, log2_gap);
	}
	qsort(spans, SPANS, sizeof(*spans), compare_arrivals);
}

static const struct {
	unsigned int threads, log2_span, log2_gap;
} kinds[] = {
	{ 1, 20, 20 },	{ 2, 34, 16 },	{ 2, 16, 30 },	{ 8, 30, 20 },
	{ 64, 30, 24 }, { 64, 36, 30 }, { 64, 12, 36 }, { 3, 40, 40 },
};

TEST(test_bounds_differ_by_a_64th_if_spans_arrive_at_their_ends)
{
	uint64_t exact_ns;
	size_t kind, i;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		make_spans(kind, kinds[kind].threads, kinds[kind].log2_span, kinds[kind].log2_gap,
			   0);
		for (i = 0; i < SPANS; i++) {
			add(spans[i].from_ns, spans[i].to_ns);
			if (i % (SPANS / 16))
				continue;
			exact_ns = exact_union(i + 1);
			ck_assert_uint_le(min_ns, exact_ns);
			ck_assert_uint_ge(max_ns, exact_ns);
			ck_assert_uint_le((max_ns - min_ns) * SPAN_UNION_FINENESS, exact_ns);
		}
		ck_assert_uint_eq(tested.coarsened, 0);
		span_union_exit(&tested);
	}
}

TEST(test_bounds_hold_in_any_order)
{
	static const uint64_t late_ns[] = { 1000, MS, 1000 * MS, UINT64_MAX / 4 };
	uint64_t exact_ns;
	size_t kind, late, i;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		for (late = 0; late < ARRAY_SIZE(late_ns); late++) {
			make_spans(kind, kinds[kind].threads, kinds[kind].log2_span,
				   kinds[kind].log2_gap, late_ns[late]);
			for (i = 0; i < SPANS / 8; i++)
				add(spans[i].from_ns, spans[i].to_ns);
			exact_ns = exact_union(SPANS / 8);
			ck_assert_uint_le(min_ns, exact_ns);
			ck_assert_uint_ge(max_ns, exact_ns);
			span_union_exit(&tested);
		}
	}
}

/* One thread waits 10 times for 1 s in one span; another has a short one each 50 us. */
TEST(test_a_long_span_after_many_short_ones_is_whole)
{
	uint64_t start_ns = 1000, ns, i;

	for (i = 0; i < 10; i++) {
		for (ns = start_ns + 1000; ns < start_ns + 999 * MS; ns += 50000)
			ck_assert_int_eq(span_union_add(&tested, ns, ns + 300), 0);
		add(start_ns, start_ns + 1000 * MS);
		start_ns += 1010 * MS;
	}
	/* Nothing is in the chunk in which a span begins but this span and a gap before it. */
	ck_assert_uint_le(min_ns, 10000 * MS);
	ck_assert_uint_ge(max_ns, 10000 * MS);
	ck_assert_uint_le(max_ns - min_ns, 10000 * MS / SPAN_UNION_FINENESS);
	span_union_exit(&tested);
}

TEST(test_few_spans_are_exact)
{
	size_t i;

	for (i = 0; i < 40; i++)
		add(100 * i, 100 * i + 10);
	add(505, 705);
	ck_assert_uint_eq(min_ns, 40 * 10 - 20 + 200 - 5 - 5 + 10);
	ck_assert_uint_eq(max_ns, min_ns);
	add(7, 7); /* empty */
	add(9, 8);
	ck_assert_uint_eq(tested.nr, 38);
	add(0, UINT64_MAX);
	ck_assert_uint_eq(min_ns, UINT64_MAX);
	ck_assert_uint_eq(max_ns, UINT64_MAX);
	span_union_exit(&tested);
}

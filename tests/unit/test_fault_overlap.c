// SPDX-License-Identifier: GPL-2.0-only
/* Fault overlap, compared with an exact overlap, for long faults and any order of arrival. */
#include <stdlib.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/fault_overlap.h"
#include "user/util/array.h"

#define SPANS 60000U
#define MS    1000000ULL

struct span {
	uint64_t from_ns, to_ns;
	uint64_t arrival; /* spans arrive in this order */
	bool runs;
};

struct edge {
	uint64_t ns;
	int faults, runs;
};

static struct span spans[SPANS];
static struct edge edges[2 * SPANS];
static struct fault_overlap tested;
static struct overlap_figures figures;

static void add(uint64_t from_ns, uint64_t to_ns)
{
	ck_assert_int_eq(fault_overlap_add(&tested, from_ns, to_ns), 0);
	ck_assert_uint_le(tested.nr, FAULT_OVERLAP_CHUNKS);
}

static void add_run(uint64_t from_ns, uint64_t to_ns)
{
	ck_assert_int_eq(fault_overlap_add_run(&tested, from_ns, to_ns), 0);
}

static void add_spans(size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (spans[i].runs)
			add_run(spans[i].from_ns, spans[i].to_ns);
		else
			add(spans[i].from_ns, spans[i].to_ns);
	}
}

static void find(void)
{
	fault_overlap_figures(&tested, 0, UINT64_MAX, &figures);
}

static void check(uint64_t faults_ns, uint64_t several_ns, uint32_t depth)
{
	find();
	ck_assert_uint_eq(figures.faults.min_ns, faults_ns);
	ck_assert_uint_eq(figures.faults.max_ns, faults_ns);
	ck_assert_uint_eq(figures.several.min_ns, several_ns);
	ck_assert_uint_eq(figures.several.max_ns, several_ns);
	ck_assert_uint_eq(figures.depth, depth);
	ck_assert_uint_eq(figures.depth_max, depth);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return left->arrival < right->arrival ? -1 : left->arrival > right->arrival;
}

/* Ends at one time count before starts, by the sum over all edges at that time. */
static void find_exact(size_t nr, struct overlap_figures *exact)
{
	int faults = 0, runs = 0;
	uint64_t width_ns;
	size_t i;

	*exact = (struct overlap_figures){ 0 };
	for (i = 0; i < nr; i++) {
		edges[2 * i] = (struct edge){ spans[i].from_ns, !spans[i].runs, spans[i].runs };
		edges[2 * i + 1] =
			(struct edge){ spans[i].to_ns, -!spans[i].runs, -(int)spans[i].runs };
	}
	qsort(edges, 2 * nr, sizeof(*edges), compare_edges);
	for (i = 0; i < 2 * nr; i++) {
		faults += edges[i].faults;
		runs += edges[i].runs;
		width_ns = i + 1 < 2 * nr ? edges[i + 1].ns - edges[i].ns : 0;
		if (!width_ns || runs)
			continue;
		exact->faults.min_ns += faults ? width_ns : 0;
		exact->several.min_ns += faults > 1 ? width_ns : 0;
		exact->depth = faults > (int)exact->depth ? faults : (int)exact->depth;
	}
}

static void check_bounds(size_t nr, bool runs)
{
	struct overlap_figures exact;

	find_exact(nr, &exact);
	find();
	ck_assert_uint_le(figures.faults.min_ns, exact.faults.min_ns);
	ck_assert_uint_ge(figures.faults.max_ns, exact.faults.min_ns);
	ck_assert_uint_le(figures.several.min_ns, exact.several.min_ns);
	ck_assert_uint_ge(figures.several.max_ns, exact.several.min_ns);
	if (runs)
		return;
	ck_assert_uint_le(figures.depth, exact.depth);
	ck_assert_uint_ge(figures.depth_max, exact.depth);
}

/* Between 2^0 and 2^@log2 ns, each magnitude as often as the others. */
static uint64_t random_ns(uint64_t *seed, unsigned int log2)
{
	return 1 + random_next(seed) % (1ULL << random_next(seed) % (log2 + 1));
}

struct kind {
	unsigned int threads, log2_span, log2_gap;
};

/*
 * Threads alternate between faults and gaps. @late_ns: arrivals that are up to so much later.
 * @runs: the last thread runs, and the others are asleep between faults
 */
static void make_spans(uint64_t seed, const struct kind *kind, uint64_t late_ns, bool runs)
{
	uint64_t now_ns[64] = { 0 };
	unsigned int thread;
	size_t i;

	for (thread = 0; thread < kind->threads; thread++)
		now_ns[thread] = random_ns(&seed, 20);
	for (i = 0; i < SPANS; i++) {
		thread = random_next(&seed) % kind->threads;
		spans[i].from_ns = now_ns[thread];
		/* Most faults are short. The first thread has the long ones. */
		now_ns[thread] += random_ns(&seed, thread ? kind->log2_span / 2 : kind->log2_span);
		spans[i].to_ns = now_ns[thread];
		spans[i].runs = runs && thread == kind->threads - 1;
		spans[i].arrival = now_ns[thread];
		if (late_ns)
			spans[i].arrival += random_next(&seed) % late_ns;
		now_ns[thread] += random_ns(&seed, kind->log2_gap);
	}
	qsort(spans, SPANS, sizeof(*spans), compare_arrivals);
}

static const struct kind kinds[] = {
	{ 1, 20, 20 },	{ 2, 34, 16 },	{ 2, 16, 30 },	{ 8, 30, 20 },
	{ 64, 30, 24 }, { 64, 36, 30 }, { 64, 12, 36 }, { 3, 40, 40 },
};

TEST(test_bounds_differ_by_a_64th_if_faults_arrive_at_their_ends, .loops = ARRAY_SIZE(kinds))
{
	make_spans(_i, &kinds[_i], 0, false);
	add_spans(SPANS);
	check_bounds(SPANS, false);
	ck_assert_uint_le((figures.faults.max_ns - figures.faults.min_ns) * FAULT_OVERLAP_FINENESS,
			  figures.faults.max_ns);
	ck_assert_uint_eq(tested.coarsened, 0);
	fault_overlap_exit(&tested);
}

TEST(test_bounds_hold_in_any_order, .loops = ARRAY_SIZE(kinds))
{
	static const uint64_t late_ns[] = { 1000, MS, 1000 * MS, UINT64_MAX / 4 };
	size_t late;

	for (late = 0; late < 2 * ARRAY_SIZE(late_ns); late++) {
		make_spans(_i, &kinds[_i], late_ns[late / 2], late & 1);
		add_spans(SPANS / 8);
		check_bounds(SPANS / 8, late & 1);
		fault_overlap_exit(&tested);
	}
}

static void check_exact(size_t nr, bool runs)
{
	struct overlap_figures exact;

	find_exact(nr, &exact);
	find();
	ck_assert_uint_eq(figures.faults.min_ns, exact.faults.min_ns);
	ck_assert_uint_eq(figures.faults.max_ns, exact.faults.min_ns);
	ck_assert_uint_eq(figures.several.min_ns, exact.several.min_ns);
	ck_assert_uint_eq(figures.several.max_ns, exact.several.min_ns);
	if (!runs)
		ck_assert_uint_eq(figures.depth_max, exact.depth);
}

/* Without merges, any order gives the exact result. */
TEST(test_few_spans_are_exact_in_any_order, .loops = 200)
{
	const struct kind kind = { 1 + _i % 5, 12, 10 };

	make_spans(_i, &kind, 1 << 14, _i & 1);
	add_spans(300);
	check_exact(300, _i & 1);
	fault_overlap_exit(&tested);
}

#define IN_PROGRESS 700U
#define COMPLETED   1500U

/* They cover many blocks of chunks, with gaps between the chunks and with a running thread. */
TEST(test_hundreds_of_faults_in_progress_are_exact, .loops = 4)
{
	size_t i, runs = 0;

	for (i = 0; i < COMPLETED; i++) {
		spans[i].from_ns = i * 2000 + 1500;
		/* Each 50th fault is short, and arrives before those that began earlier. */
		spans[i].to_ns = i * 2000 + (i % 50 ? IN_PROGRESS * 2000 : 1700);
		spans[i].arrival = spans[i].to_ns;
		spans[i].runs = false;
	}
	if (_i & 1)
		spans[COMPLETED + runs++] = (struct span){ 900777, 1700333, 2000000, true };
	if (_i & 2)
		spans[COMPLETED + runs++] = (struct span){ 1700900, 2600111, 9000000, true };
	qsort(spans, COMPLETED + runs, sizeof(*spans), compare_arrivals);
	add_spans(COMPLETED + runs);
	ck_assert_uint_gt(tested.nr, COMPLETED);
	check_exact(COMPLETED + runs, runs);
	fault_overlap_exit(&tested);
}

TEST(test_small_limit_of_chunks_is_kept)
{
	tested.chunks_max = 256;
	make_spans(7, &kinds[3], 1000 * MS, true);
	add_spans(SPANS / 8);
	ck_assert_uint_le(tested.nr, 256);
	ck_assert_uint_le(tested.nr_blocks, 2 * 256 / 32);
	check_bounds(SPANS / 8, true);
	fault_overlap_exit(&tested);
}

/* Threads run between their faults for as long as others fault hundreds of times. */
TEST(test_runs_leave_no_memory_behind, .loops = 6)
{
	const unsigned int threads = 2U << _i;
	uint64_t last_ns[64] = { 0 }, seed = 1, now_ns = 1000;
	unsigned int thread, i;

	tested.chunks_max = 1024;
	for (i = 0; i < SPANS; i++) {
		thread = random_next(&seed) % threads;
		now_ns += random_next(&seed) % 3000;
		if (last_ns[thread] > now_ns)
			continue;
		if (last_ns[thread] && random_next(&seed) % 2)
			add_run(last_ns[thread], last_ns[thread] + (now_ns - last_ns[thread]) / 2);
		last_ns[thread] = now_ns + 100 + random_next(&seed) % 1000;
		add(now_ns, last_ns[thread]);
		/* Twice the memory of full blocks. */
		ck_assert_uint_le(tested.nr_blocks, 2 * 1024 / 32);
	}
	fault_overlap_exit(&tested);
}

/* One thread waits 10 times for 1 s in one fault. Another has a short fault each 50 us. */
TEST(test_a_long_fault_after_many_short_ones_is_whole)
{
	uint64_t start_ns = 1000, ns, i;

	for (i = 0; i < 10; i++) {
		for (ns = start_ns + 1000; ns < start_ns + 999 * MS; ns += 50000)
			add(ns, ns + 300);
		add(start_ns, start_ns + 1000 * MS);
		start_ns += 1010 * MS;
	}
	find();
	/* Nothing is in the chunk in which a fault begins but this fault and a gap before it. */
	ck_assert_uint_le(figures.faults.min_ns, 10000 * MS);
	ck_assert_uint_ge(figures.faults.max_ns, 10000 * MS);
	ck_assert_uint_le(figures.faults.max_ns - figures.faults.min_ns,
			  10000 * MS / FAULT_OVERLAP_FINENESS);
	ck_assert_uint_eq(figures.depth, 2);
	fault_overlap_exit(&tested);
}

TEST(test_overlapping_faults_are_counted_at_each_moment)
{
	add(100, 200);
	check(100, 0, 1);
	add(150, 250); /* overlaps 50 */
	check(150, 50, 2);
	add(300, 400);
	add(50, 450); /* spans all of them, and both gaps */
	check(400, 250, 3);
	add(7, 7); /* empty */
	add(9, 8);
	check(400, 250, 3);
	add(0, UINT64_MAX);
	check(UINT64_MAX, 400, 4);
	fault_overlap_exit(&tested);
}

TEST(test_no_time_counts_while_a_thread_runs)
{
	add(100, 200);
	add(150, 250);
	add_run(160, 170);
	check(140, 40, 2);
	add(165, 180); /* a late fault, partly while it runs */
	check(140, 40, 3);
	add_run(0, 120); /* before and in a fault */
	check(120, 40, 3);
	add_run(0, 1000);
	check(0, 0, 3);
	fault_overlap_exit(&tested);
}

TEST(test_least_time_excludes_what_is_not_known)
{
	add(100, 200);
	add(150, 250);
	add(300, 400);
	fault_overlap_figures(&tested, 120, 350, &figures);
	ck_assert_uint_eq(figures.faults.min_ns, 130 + 50);
	ck_assert_uint_eq(figures.faults.max_ns, 250);
	ck_assert_uint_eq(figures.several.min_ns, 50);
	fault_overlap_exit(&tested);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The pfdrive advise candidates, ordered by saving with an interval. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "apps/advise/advise.h"

#define NR     4
#define ROUNDS 3

static const bool all[NR] = { true, true, true, true }, none[NR];
static struct repetition_figures figures[ROUNDS * NR];
static struct ranking ranking;

/* Replayed times in ns, a row per round. The machine slows down from round to round. */
static void replayed(const uint64_t times[ROUNDS][NR])
{
	size_t i, j;

	for (i = 0; i < ROUNDS; i++)
		for (j = 0; j < NR; j++)
			figures[i * NR + j] = (struct repetition_figures){
				.elapsed_ns = times[i][j], .minor = j, .read_bytes = UINT64_MAX
			};
}

static void rank(const bool *tried, const bool *at_most, size_t anchor)
{
	ck_assert_int_eq(ranking_make(&ranking, figures, NR, ROUNDS, tried, at_most, anchor, 5000),
			 0);
}

static const uint64_t drifting[ROUNDS][NR] = { { 1000, 1100, 400, 700 },
					       { 2000, 2110, 1400, 1690 },
					       { 3000, 3090, 2400, 2710 } };

TEST(test_candidates_are_in_the_order_of_their_savings)
{
	static const size_t order[] = { 2, 3, 0, 1 };
	size_t i;

	replayed(drifting);
	rank(all, none, 0);
	ck_assert_uint_eq(ranking.nr, NR);
	for (i = 0; i < NR; i++)
		ck_assert_uint_eq(ranking.rows[i].candidate, order[i]);
	ck_assert_uint_eq(ranking.best, 0);
	ck_assert_double_eq_tol(ranking.rows[0].predicted_ns, 4400, 0.001);
	ck_assert_double_eq_tol(ranking.rows[2].saving_ns, 0, 0.001);
	ck_assert_double_eq_tol(ranking.rows[3].predicted_ns, 5100, 0.001);
	ck_assert(isnan(ranking.rows[0].read_bytes));
	ranking_exit(&ranking);
}

/* The drift of 1000 ns a round is in both, so it is not in their difference. */
TEST(test_the_interval_is_of_the_differences_within_rounds)
{
	const double stddev = 10; /* for 300, 310, 290 */

	replayed(drifting);
	rank(all, none, 0);
	ck_assert_double_eq_tol(ranking.rows[0].half_width_ns, 0, 0.001);
	/* Three candidates: 1 - 0.05 / 2 / 3 with two degrees of freedom is 7.6488. */
	ck_assert_double_eq_tol(ranking.rows[1].half_width_ns, 7.6488 * stddev / sqrt(ROUNDS),
				0.01);
	ranking_exit(&ranking);
}

TEST(test_a_saving_within_its_interval_is_no_best_one)
{
	static const uint64_t noisy[ROUNDS][NR] = { { 1000, 1000, 900, 1000 },
						    { 1000, 1000, 1050, 1000 },
						    { 1000, 1000, 980, 1000 } };

	replayed(noisy);
	rank(all, none, 0);
	ck_assert_uint_eq(ranking.rows[0].candidate, 2);
	ck_assert_uint_eq(ranking.best, ranking.nr);
	ranking_exit(&ranking);
}

TEST(test_an_upper_bound_and_an_untried_candidate_are_no_best_ones)
{
	static const bool bound[NR] = { false, false, true, false };
	static const bool tried[NR] = { true, true, true, false };

	replayed(drifting);
	rank(all, bound, 0);
	ck_assert_uint_eq(ranking.rows[0].candidate, 2);
	ck_assert(ranking.rows[0].at_most);
	ck_assert_uint_eq(ranking.rows[ranking.best].candidate, 3);
	ranking_exit(&ranking);
	rank(tried, bound, 0);
	ck_assert_uint_eq(ranking.nr, 3);
	ck_assert_uint_eq(ranking.best, ranking.nr);
	ranking_exit(&ranking);
}

TEST(test_predicted_times_start_from_the_recorded_conditions)
{
	replayed(drifting);
	rank(all, none, 1);
	ck_assert_uint_eq(ranking.nr, NR - 1);
	ck_assert_double_eq_tol(ranking.anchor_ns, 2100, 0.001);
	ck_assert_uint_eq(ranking.rows[0].candidate, 2);
	ck_assert_double_eq_tol(ranking.rows[0].saving_ns, 600, 0.001);
	ck_assert_double_eq_tol(ranking.rows[0].predicted_ns, 5000 - 700, 0.001);
	ck_assert_double_eq_tol(ranking.rows[2].predicted_ns, 5000 - 100, 0.001);
	ranking_exit(&ranking);
}

TEST(test_one_round_has_no_interval_and_no_best_candidate)
{
	replayed(drifting);
	ck_assert_int_eq(ranking_make(&ranking, figures, NR, 1, all, none, 0, 5000), 0);
	ck_assert(isnan(ranking.rows[0].half_width_ns));
	ck_assert_uint_eq(ranking.best, ranking.nr);
	ranking_exit(&ranking);
}

static const struct candidate *candidate_of(const struct candidate *candidates, size_t nr,
					    const char *name)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(candidates[i].name, name))
			return &candidates[i];
	return NULL;
}

TEST(test_candidates_leave_out_the_settings_of_the_machine)
{
	const struct candidate_settings settings = { 128 << 10, 64 << 10 };
	struct candidate candidates[CANDIDATES_MAX];
	const size_t nr = candidates_make(candidates, &settings);

	ck_assert_uint_lt(nr, CANDIDATES_MAX);
	ck_assert_str_eq(candidates[0].name, "control");
	ck_assert_int_eq(candidates[0].advice, CANDIDATE_KEEP);
	ck_assert_int_eq(candidate_of(candidates, nr, "populate_read")->advice, MADV_POPULATE_READ);
	ck_assert_ptr_null(candidate_of(candidates, nr, "read-ahead 128K"));
	ck_assert_ptr_null(candidate_of(candidates, nr, "fault-around 64K"));
	ck_assert(candidate_of(candidates, nr, "random")->maps_less);
	ck_assert(candidate_of(candidates, nr, "read-ahead 32K")->maps_less);
	ck_assert(!candidate_of(candidates, nr, "read-ahead 512K")->maps_less);
	ck_assert(candidate_of(candidates, nr, "fault-around 4K")->maps_less);
	ck_assert(!candidate_of(candidates, nr, "willneed")->maps_less);
}

TEST(test_each_candidate_names_the_change_to_make)
{
	const struct candidate_settings settings = { 0 };
	struct candidate candidates[CANDIDATES_MAX];
	const size_t nr = candidates_make(candidates, &settings);
	static const struct {
		const char *name, *remedy;
	} cases[] = {
		{ "control", "" },
		{ "random", "call madvise(address, length, MADV_RANDOM) after the mmap(2) of /f, "
			    "and remove other advice about it" },
		{ "read-ahead 512K", "echo 512 > /sys/x before the program opens /f; this applies "
				     "to all files on the device" },
		{ "fault-around 16K", "echo 16384 > /sys/kernel/debug/fault_around_bytes; this "
				      "applies to all programs on the machine" },
	};
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		candidate_remedy(candidate_of(candidates, nr, cases[i].name), "/f", "/sys/x", text,
				 sizeof(text));
		ck_assert_str_eq(text, cases[i].remedy);
	}
}

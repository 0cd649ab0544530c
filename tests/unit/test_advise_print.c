// SPDX-License-Identifier: GPL-2.0-only
/* The table of pfdrive advise: what is replayed, and which candidate is the best one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "apps/advise/advise.h"
#include "user/model/counters.h"

static struct accessed_file file;
static struct ranking_row rows[2];
static struct advise advise;

static void begin(void)
{
	file = (struct accessed_file){
		.path = "/f", .advised = true, .faults = 3, .fault_ns = 3000
	};
	rows[0] = (struct ranking_row){ .candidate = 1, .saving_ns = 500, .half_width_ns = 100 };
	rows[1] = (struct ranking_row){ .candidate = 0 };
	advise = (struct advise){
		.options.rounds = 2,
		.accesses = { .files = &file, .nr_files = 1, .end_ns = 10000, .have_bpf = true },
		.candidates = { { .name = "control" }, { .name = "random" } },
		.nr_candidates = 2,
		.ranking = { .rows = rows, .nr = 2, .anchor_ns = 10000 },
	};
}

/* True if the table has the text. */
static bool prints(const char *text)
{
	size_t size;
	char *table;
	FILE *out = open_memstream(&table, &size);
	bool found;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(advise_print_table(out, &advise), 0);
	ck_assert_int_eq(fclose(out), 0);
	found = strstr(table, text);
	free(table);
	return found;
}

TEST(test_faults_that_are_not_replayed_are_in_the_total)
{
	advise.accesses.unplaced = 2;
	advise.accesses.unplaced_ns = 2000;
	advise.accesses.not_repeated = 5;
	advise.accesses.not_repeated_ns = 1000;
	ck_assert(prints("replayed: 3 of 10 file faults, 50.0 % of their time"));
}

TEST(test_the_best_candidate_has_its_interval)
{
	ck_assert(prints("Best: random saves 0.001 ms +- 0.000 ms of 0.010 ms (5.0 %)"));
}

TEST(test_an_upper_bound_leaves_the_best_policy_open)
{
	rows[0].at_most = true;
	advise.ranking.best = advise.ranking.nr;
	ck_assert(prints("Best: not known. The largest saving is only an upper bound"));
}

TEST(test_the_recorded_policy_is_best_if_none_is_better)
{
	advise.ranking.best = advise.ranking.nr;
	ck_assert(prints("Best: the recorded policy."));
	advise.options.rounds = 1;
	ck_assert(prints("Best: not known. One round has no interval"));
}

TEST(test_a_replay_of_another_length_is_reported)
{
	advise.ranking.anchor_ns = 11400;
	ck_assert(!prints("THE REPLAY TAKES"));
	advise.ranking.anchor_ns = 12000;
	ck_assert(prints("THE REPLAY TAKES 20.0 % MORE TIME THAN THE RECORDING"));
	advise.ranking.anchor_ns = 8000;
	ck_assert(prints("THE REPLAY TAKES 20.0 % LESS TIME THAN THE RECORDING"));
}

TEST(test_a_model_that_is_missing_has_one_reason)
{
	why_set(&advise.no_model, "the recording is damaged");
	ck_assert(prints("The model predicts nothing: the recording is damaged\n"));
	ck_assert(prints("     n/a              n/a  n/a\n"));
}

TEST(test_the_model_saves_from_its_own_control)
{
	static struct what_if model = {
		.rows = { [1].prediction = { .major = 40, .total_ns = 9e6, .error_ns = 2e5 },
			  [2].prediction = { .major = 30, .total_ns = 5e6, .error_ns = 1e5 } }
	};

	advise.model = &model;
	ck_assert(prints(" 30            4.000  0.300\n"));
	ck_assert(prints(" 40            0.000  0.000\n"));
	model.rows[2].no_time = "no";
	ck_assert(prints(" 30              n/a    n/a\n"));
	ck_assert(prints("The model cannot predict the time of 1 candidates: no\n"));
	model.rows[2].cannot = "not at all";
	ck_assert(prints("The model cannot predict 1 candidates: not at all\n"));
	ck_assert(!prints("the time of"));
}

FIXTURE(begin, NULL);

// SPDX-License-Identifier: GPL-2.0-only
/* A plan's rows, their figures, and their predictions. */
#include <errno.h>
#include <stdlib.h>

#include "bench/suite/derived.h"
#include "bench/suite/predict.h"
#include "bench_sample.h"
#include "runner.h"

#define TINY 0.000000001

static struct why why;

static int read_from(struct predictions *predictions, const char *text)
{
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	int err;

	why.text[0] = '\0';
	ck_assert_ptr_nonnull(in);
	err = predict_read(predictions, in, &why);
	fclose(in);
	return err;
}

static void check_refused(const char *text, const char *line, const char *words)
{
	struct predictions predictions;

	ck_assert_int_lt(read_from(&predictions, text), 0);
	ck_assert_msg(strstr(why.text, line) && strstr(why.text, words), "'%s' lacks %s, %s",
		      why.text, line, words);
	ck_assert_ptr_null(predictions.all);
}

static double predicted_with(struct bench_results *results, const char *text, const char *name)
{
	struct predictions predictions;

	ck_assert_int_eq(read_from(&predictions, text), 0);
	predict_rows(results, &predictions);
	predict_free(&predictions);
	return bench_results_find(results, name)->predicted.value;
}

TEST(test_names_families_and_patterns_select_rows)
{
	static char *const names[] = { (char *)"switch.*" }, *const call[] = { (char *)"cpu.call" };
	static char *const family[] = { (char *)"fault" }, *const none[] = { (char *)"fau" };
	struct bench_results results;
	const char *unknown;

	bench_sample_open(&results, names, 1);
	ck_assert_uint_eq(results.nr, 3); /* also pipe.self, which is subtracted */
	ck_assert_str_eq(results.rows[0].name, "pipe.self");
	bench_results_free(&results);
	bench_sample_open(&results, call, 1);
	ck_assert_uint_eq(results.nr, 9);
	ck_assert_ptr_nonnull(bench_results_find(&results, "cpu.call:7"));
	bench_results_free(&results);
	bench_sample_open(&results, family, 1);
	ck_assert_ptr_nonnull(bench_results_find(&results, "fault.cow"));
	ck_assert_ptr_null(bench_results_find(&results, "cpu.loop"));
	bench_results_free(&results);
	ck_assert_int_eq(bench_plan_rows(&results, none, 1, &unknown), -ENOENT);
	ck_assert_str_eq(unknown, "fau");
}

TEST(test_subtraction_combines_both_uncertainties)
{
	static char *const names[] = { (char *)"switch.thread" };
	struct bench_results results;
	struct bench_row *row, *pipe;

	bench_sample_open(&results, names, 1);
	pipe = bench_sample_measure(&results, "pipe.self", 100);
	row = bench_sample_measure(&results, "switch.thread", 500);
	ck_assert_double_eq_tol(row->figures.mean, 505 - 101, TINY);
	ck_assert_double_eq_tol(row->subtracted_ns, 101, TINY);
	ck_assert_double_eq_tol(row->cycles, 2 * 500 - 101 / 0.5, TINY);
	ck_assert_double_eq_tol(row->half_width, hypot(row->figures.half_width, pipe->half_width),
				TINY);
	ck_assert_str_ne(row->contradiction.text, ""); /* 3 switches in 10000 */
	bench_results_free(&results);
}

TEST(test_row_is_missing_without_the_subtracted_row)
{
	static char *const names[] = { (char *)"switch.thread" };
	struct bench_results results;
	struct bench_row *row;

	bench_sample_open(&results, names, 1);
	row = bench_sample_measure(&results, "switch.thread", 500);
	ck_assert_ptr_nonnull(strstr(row->missing.text, "pipe.self"));
	bench_results_free(&results);
}

TEST(test_bandwidth_is_bytes_by_time)
{
	static char *const names[] = { (char *)"memory.read" };
	struct bench_results results;
	struct bench_row *row;

	bench_sample_open(&results, names, 1);
	row = bench_sample_measure(&results, "memory.read", 100000); /* 1 MB in 100 µs */
	ck_assert_double_eq_tol(row->figures.max, 10000, 0.000001);
	ck_assert_double_eq_tol(row->figures.min, 10000 / 1.1, 0.000001);
	bench_results_free(&results);
}

TEST(test_formulas_of_a_file_replace_the_built_in_ones)
{
	static char *const names[] = { (char *)"cpu", (char *)"pipe" };
	struct bench_results results;

	bench_sample_open(&results, names, 2);
	bench_sample_measure(&results, "cpu.loop", 1);
	bench_sample_measure(&results, "cpu.syscall", 100);
	bench_sample_measure(&results, "cpu.call:3", 5);
	/* 2 * cpu.syscall: 101 ns less the loop's 1.01. */
	ck_assert_double_eq_tol(predicted_with(&results, "", "pipe.self"), 2 * 99.99, 0.000001);
	ck_assert(!bench_results_find(&results, "pipe.self")->predicted.given);
	/* 2 * cpu.loop + point * cycle */
	ck_assert_double_eq_tol(bench_results_find(&results, "cpu.call:3")->predicted.value,
				2.02 + 1.5, 0.000001);
	ck_assert_double_eq_tol(predicted_with(&results, "pipe.self = 20000 cycles # a guess\n",
					       "pipe.self"),
				10000, 0.000001);
	ck_assert(bench_results_find(&results, "pipe.self")->predicted.given);
	/* A row's formula replaces the operation's formula, whatever the order of the lines. */
	ck_assert_double_eq_tol(predicted_with(&results, "cpu.call:3 = 7\ncpu.call = 1\n",
					       "cpu.call:3"),
				7, TINY);
	ck_assert_double_eq_tol(bench_results_find(&results, "cpu.call:4")->predicted.value, 1,
				TINY);
	predicted_with(&results, "\n  # nothing\ncpu.syscall.hardware = 50 ns\n", "cpu.syscall");
	ck_assert_double_eq_tol(bench_results_find(&results, "cpu.syscall")->hardware.value, 50,
				TINY);
	bench_results_free(&results);
}

/* The results are sizes, so it has no cycles. */
TEST(test_cache_size_is_predicted_from_available_memory)
{
	static char *const names[] = { (char *)"file.cache_size" };
	struct bench_results results;
	struct bench_row *row;

	bench_sample_open(&results, names, 1);
	row = bench_sample_measure(&results, "file.cache_size", 1 << 20);
	ck_assert_double_eq_tol(predicted_with(&results, "", "file.cache_size"), 3ULL << 30, TINY);
	ck_assert_double_eq_tol(row->figures.min, 1 << 20, TINY);
	ck_assert(isnan(row->cycles));
	bench_results_free(&results);
}

TEST(test_formula_over_an_unmeasured_row_is_na)
{
	static char *const names[] = { (char *)"pipe.self" };
	struct bench_results results;

	bench_sample_open(&results, names, 1);
	ck_assert(isnan(predicted_with(&results, "", "pipe.self")));
	ck_assert_str_eq(results.rows[0].predicted.why.text, "cpu.syscall has no value here");
	bench_results_free(&results);
}

TEST(test_prediction_of_an_unknown_point_is_reported)
{
	static char *const names[] = { (char *)"cpu.call" };
	static const char text[] =
		"cpu.call:3 = 1\ncpu.call:99 = 1\ncpu.call = 2\nmemory.pair:99 = 3\n";
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	const struct prediction *found;
	struct predictions predictions;
	struct bench_results results;
	size_t next = 0;

	bench_sample_open(&results, names, 1);
	ck_assert_int_eq(predict_read(&predictions, in, &why), 0);
	found = predict_unmatched(&predictions, &results, &next);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->name, "cpu.call:99");
	ck_assert_ptr_null(predict_unmatched(&predictions, &results, &next));
	predict_free(&predictions);
	bench_results_free(&results);
	fclose(in);
}

TEST(test_bad_files_are_refused_with_their_line)
{
	check_refused("cpu.loop = 1\ncpu.loop\n", "line 2", "NAME = FORMULA");
	check_refused("cpu.lop = 1\n", "line 1", "cpu.lop");
	check_refused("\n\ncpu.loop = 1 +\n", "line 3", "expected a number");
	check_refused("cpu.loop = cpu.lop\n", "line 1", "cpu.lop");
	check_refused("cpu.loop:3 = 1\n", "line 1", "cpu.loop:3");
	check_refused("cpu.loop =\n", "line 1", "expected a number");
}

/* The sweep on a machine whose caches end at 32K and 1M. */
static double sweep_ns(const char *point)
{
	unsigned long bytes = strtoul(point, NULL, 10);

	bytes *= strchr(point, 'M') ? 1 << 20 : 1 << 10;
	return bytes <= 32768 ? 1 : bytes <= 1 << 20 ? 4 : 80;
}

TEST(test_caches_and_lines_are_derived)
{
	static char *const names[] = { (char *)"memory.*" };
	struct bench_results results;
	size_t i;

	bench_sample_open(&results, names, 1);
	for (i = 0; i < results.nr; i++)
		if (!strcmp(results.rows[i].operation->name, "memory.latency"))
			bench_sample_measure(&results, results.rows[i].name,
					     sweep_ns(results.rows[i].point_name));
		else if (!strcmp(results.rows[i].operation->name, "memory.pair"))
			bench_sample_measure(&results, results.rows[i].name,
					     atoi(results.rows[i].point_name) < 64 ? 5 : 8);
	ck_assert_int_eq(derived_fill(&results), 0);
	ck_assert_double_eq_tol(bench_results_find(&results, "memory.l1")->figures.mean, 32768,
				TINY);
	ck_assert_double_eq_tol(bench_results_find(&results, "memory.l2")->figures.mean, 1 << 20,
				TINY);
	ck_assert_ptr_nonnull(strstr(bench_results_find(&results, "memory.l3")->missing.text,
				     "no step"));
	ck_assert_double_eq_tol(bench_results_find(&results, "memory.line")->figures.mean, 64,
				TINY);
	ck_assert_double_eq_tol(bench_results_find(&results, "memory.dram")->figures.min, 80, TINY);
	bench_results_free(&results);
}

TEST(test_row_derived_from_noisy_rows_is_noisy)
{
	static char *const names[] = { (char *)"memory.line" };
	struct bench_results results;
	struct bench_row *row;
	size_t i;

	bench_sample_open(&results, names, 1);
	for (i = 0; i < results.nr; i++) {
		if (results.rows[i].operation->derived_from)
			continue;
		row = bench_sample_measure(&results, results.rows[i].name,
					   atoi(results.rows[i].point_name) < 64 ? 5 : 8);
		if (i % 2)
			strcpy(row->noise.text, "somebody else was busy");
	}
	ck_assert_int_eq(derived_fill(&results), 0);
	ck_assert_ptr_nonnull(strstr(bench_results_find(&results, "memory.line")->noise.text,
				     "noisy"));
	bench_results_free(&results);
}

TEST(test_sweep_within_the_caches_gives_no_dram_latency)
{
	static char *const names[] = { (char *)"memory.dram" };
	struct bench_results results;
	size_t i;

	bench_sample_open(&results, names, 1);
	for (i = 0; i < results.nr; i++)
		if (!strcmp(results.rows[i].point_name, "4K:64"))
			bench_sample_measure(&results, results.rows[i].name, 1);
	ck_assert_int_eq(derived_fill(&results), 0);
	ck_assert_ptr_nonnull(strstr(bench_results_find(&results, "memory.dram")->missing.text,
				     "beyond the caches"));
	bench_results_free(&results);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Output from pfdrive compare for a comparison with known figures. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "runner.h"
#include "apps/compare/compare.h"
#include "apps/compare/compare_print.h"
#include "user/print/print_report.h"

#define TINY 0.000000001

#define EXACTLY(number) { .value = (number) }

static const struct comparison_row rows[] = {
	{ .class = "all",
	  .measure = COMPARISON_TOTAL,
	  .part = NR_PARTS,
	  .a = EXACTLY(2518000000),
	  .b = EXACTLY(1556124000),
	  .verdict = COMPARISON_CHANGE,
	  .interval = { -0.382, -0.45, -0.3 } },
	{ .class = "all",
	  .measure = COMPARISON_READ,
	  .part = NR_PARTS,
	  .a = EXACTLY(1048576),
	  .b = EXACTLY(4096.5),
	  .verdict = COMPARISON_CHANGE,
	  .interval = { -0.996, -1, INFINITY } },
	{ .class = "disk",
	  .measure = COMPARISON_FAULTS,
	  .a = EXACTLY(1000),
	  .b = EXACTLY(1050),
	  .verdict = COMPARISON_SAME,
	  .interval = { 0.05, -0.07, 0.18 } },
	{ .class = "disk",
	  .measure = COMPARISON_MAJOR,
	  .a = EXACTLY(0),
	  .b = EXACTLY(40),
	  .verdict = COMPARISON_CHANGE,
	  .interval = { INFINITY, INFINITY, INFINITY } },
	{ .class = "disk",
	  .measure = COMPARISON_TIME,
	  .part = NR_PARTS,
	  .a = EXACTLY(150250),
	  .b = EXACTLY(180300),
	  .verdict = COMPARISON_CHANGE,
	  .interval = { 0.2, 0.19, 0.2125 } },
	{ .class = "disk",
	  .measure = COMPARISON_TIME,
	  .part = PART_QUEUE,
	  .a = EXACTLY(NAN),
	  .b = EXACTLY(NAN),
	  .verdict = COMPARISON_UNKNOWN },
	{ .class = "disk",
	  .measure = COMPARISON_TIME,
	  .part = PART_BLOCKED,
	  .a = EXACTLY(0),
	  .b = EXACTLY(0),
	  .verdict = COMPARISON_SAME },
	{ .class = "long",
	  .measure = COMPARISON_TIME,
	  .part = NR_PARTS,
	  .a = EXACTLY(3500),
	  .b = EXACTLY(NAN),
	  .verdict = COMPARISON_TOO_FEW },
	{ .class = "long",
	  .measure = COMPARISON_TIME,
	  .part = PART_CPU_BEFORE,
	  .a = EXACTLY(3500),
	  .b = EXACTLY(3500),
	  .verdict = COMPARISON_SAME,
	  .interval = { -0.0001, -0.01, 0.01 } },
};

static struct comparison comparison;
static struct compare_run run_a, run_b[2];

static struct compare_report sample(void)
{
	memcpy(comparison.rows, rows, sizeof(rows));
	comparison.nr = sizeof(rows) / sizeof(rows[0]);
	comparison.nr_judged = 4;
	comparison.rows[0].confidence = 0.9875;
	comparison.not_judged = false;
	comparison.incomplete = false;
	comparison.lost = 0;
	comparison.change = true;
	run_a = (struct compare_run){ .file = "a.pfs", .faults = 1003, .seconds = 10.0004 };
	run_b[0] = (struct compare_run){ .file = "b.pfs", .faults = 1050 };
	run_b[1] = (struct compare_run){ .file = "c.pfs", .faults = 1100 };
	return (struct compare_report){
		.a = { &run_a, 1 },
		.b = { run_b, 1 },
		.comparison = &comparison,
		.confidence = 95,
		.threshold = 5,
	};
}

static char *print(enum report_format format, const struct compare_report *report)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(compare_print(out, format, report), 0);
	fclose(out);
	return text;
}

static void check_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

TEST(test_table_has_values_differences_and_verdicts)
{
	const struct compare_report report = sample();
	char *text = print(REPORT_TABLE, &report);

	golden_check("compare", text);
	free(text);
}

TEST(test_table_has_runs_rates_and_differences_of_conditions)
{
	const char *const names[] = { "6.1", "6.12" };
	json_t *differences = json_pack("[{ss s[s] s[ss]}]", "key", "kernel", "a", names[0], "b",
					names[0], names[1]);
	struct compare_report report = sample();
	char *text;

	report.rates = true;
	report.b.nr = 2;
	report.differences = differences;
	text = print(REPORT_TABLE, &report);
	check_contains(text, "A: a.pfs, 1003 faults in 10.000 s\nB1: b.pfs, 1050 faults\n"
			     "B2: c.pfs, 1100 faults\nDiffers: kernel: A 6.1; B 6.1, 6.12\n\n");
	check_contains(text, "A has only one run: its runs are assumed to differ as much as B's.");
	check_contains(text, "a change, if A's runs differ as much as B's.\n");
	check_contains(text, "2518.000 ms/s");
	check_contains(text, "1050/s");
	check_contains(text, " 150.25 µs ");
	free(text);
	json_decref(differences);
}

/* The sentence is about the total, not about the most expensive row. */
TEST(test_last_sentence_is_about_the_total_time)
{
	struct compare_report report = sample();
	char *text = compare_print_sentence(&report);

	ck_assert_str_eq(text, "Total time in faults: 2518.000 ms in A, 1556.124 ms in B, -38.2% "
			       "(from -45.0% to -30.0%): change.");
	free(text);
	comparison.rows[0].verdict = COMPARISON_TOO_FEW;
	text = compare_print_sentence(&report);
	ck_assert_str_eq(text, "Total time in faults: 2518.000 ms in A, 1556.124 ms in B "
			       "(too few).");
	free(text);
	comparison.nr = 0;
	text = compare_print_sentence(&report);
	ck_assert_str_eq(text, "Total time in faults: there were no faults.");
	free(text);
}

TEST(test_table_warns_of_losses_and_damage)
{
	struct compare_report report = sample();
	char *text;

	run_a.lost_records = 3;
	run_a.lost_events = 4;
	run_b[0].lost_records = COUNT_NA;
	run_b[0].lost_events = COUNT_NA;
	run_b[0].damage = "b.pfs was cut: it has no end";
	text = print(REPORT_TABLE, &report);
	check_contains(text, "A: LOST 3 RECORDS AND 4 EVENTS: COUNTS AND TIMES ARE TOO LOW\n"
			     "B: THE NUMBER OF LOST RECORDS IS NOT KNOWN\n"
			     "B: b.pfs was cut: it has no end\n"
			     "A: a.pfs, ");
	free(text);
}

TEST(test_csv_has_every_row)
{
	const struct compare_report report = sample();
	char *text = print(REPORT_CSV, &report);

	golden_check("compare", text);
	free(text);
}

static json_t *print_and_parse(const struct compare_report *report)
{
	char *text = print(REPORT_JSON, report);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(root, "%s at %d:%d", error.text, error.line, error.column);
	free(text);
	return root;
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	ck_assert_msg(json_is_number(value), "no number %s", key);
	return json_number_value(value);
}

TEST(test_json_has_the_figures)
{
	struct compare_report report = sample();
	json_t *root, *row;

	run_b[0].damage = "b.pfs was cut";
	run_b[0].lost_records = COUNT_NA;
	run_b[0].file = "b\xff.pfs";
	root = print_and_parse(&report);
	ck_assert(json_is_true(json_object_get(root, "change")));
	ck_assert_double_eq(number_of(root, "confidence_percent"), 95);
	ck_assert_double_eq(number_of(root, "lost_percent"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), "change");
	ck_assert(json_is_false(json_object_get(root, "rates")));
	ck_assert(json_is_false(json_object_get(root, "between_runs")));
	ck_assert_double_eq_tol(number_of(json_object_get(root, "total"), "difference_percent"),
				-38.2, TINY);
	ck_assert_double_eq_tol(number_of(json_object_get(root, "total"),
					  "interval_confidence_percent"),
				98.75, TINY);
	ck_assert_double_eq(number_of(json_object_get(root, "a"), "seconds"), 10.0004);
	row = json_object_get(root, "b");
	ck_assert_str_eq(json_string_value(json_object_get(row, "file")), "b?.pfs");
	ck_assert_str_eq(json_string_value(json_object_get(row, "damage")), "b.pfs was cut");
	ck_assert(json_is_null(json_object_get(row, "lost")));
	ck_assert_double_eq(number_of(row, "events_lost"), 0);
	ck_assert(json_is_null(json_object_get(json_object_get(root, "a"), "damage")));
	ck_assert_uint_eq(json_array_size(json_object_get(root, "rows")), 9);
	row = json_array_get(json_object_get(root, "rows"), 4);
	ck_assert_str_eq(json_string_value(json_object_get(row, "measure")), "whole");
	ck_assert_str_eq(json_string_value(json_object_get(row, "unit")), "ns");
	ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "change");
	ck_assert_double_eq_tol(number_of(row, "difference_percent"), 20, TINY);
	ck_assert_double_eq_tol(number_of(row, "low_percent"), 19, TINY);
	ck_assert_double_eq_tol(number_of(row, "b"), 180300, TINY);
	json_decref(root);
}

TEST(test_table_states_the_condition_for_the_confidence)
{
	struct compare_run runs[3] = { { .file = "a.pfs" },
				       { .file = "b.pfs" },
				       { .file = "c.pfs" } };
	struct compare_report report = sample();
	char *text;

	report.a = (struct compare_side){ runs, 2 };
	report.b = (struct compare_side){ runs, 3 };
	text = print(REPORT_TABLE, &report);
	check_contains(text, "Several runs: the intervals include differences between runs.\n");
	check_contains(text, "With 95 % confidence no row of equal programs is a change.\n");
	free(text);
	report.b.nr = 2;
	text = print(REPORT_TABLE, &report);
	check_contains(text, "a change, if A's runs differ as much as B's.\n");
	free(text);
	report.b.nr = 1;
	text = print(REPORT_TABLE, &report);
	check_contains(text, "B has only one run: its runs are assumed to differ as much as A's.");
	free(text);
}

TEST(test_json_of_several_runs_is_a_list)
{
	struct compare_report report = sample();
	json_t *root, *runs;

	report.b.nr = 2;
	root = print_and_parse(&report);
	runs = json_object_get(json_object_get(root, "b"), "runs");
	ck_assert_uint_eq(json_array_size(runs), 2);
	ck_assert_double_eq(number_of(json_array_get(runs, 1), "faults"), 1100);
	json_decref(root);
}

/* Unknown and infinite values are null, never 0. */
TEST(test_json_is_null_where_there_is_no_number)
{
	const struct compare_report report = sample();
	json_t *root = print_and_parse(&report), *row;

	row = json_array_get(json_object_get(root, "rows"), 3);
	ck_assert(json_is_null(json_object_get(row, "difference_percent")));
	ck_assert_double_eq(number_of(row, "a"), 0);
	row = json_array_get(json_object_get(root, "rows"), 5);
	ck_assert(json_is_null(json_object_get(row, "a")));
	row = json_array_get(json_object_get(root, "rows"), 7);
	ck_assert(json_is_null(json_object_get(row, "low_percent")));
	ck_assert(json_is_null(json_object_get(row, "b")));
	json_decref(root);
}

TEST(test_no_change_is_printed_too)
{
	struct compare_report report = sample();
	char *text;

	comparison.change = false;
	text = print(REPORT_TABLE, &report);
	check_contains(text, "Any row: no change. Total");
	free(text);
}

static void check_unjudged(struct compare_report *report, enum comparison_verdict verdict,
			   const char *word, const char *reason)
{
	json_t *root, *row;
	char *text;
	size_t i;

	for (i = 0; i < comparison.nr; i++)
		comparison.rows[i].verdict = verdict;
	comparison.rows[0].confidence = 0;
	comparison.change = false;
	text = print(REPORT_TABLE, report);
	check_contains(text, reason);
	check_contains(text, "Any row: ");
	check_contains(strstr(text, "Any row: "), word);
	ck_assert_ptr_null(strstr(text, "From … To:"));
	free(text);
	text = print(REPORT_CSV, report);
	check_contains(text, "all,total,ns,2518000000,1556124000,-38.2,n/a,n/a,");
	check_contains(text, word);
	free(text);
	root = print_and_parse(report);
	ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), word);
	ck_assert(json_is_null(json_object_get(root, "change")));
	row = json_object_get(root, "total");
	ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), word);
	ck_assert_double_eq_tol(number_of(row, "difference_percent"), -38.2, TINY);
	ck_assert(json_is_null(json_object_get(row, "low_percent")));
	ck_assert(json_is_null(json_object_get(row, "interval_confidence_percent")));
	json_decref(root);
}

TEST(test_rows_that_are_not_judged_have_a_difference_without_an_interval)
{
	struct compare_report report = sample();
	struct drawing drawing;

	comparison.not_judged = true;
	check_unjudged(
		&report, COMPARISON_NOT_JUDGED, "not judged",
		"Nothing is judged: one run on each side does not show how much runs differ.");
	ck_assert_int_eq(fig_compare_draw(&drawing, &report, "Less time in B."), 0);
	ck_assert(!drawing_is_drawn(&drawing));
	drawing_free(&drawing);
	report = sample();
	comparison.incomplete = true;
	comparison.lost = INFINITY;
	check_unjudged(&report, COMPARISON_INCOMPLETE, "incomplete",
		       "Nothing is judged: a recording is cut or damaged, or lost more than 5 % of "
		       "its records or events.");
}

TEST(test_table_has_the_threshold_with_the_losses)
{
	struct compare_report report = sample();
	char *text;

	comparison.lost = 0.0125;
	text = print(REPORT_TABLE, &report);
	check_contains(text, "A change is a difference of at least 6.25 % whose");
	free(text);
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	const struct compare_report report = sample();
	enum report_format format;
	FILE *full;

	for (format = REPORT_TABLE; format <= REPORT_JSON; format++) {
		full = fopen("/dev/full", "w");
		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq(compare_print(full, format, &report), -ENOSPC);
		fclose(full);
	}
	ck_assert_int_eq(compare_print(stdout, (enum report_format)3, &report), -EINVAL);
}

/* Counts and mean times. Infinite ratios are drawn at the edge. */
TEST(test_figure_clips_infinite_ratios_at_the_edge)
{
	const struct compare_report report = sample();
	struct drawing drawing;

	ck_assert_int_eq(fig_compare_draw(&drawing, &report, "Less time in B."), 0);
	ck_assert(drawing_is_drawn(&drawing));
	ck_assert_str_eq(drawing.texts[DRAWING_CSV],
			 "row,class,measure,times,low_times,high_times,change\n"
			 "5,all,total,0.618000,0.550000,0.700000,1\n"
			 "4,all,read,0.010000,0.010000,100.000000,1\n"
			 "3,disk,faults,1.050000,0.930000,1.180000,0\n"
			 "2,disk,major,100.000000,100.000000,100.000000,1\n"
			 "1,disk,whole,1.200000,1.190000,1.212500,1\n");
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_SCRIPT],
				     "'started a read: mean time' 1)"));
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_AMOUNT],
				     "5 of 4 differences. With 95 %"));
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_READING],
				     "The largest change: started a read (disk), major faults, "
				     "of which A has none."));
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_READING], "Less time in B. "));
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_SCRIPT], "'all faults: total time' 5,"));
	drawing_free(&drawing);
}

/* A change shown only in the table is named, too. */
TEST(test_figure_names_a_change_that_it_does_not_draw)
{
	const struct compare_report report = sample();
	struct drawing drawing;
	size_t i;

	for (i = 0; i < comparison.nr; i++)
		if (comparison.rows[i].verdict == COMPARISON_CHANGE)
			comparison.rows[i].verdict = COMPARISON_SAME;
	comparison.rows[comparison.nr - 1].verdict = COMPARISON_CHANGE;
	comparison.rows[comparison.nr - 1].interval = (struct interval){ 0.9, 0.8, 1.0 };
	ck_assert_int_eq(fig_compare_draw(&drawing, &report, "Less time in B."), 0);
	ck_assert_ptr_nonnull(strstr(drawing.texts[DRAWING_READING],
				     "The largest change: in the cache (long), CPU, before any "
				     "wait (cpu_before), +90.0 % (from +80.0 % to +100.0 %)."));
	drawing_free(&drawing);
}

TEST(test_heads_that_differ_are_listed)
{
	json_t *heads[3], *differences, *right;
	unsigned int i;

	heads[0] = json_pack("{s{ss ss si sn} sb s[s]}", "environment", "kernel", "6.1", "started",
			     "1", "cpus", 2, "cgroup", "have_bpf", 1, "hooks", "block");
	heads[1] = json_pack("{s{ss ss si} sb s[s]}", "environment", "kernel", "6.1", "started",
			     "2", "cpus", 4, "have_bpf", 1, "hooks", "block");
	heads[2] = json_pack("{s{ss ss si ss} sb s[]}", "environment", "kernel", "6.12", "started",
			     "3", "cpus", 4, "device", "sda", "have_bpf", 1, "hooks");
	differences =
		compare_heads((const json_t *const *)heads, 1, (const json_t *const *)heads + 1, 2);
	right = json_pack("[{ss s[s] s[ss]}{ss s[s] s[s]}{ss s[s] s[ss]}{ss s[s] s[ss]}]", "key",
			  "kernel", "a", "6.1", "b", "6.1", "6.12", "key", "cpus", "a", "2", "b",
			  "4", "key", "hooks", "a", "[\"block\"]", "b", "[\"block\"]", "[]", "key",
			  "device", "a", "n/a", "b", "n/a", "sda");
	ck_assert(json_equal(differences, right));
	json_decref(differences);
	/* The heads are equal. Only the start time differs, as always. */
	differences =
		compare_heads((const json_t *const *)heads, 1, (const json_t *const *)heads, 1);
	ck_assert_uint_eq(json_array_size(differences), 0);
	json_decref(differences);
	json_decref(right);
	for (i = 0; i < 3; i++)
		json_decref(heads[i]);
}

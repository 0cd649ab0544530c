// SPDX-License-Identifier: GPL-2.0-only
/* Output from pfdrive bench: JSON against the schema, CSV columns, words in the table. */
#include <stdlib.h>

#include "bench/suite/predict.h"
#include "bench/suite/print/bench_print.h"
#include "bench_sample.h"
#include "runner.h"
#include "schema.h"

static void open_results(struct bench_results *results)
{
	static char *const names[] = { (char *)"cpu.syscall", (char *)"pipe", (char *)"switch" };
	static const struct predictions none;
	struct bench_row *row;

	bench_sample_open(results, names, 3);
	strcpy(results->state.turbo, "on");
	results->state.load = 0.25;
	results->files = (struct bench_folder){
		.directory = "/var/tmp",
		.filesystem = "ext4",
		.device = "vda",
	};
	results->nfs = (struct bench_folder){
		.directory = "/far",
		.filesystem = "nfs4",
		.no_direct = { "Invalid argument" },
	};
	results->options.peer = "far.example";
	results->options.port = "7373";
	bench_sample_measure(results, "cpu.loop", 1);
	bench_sample_measure(results, "pipe.self", 200);
	row = bench_sample_measure(results, "switch.thread", 1000);
	row->seen = (struct bench_seen){
		.operations = 1000,
		.counts = { .event = { 1000, 2000, 0, 0 } },
		.watched_ns = 4000,
		.kernel_source = "module",
		.kernel_faults = 10,
		.kernel_ns = 345.5,
		.mmap_lock_share = 0.125,
	};
	why_set(&row->noise, "it says \"no\", twice");
	predict_rows(results, &none);
}

static char *print(int (*printer)(FILE *out, const struct bench_results *results))
{
	struct bench_results results;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	open_results(&results);
	ck_assert_int_eq(printer(out, &results), 0);
	fclose(out);
	bench_results_free(&results);
	return text;
}

static bool accepted(struct schema *schema, const json_t *json)
{
	return schema_accepts(schema, schema->root, json, "$");
}

TEST(test_json_matches_the_schema_and_needs_every_key)
{
	struct schema schema = schema_load();
	char *text = print(bench_json_print);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_ptr_nonnull(json);
	ck_assert_msg(accepted(&schema, json), "%s", schema.why);
	ck_assert_uint_ge(schema_check_strict(&schema, json, json), 150);
	ck_assert_msg(accepted(&schema, json), "%s", schema.why);
	json_decref(json);
	json_decref((json_t *)schema.root);
	free(text);
}

static const json_t *row_of(const json_t *json, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(json, "rows"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "name")), name))
			return row;
	ck_abort_msg("no row %s", name);
	return NULL;
}

TEST(test_json_holds_the_figures)
{
	char *text = print(bench_json_print);
	json_t *json = json_loads(text, 0, NULL);
	const json_t *row = row_of(json, "switch.thread");
	const json_t *measured = json_object_get(row, "measured");
	const json_t *watched = json_object_get(row, "watched");

	ck_assert_double_eq_tol(json_number_value(json_object_get(measured, "mean")), 1010 - 202,
				0.001);
	ck_assert_int_eq(json_integer_value(json_object_get(measured, "operations")), 10000);
	ck_assert(json_is_null(json_object_get(json_object_get(measured, "rusage"), "syscalls")));
	ck_assert_double_eq_tol(json_number_value(json_object_get(watched, "kernel_ns")), 345.5,
				0.001);
	row = row_of(json, "cpu.syscall");
	ck_assert(json_is_null(json_object_get(row, "measured")));
	ck_assert_str_eq(json_string_value(json_object_get(row, "missing")), "it was not its turn");
	json_decref(json);
	free(text);
}

/* Counts the commas outside quotes. */
static unsigned int columns_of(const char *line)
{
	unsigned int nr = 1;
	bool quoted = false;

	for (; *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		nr += !quoted && *line == ',';
	}
	return nr;
}

TEST(test_csv_has_all_columns_in_each_line)
{
	char *text = print(bench_csv_print), *line = text;
	const unsigned int columns = columns_of(text);
	unsigned int lines = 0;

	for (; *line; line = strchr(line, '\n') + 1, lines++)
		ck_assert_uint_eq(columns_of(line), columns);
	ck_assert_uint_eq(lines, 6); /* the header, then loop, syscall, pipe, two switches */
	ck_assert_ptr_nonnull(strstr(text, "\ncpu.syscall,ns,n/a,"));
	ck_assert_ptr_nonnull(strstr(text, "\"it says \"\"no\"\", twice\""));
	free(text);
}

TEST(test_table_begins_with_warnings_and_ends_with_missing_rows)
{
	char *text = print(bench_table_print);

	ck_assert_int_eq(strncmp(text, "CONTRADICTED: switch.thread", 27), 0);
	ck_assert_ptr_nonnull(strstr(text, "NOISY: do not trust switch.thread: it says"));
	ck_assert_ptr_nonnull(strstr(text, "Files         in /var/tmp: ext4 on vda, O_DIRECT\n"));
	ck_assert_ptr_nonnull(strstr(text, "in /far: nfs4, no O_DIRECT: Invalid argument\n"));
	ck_assert_ptr_nonnull(strstr(text, "Peer          far.example, port 7373\n"));
	ck_assert_ptr_nonnull(strstr(text, "  12.5%\n")); /* under mmap_lock */
	ck_assert_ptr_nonnull(strstr(text, "  pipe.self = 2 * cpu.syscall = n/a: "));
	ck_assert_ptr_nonnull(strstr(text, "\nNot measured\n  cpu.syscall, "
					   "switch.process: it was not its turn\n"));
	free(text);
}

TEST(test_report_has_a_section_for_each_operation)
{
	static const char *const words[] = {
		"\ncpu.syscall\n===========\n",
		"\nswitch.thread\n",
		"``2 * cpu.syscall``",
		"The time of ``pipe.self`` is subtracted.",
		"\"n/a: it was not its turn\"",
		"In 1000 of ``switch.thread`` eBPF saw 1000 context switches, 2000 system calls",
		"\"Turbo\",\"on\"",
		"\"Files in /var/tmp\",\"ext4 on vda, O_DIRECT\"",
		"\"Peer\",\"far.example\"",
		"\"Governor\",\"n/a\"",
		"(to be written)",
	};
	char *text = print(course_report_print);
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		ck_assert_msg(strstr(text, words[i]), "no '%s' in %s", words[i], text);
	free(text);
}

/* 1 and 1000 ns on a logarithmic axis: bars of one decade and of four. */
TEST(test_report_draws_points_on_a_logarithmic_axis)
{
	static char *const names[] = { (char *)"file.random" };
	struct bench_results results;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	bench_sample_open(&results, names, 1);
	bench_sample_measure(&results, "file.random:1M", 1);
	bench_sample_measure(&results, "file.random:4M", 1000);
	ck_assert_int_eq(course_report_print(out, &results), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "logarithmic::\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n           1M |############### 1.00\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n           4M |###############"
					   "############################################# 1000\n"));
	bench_results_free(&results);
	free(text);
}

TEST(test_scaling_has_a_table_of_its_own)
{
	static char *const names[] = { (char *)"scale.anon_own", (char *)"scale.cached_own" };
	struct bench_results results;
	struct bench_row *row;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	bench_sample_open(&results, names, 2);
	row = bench_sample_measure(&results, "scale.anon_own:2", 2000 / 1.01);
	row->seen.operations = 1000;
	row->seen.mmap_lock_share = 0.25;
	row = bench_sample_measure(&results, "scale.cached_own:1", 1000 / 1.01);
	row->seen.mmap_lock_share = 0.25; /* ignored, because the row was not watched */
	ck_assert_int_eq(bench_table_print(out, &results), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "\nFaults by several threads at once\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nscale.anon_own          2    500000"));
	ck_assert_ptr_nonnull(strstr(text, "4000                   25.0%\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nscale.cached_own        1   1000000"));
	ck_assert_ptr_nonnull(strstr(text, "1000                     n/a\n"));
	bench_results_free(&results);
	free(text);
}

/* Many noisy rows have the same cause, the machine, so they share one line. */
TEST(test_many_noisy_rows_are_one_line)
{
	static char *const names[] = { (char *)"cpu" };
	struct bench_results results;
	char *text;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	bench_sample_open(&results, names, 1);
	for (i = 0; i < results.nr; i++)
		why_set(&results.rows[i].noise, "somebody else was busy");
	ck_assert_int_eq(bench_table_print(out, &results), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "NOISY: do not trust 13 of the 13 rows"));
	ck_assert_ptr_null(strstr(text, "somebody"));
	bench_results_free(&results);
	free(text);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Output from a drive with populate, fill and store steps. */
#include <jansson.h>

#include "print/print_report.h"
#include "runner.h"
#include "sample_run.h"
#include "schema.h"

static struct step_figures step_of(uint64_t ms, uint64_t bytes, uint64_t minflt, uint64_t oublock)
{
	return (struct step_figures){
		.made = true,
		.elapsed_ns = ms * 1000000,
		.bytes = bytes,
		.usage = { .minflt = minflt, .oublock = oublock, .majflt = 7 },
	};
}

/* A shared 64 MiB file: filled in 500 ms, synced in 1 s, and stored to. */
static void sample_steps(struct sample_run *run, uint64_t access_ms)
{
	struct report *report = &run->report;
	struct environment *e = &report->environment;

	sample_open(run, 150000);
	strcpy(e->map, "shared");
	strcpy(e->backing, "scratch");
	strcpy(e->fill, "msync");
	e->store_share = 0.125;
	report->drive.pages_written = 4242;
	report->drive.steps[STEP_MEMSET] = step_of(500, 64 << 20, 16384, 131072);
	report->drive.steps[STEP_MSYNC] = step_of(1000, 64 << 20, 0, 0);
	report->drive.steps[STEP_ACCESS] = step_of(access_ms, COUNT_NA, 1234, 5678);
}

/* Copies from these words to the end of the line. "\n…" anchors at the start of a line. */
static char *line_of(char *text, const char *words)
{
	char *line = strstr(text, words);

	ck_assert_msg(line, "no line %s", words);
	line += *line == '\n';
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void check_line(const struct report *runs, size_t nr, const char *words, const char *rest)
{
	char *text = sample_print(REPORT_TABLE, runs, nr);
	char *line = line_of(text, words);

	ck_assert_msg(strstr(line, rest), "'%s' has no '%s'", line, rest);
	free(text);
}

TEST(test_each_step_that_ran_has_a_row)
{
	struct sample_run run;
	char *text;

	sample_steps(&run, 100);
	check_line(&run.report, 1, "\nStep ", "");
	check_line(&run.report, 1, "\nmemset ", "500.0  128.0   16384       7        0   131072");
	check_line(&run.report, 1, "\nmsync ", "1000.0   64.0");
	check_line(&run.report, 1, "\naccess ", "100.0      -    1234       7        0     5678");
	text = sample_print(REPORT_TABLE, &run.report, 1);
	ck_assert_ptr_null(strstr(text, "\npopulate"));
	free(text);
	sample_close(&run);
}

TEST(test_a_drive_that_only_reads_has_no_steps)
{
	struct sample_run run;
	char *text;

	sample_steps(&run, 100);
	run.report.environment.store_share = 0;
	run.report.environment.fill[0] = '\0';
	run.report.drive.steps[STEP_MEMSET].made = false;
	run.report.drive.steps[STEP_MSYNC].made = false;
	text = sample_print(REPORT_TABLE, &run.report, 1);
	ck_assert_ptr_null(strstr(text, "\nStep "));
	ck_assert_ptr_null(strstr(text, "Mapping"));
	free(text);
	sample_close(&run);
}

TEST(test_table_names_the_target_of_stores)
{
	struct sample_run run;

	sample_steps(&run, 100);
	check_line(&run.report, 1, "Mapping",
		   "shared; memset and msync first; 12.5 % of the "
		   "accesses store, to the file");
	strcpy(run.report.environment.map, "private+populate");
	check_line(&run.report, 1, "Mapping", "private+populate; memset and msync first; 12.5 %");
	strcpy(run.report.environment.map, "anon");
	strcpy(run.report.environment.backing, "anonymous");
	strcpy(run.report.environment.transparent_hugepage, "madvise");
	run.report.environment.cache[0] = '\0';
	check_line(&run.report, 1, "Memory", "anonymous; transparent huge pages: madvise");
	sample_close(&run);
}

TEST(test_table_has_mean_and_deviation_of_steps)
{
	struct sample_run runs[2];
	struct report reports[2];
	char *text, *mean;

	sample_steps(&runs[0], 100);
	sample_steps(&runs[1], 300);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	text = sample_print(REPORT_TABLE, reports, 2);
	mean = strstr(text, "Mean ± standard deviation of 2 runs");
	ck_assert_ptr_nonnull(mean);
	/* 100 and 300: mean 200, the deviation is the square root of 2 times 100². */
	ck_assert_ptr_nonnull(strstr(line_of(mean, "access "), "200.0 ± 141.4"));
	free(text);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

static json_t *print_json(const struct report *runs, size_t nr)
{
	json_error_t error;
	struct schema schema = schema_load();
	char *text = sample_print(REPORT_JSON, runs, nr);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(json, "%s", error.text);
	ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
	json_decref((json_t *)schema.root);
	free(text);
	return json;
}

static json_int_t integer_of(json_t *step, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(step, "rusage"), key));
}

TEST(test_json_has_the_usage_of_each_step)
{
	struct sample_run run;
	json_t *json, *steps, *environment;

	sample_steps(&run, 100);
	json = print_json(&run.report, 1);
	steps = json_object_get(json, "steps");
	environment = json_object_get(json, "environment");
	ck_assert(json_is_null(json_object_get(steps, "populate")));
	ck_assert_int_eq(integer_of(json_object_get(steps, "memset"), "oublock"), 131072);
	ck_assert_int_eq(integer_of(json_object_get(steps, "access"), "minflt"), 1234);
	ck_assert(json_is_null(json_object_get(json_object_get(steps, "access"), "bytes")));
	ck_assert_int_eq(json_integer_value(json_object_get(json, "pages_written")), 4242);
	ck_assert_str_eq(json_string_value(json_object_get(environment, "fill")), "msync");
	ck_assert_str_eq(json_string_value(json_object_get(environment, "backing")), "scratch");
	ck_assert_double_eq(json_number_value(json_object_get(environment, "store_share")), 0.125);
	json_decref(json);
	sample_close(&run);
}

/* A record, and a drive of memory without a file, lack such figures: null, not 0. */
TEST(test_values_that_do_not_apply_are_null)
{
	struct sample_run run;
	json_t *json, *environment;

	sample_steps(&run, 100);
	run.report.environment.resident_pages = COUNT_NA;
	strcpy(run.report.environment.backing, "anonymous");
	json = print_json(&run.report, 1);
	environment = json_object_get(json, "environment");
	ck_assert(json_is_null(json_object_get(environment, "resident_pages")));
	json_decref(json);
	sample_close(&run);

	sample_open_empty(&run);
	strcpy(run.report.environment.kind, "record");
	json = print_json(&run.report, 1);
	environment = json_object_get(json, "environment");
	ck_assert(json_is_null(json_object_get(environment, "store_share")));
	ck_assert(json_is_null(json_object_get(environment, "map")));
	ck_assert(json_is_null(json_object_get(json, "pages_written")));
	ck_assert(json_is_null(json_object_get(json_object_get(json, "steps"), "access")));
	json_decref(json);
	sample_close(&run);
}

TEST(test_json_has_the_mean_of_steps)
{
	struct sample_run runs[2];
	struct report reports[2];
	json_t *json, *step;

	sample_steps(&runs[0], 100);
	sample_steps(&runs[1], 300);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	json = print_json(reports, 2);
	step = json_object_get(json_object_get(json_object_get(json, "mean"), "steps"), "access");
	ck_assert_double_eq_tol(json_number_value(json_object_get(step, "elapsed_ns")), 2e8, 0.1);
	json_decref(json);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

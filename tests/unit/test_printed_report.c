// SPDX-License-Identifier: GPL-2.0-only
/* Whole reports on the sample run, as they are printed. */
#include "golden.h"
#include "runner.h"
#include "sample_run.h"

static void check_printed(const char *test, enum report_format format, const struct report *runs,
			  size_t nr)
{
	char *text = sample_print(format, runs, nr);

	golden_check_of("report", test, text);
	free(text);
}

TEST(test_short_table)
{
	struct sample_run run;

	sample_open(&run, 100000);
	run.report.full = false;
	check_printed(__func__, REPORT_TABLE, &run.report, 1);
	sample_close(&run);
}

TEST(test_full_table_with_groups)
{
	struct sample_run run;

	sample_open(&run, 100000);
	sample_groups(&run, GROUP_BY_FILE);
	check_printed(__func__, REPORT_TABLE, &run.report, 1);
	sample_close(&run);
}

TEST(test_table_without_bpf)
{
	struct sample_run run;

	sample_open(&run, 100000);
	sample_without_bpf(&run.report);
	run.report.full = false;
	check_printed(__func__, REPORT_TABLE, &run.report, 1);
	sample_close(&run);
}

TEST(test_table_of_a_run_without_faults)
{
	struct sample_run run;

	sample_open_empty(&run);
	check_printed(__func__, REPORT_TABLE, &run.report, 1);
	sample_close(&run);
}

TEST(test_table_of_two_runs)
{
	struct sample_run a, b;
	struct report reports[2];

	sample_open(&a, 100000);
	sample_open(&b, 250000);
	reports[0] = a.report;
	reports[1] = b.report;
	check_printed(__func__, REPORT_TABLE, reports, 2);
	sample_close(&a);
	sample_close(&b);
}

TEST(test_csv_of_classes_and_of_groups)
{
	struct sample_run run;

	sample_open(&run, 100000);
	check_printed(__func__, REPORT_CSV, &run.report, 1);
	sample_groups(&run, GROUP_BY_THREAD);
	check_printed(__func__, REPORT_CSV, &run.report, 1);
	sample_close(&run);
}

TEST(test_json_with_groups)
{
	struct sample_run run;

	sample_open(&run, 100000);
	sample_groups(&run, GROUP_BY_FILE);
	check_printed(__func__, REPORT_JSON, &run.report, 1);
	sample_close(&run);
}

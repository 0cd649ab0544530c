// SPDX-License-Identifier: GPL-2.0-only
/* Whole reports on the sample run, as they are printed. */
#include "golden.h"
#include "runner.h"
#include "sample_run.h"
#include "user/print/text/table.h"

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

/* The row after the last one: a printer that reads past its array prints it. */
#define BEYOND "BEYOND THE END"

static void check_tables(const char *test, const struct report *run)
{
	static int (*const tables[])(FILE *out, const struct report *run) = {
		table_steps, table_waits, table_handlers, table_evictions, table_calls,
	};
	char *text = NULL;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		ck_assert_int_eq(tables[i](out, run), 0);
		fputc('\n', out);
	}
	table_lock_notes(out, run);
	fclose(out);
	ck_assert_ptr_null(strstr(text, BEYOND));
	golden_check_of("report", test, text);
	free(text);
}

static void add_steps(struct report_drive *drive)
{
	drive->steps[STEP_POPULATE] = (struct step_figures){
		.made = true,
		.elapsed_ns = 2500000,
		.bytes = 5 << 20,
		.usage = { .minflt = 3, .majflt = 4, .inblock = 5, .oublock = 6, .nvcsw = 7 },
	};
	drive->steps[STEP_MEMSET] = (struct step_figures){ .made = true, .bytes = COUNT_NA };
}

TEST(test_two_rows_of_each_table)
{
	struct wait_row waits[] = {
		{ .cause = "mmap_lock", .functions = "down_read<lock_mm_and_find_vma", .sleeps = 2,
		  .total_ns = 9000000, .max_ns = 5000000 },
		{ .functions = "wait_for_stable_page", .sleeps = 1, .total_ns = 12345,
		  .max_ns = 12345 },
		{ .cause = BEYOND, .functions = BEYOND, .sleeps = 1 },
	};
	struct evictions_pair pairs[] = {
		{ .reason = EVICTIONS_DROPPED, .evictor = 7, .victim = 7, .pages = 500,
		  .faults = 30, .total_ns = 4000000, .evictor_name = "itself" },
		{ .evictor = 8, .victim = 7, .pages = 20, .faults = 2, .total_ns = 70000,
		  .evictor_name = "kswapd0" },
		{ .evictor = 9, .victim = 9, .pages = 1, .evictor_name = BEYOND },
	};
	struct report_call calls[] = {
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = 4, .count = 12, .failed = 1,
		    .bytes = 1 << 20, .total_ns = 3000000 },
		  "main+0x10", "/srv/data" },
		{ { .kind = PFSTAT_CALL_FORK, .count = 1, .total_ns = 150000, .forks = 1,
		    .forks_counted = 1, .fork_pages = 512, .fork_table_bytes = 8192 },
		  "(not known)", "" },
		{ { .kind = PFSTAT_CALL_MMAP, .count = 1 }, BEYOND, BEYOND },
	};
	struct lock_waker_row wakers[] = {
		{ .tid = 80, .doing = 1, .comm = "writer", .sleeps = 2, .total_ns = 6000000,
		  .max_ns = 5000000 },
		{ .tid = 81, .doing = 2, .comm = "other", .sleeps = 1, .total_ns = 3000000,
		  .max_ns = 3000000 },
		{ .tid = 82, .comm = "BEYOND", .sleeps = 9, .total_ns = 9000000 },
	};
	struct handlers_figures *handlers;
	struct sample_run run;

	sample_open(&run, 100000);
	add_steps(&run.report.drive);
	run.report.waits = (struct report_waits){ waits, 2, 4000 };
	run.report.pages.pairs = pairs;
	run.report.pages.nr_pairs = 2;
	run.report.pages.evictions.evicted = 600;
	run.report.calls = (struct report_calls){ calls, 2, 3 };
	run.report.mmap_lock = (struct report_mmap_lock){ wakers, 2, 3, 9000000, 8000000 };
	handlers = &run.report.evidence.handlers;
	handlers->nr = 2;
	handlers->rows[0] = (struct handler_row){ .pid = 90, .name = "pager", .threads = 2,
						  .waits = 4, .total_ns = 8000, .max_ns = 5000,
						  .queue_ns = 3000, .work_ns = 5000 };
	handlers->rows[1] = (struct handler_row){ .waits = 1, .total_ns = 700, .max_ns = 700,
						  .unread_ns = 700 };
	handlers->rows[2] = (struct handler_row){ .pid = 91, .name = BEYOND };
	check_tables(__func__, &run.report);
	/* The second row is summed up, and the array still ends. */
	run.report.top = 1;
	check_tables(__func__, &run.report);
	sample_close(&run);
}

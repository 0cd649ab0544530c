// SPDX-License-Identifier: GPL-2.0-only
/* Whole reports on the sample run, as they are printed. */
#include "golden.h"
#include "runner.h"
#include "sample_run.h"
#include "user/print/text/table.h"
#include "user/print/text/table_measures.h"

#include <sys/mman.h>

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

typedef int table(FILE *out, const struct report *run);

/* @tables: ends with NULL */
static void check_tables(const char *test, const struct report *run, table *const *tables)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (; *tables; tables++) {
		ck_assert_int_eq((*tables)(out, run), 0);
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
	static table *const tables[] = { table_steps,	  table_waits, table_handlers,
					 table_evictions, table_calls, NULL };
	struct wait_row waits[] = {
		{ .cause = "mmap_lock",
		  .functions = "down_read<lock_mm_and_find_vma",
		  .sleeps = 2,
		  .total_ns = 9000000,
		  .max_ns = 5000000 },
		{ .functions = "wait_for_stable_page",
		  .sleeps = 1,
		  .total_ns = 12345,
		  .max_ns = 12345 },
		{ .cause = BEYOND, .functions = BEYOND, .sleeps = 1 },
	};
	struct evictions_pair pairs[] = {
		{ .reason = EVICTIONS_DROPPED,
		  .evictor = 7,
		  .victim = 7,
		  .pages = 500,
		  .faults = 30,
		  .total_ns = 4000000,
		  .evictor_name = "itself" },
		{ .evictor = 8,
		  .victim = 7,
		  .pages = 20,
		  .faults = 2,
		  .total_ns = 70000,
		  .evictor_name = "kswapd0" },
		{ .evictor = 9, .victim = 9, .pages = 1, .evictor_name = BEYOND },
	};
	struct report_call calls[] = {
		{ { .kind = PFSTAT_CALL_MADVISE,
		    .detail = 4,
		    .count = 12,
		    .failed = 1,
		    .bytes = 1 << 20,
		    .total_ns = 3000000 },
		  "main+0x10",
		  "/srv/data" },
		{ { .kind = PFSTAT_CALL_FORK,
		    .count = 1,
		    .total_ns = 150000,
		    .forks = 1,
		    .forks_counted = 1,
		    .fork_pages = 512,
		    .fork_table_bytes = 8192 },
		  "(not known)",
		  "" },
		{ { .kind = PFSTAT_CALL_MMAP, .count = 1 }, BEYOND, BEYOND },
	};
	struct lock_waker_row wakers[] = {
		{ .tid = 80,
		  .doing = 1,
		  .comm = "writer",
		  .sleeps = 2,
		  .total_ns = 6000000,
		  .max_ns = 5000000 },
		{ .tid = 81,
		  .doing = 2,
		  .comm = "other",
		  .sleeps = 1,
		  .total_ns = 3000000,
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
	handlers->rows[0] = (struct handler_row){ .pid = 90,
						  .name = "pager",
						  .threads = 2,
						  .waits = 4,
						  .total_ns = 8000,
						  .max_ns = 5000,
						  .queue_ns = 3000,
						  .work_ns = 5000 };
	handlers->rows[1] = (struct handler_row){
		.waits = 1, .total_ns = 700, .max_ns = 700, .unread_ns = 700
	};
	handlers->rows[2] = (struct handler_row){ .pid = 91, .name = BEYOND };
	check_tables(__func__, &run.report, tables);
	/* The second row is summed up, and the array still ends. */
	run.report.top = 1;
	check_tables(__func__, &run.report, tables);
	sample_close(&run);
}

static void add_usage(struct report_extras *extras)
{
	extras->print_usage = true;
	extras->usage[USAGE_UTIME] =
		(struct usage_line){ "utime", "utime_us", "µs", 4000, COUNT_NA, "no event", NULL };
	extras->usage[USAGE_MINFLT] = (struct usage_line){
		"minflt",
		"minflt",
		"",
		12,
		10,
		"handle_mm_fault() returns",
		"a process that ran on while the watching began and ended, as a long reason"
	};
	extras->usage[USAGE_MAJFLT] =
		(struct usage_line){ "majflt", "majflt", "", 1, 2, "returns", NULL };
}

static void add_hardware(struct hw_counts *counts)
{
	enum hw_cache cache;
	enum hw_op op;

	for (cache = 0; cache < HW_NR_CACHES; cache++)
		for (op = 0; op < HW_NR_OPS; op++) {
			counts->counts[cache][op][HW_ACCESS] = (struct hw_count){
				.value = 1000 * (1 + cache) + op,
				.enabled_ns = 4,
				.running_ns = 2,
			};
			counts->counts[cache][op][HW_MISS] = (struct hw_count){ .value = 100 };
		}
	strcpy(counts->counts[HW_DTLB][HW_PREFETCH][HW_MISS].missing, "this CPU has no such event");
	counts->l1d_bytes = 32768;
	counts->walked_bytes = 65536;
}

static void add_more_memory(struct report *report)
{
	struct evictions_curve *curve = &report->pages.evictions.curve;

	curve->figures = (struct memory_curve_figures){
		.evicted = 2000,
		.returned = 1900,
		.faults = 400,
		.total_ns = 40000000,
		.sampled = 1000,
		.one_of = 2,
		.most_out = 1200,
	};
	curve->points[0] = (struct memory_curve_point){ 512, { .3, .3 }, { .4, .35 } };
	curve->points[1] = (struct memory_curve_point){ 1200, { 1, 1 }, { 1, 1 } };
	curve->points[2] = (struct memory_curve_point){ 77777, { 1, 1 }, { 1, 1 } };
	curve->nr_points = 2;
	report->pages.evictions.swaps.faults = 3;
	report->pages.evictions.swaps.unknown = 2;
}

TEST(test_two_rows_of_each_measure)
{
	static table *const tables[] = { table_more_memory, table_measures, NULL };
	struct map_line lines[] = {
		{ .start = 0x10000,
		  .end = 0x14000,
		  .prot = PROT_READ | PROT_EXEC,
		  .path = "/usr/bin/program",
		  .inode = 5,
		  .kind = MAP_KIND_TEXT,
		  .resident = 8192,
		  .swapped = 0,
		  .hooked = true,
		  .advice_known = true,
		  .ra_pages = 32,
		  .mmap_miss = 7 },
		{ .start = 0x7f0000000000,
		  .end = 0x7f0000001000,
		  .prot = PROT_READ | PROT_WRITE,
		  .shared = true,
		  .path = "",
		  .kind = MAP_KIND_SHARED,
		  .resident = COUNT_NA,
		  .swapped = 4096,
		  .ra_pages = COUNT_NA },
		{ .path = BEYOND, .end = 4096 },
	};
	struct map_list maps = { .pid = 77,
				 .program = "/usr/bin/program",
				 .lines = lines,
				 .nr_lines = 2,
				 .hooks_known = true };
	struct syscall_total totals[] = {
		{ .number = 0, .calls = 12, .errors = 2, .total_ns = 123456 },
		{ .number = 99999, .calls = 1, .total_ns = 1000 },
		{ .number = 1, .calls = 1000000, .total_ns = 1 },
	};
	struct cachegrind_function functions[] = {
		{ "run_loop", { [CACHEGRIND_DR] = 900, [CACHEGRIND_D1MR] = 90 } },
		{ "memcpy",
		  { [CACHEGRIND_DW] = 500, [CACHEGRIND_D1MW] = 50, [CACHEGRIND_DLMW] = 5 } },
		{ BEYOND, { [CACHEGRIND_DR] = 1000000 } },
	};
	struct cache_simulation simulation = {
		.version = "valgrind-3.19.0",
		.loop = { .functions = functions,
			  .nr = 2,
			  .have_summary = true,
			  .summary = { [CACHEGRIND_DR] = 901,
				       [CACHEGRIND_D1MR] = 91,
				       [CACHEGRIND_DW] = 500,
				       [CACHEGRIND_D1MW] = 50,
				       [CACHEGRIND_DLMW] = 5 } },
	};
	struct hw_counts counters = { 0 };
	struct report_extras *extras;
	struct sample_run run;

	sample_open(&run, 100000);
	extras = &run.report.extras;
	add_usage(extras);
	add_hardware(&counters);
	add_more_memory(&run.report);
	extras->print_syscalls = true;
	extras->syscalls = totals;
	extras->nr_syscalls = 2;
	extras->counters = &counters;
	extras->simulation = &simulation;
	extras->maps = &maps;
	check_tables(__func__, &run.report, tables);
	sample_close(&run);
}

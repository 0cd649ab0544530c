// SPDX-License-Identifier: GPL-2.0-only
/* A report filled from an analysis and from counters. */
#include <check.h>
#include <string.h>

#include "runner.h"
#include "user/report/report.h"
#include "user/report/view.h"

#define PAGE 4096

struct fixture {
	struct analysis *analysis;
	struct run_counters counters;
	struct report report;
};

/* One 100 µs disk fault with an 80 µs sleep in I/O wait, and one 5 µs cached fault. */
static void add_faults(struct analysis *analysis)
{
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .tid = 2,
			   .pid = 1,
			   .flags = PFSTAT_OFF_CPU_IOWAIT,
			   .ns = 1095000 },
		.off_ns = 1015000,
	};
	struct pfstat_record record = {
		.pid = 1,
		.tid = 2,
		.start_ns = 1000000,
		.duration_ns = 100000,
		.address = 5 * PAGE,
		.inode = 7,
		.class = PFSTAT_CLASS_DISK,
		.result = PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_MAJOR,
	};
	struct item item = { .type = ITEM_EVENT, .ns = stay.event.ns, .event = &stay.event };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	item = (struct item){ .type = ITEM_RECORD, .ns = 1100000, .record = &record };
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	record.start_ns = 1200000;
	record.duration_ns = 5000;
	record.address = 6 * PAGE;
	record.inode = 8;
	record.class = PFSTAT_CLASS_LONG;
	record.result = PFSTAT_RESULT_LOCKED;
	item.ns = 1205000;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

static void fixture_open(struct fixture *fixture, bool have_bpf)
{
	fixture->analysis = analysis_new(have_bpf, 4096, GROUP_BY_ALL);
	ck_assert_ptr_nonnull(fixture->analysis);
	add_faults(fixture->analysis);
	run_counters_init(&fixture->counters);
	report_init(&fixture->report);
}

static void fixture_close(struct fixture *fixture)
{
	report_exit(&fixture->report);
	run_counters_exit(&fixture->counters);
	analysis_free(fixture->analysis);
}

static void fill(struct fixture *fixture)
{
	ck_assert_int_eq(report_fill(&fixture->report, fixture->analysis, &fixture->counters), 0);
}

TEST(test_faults_and_parts_match_the_analysis)
{
	struct fixture fixture;
	const struct fault_figures *disk;

	fixture_open(&fixture, true);
	disk = &fixture.report.faults.classes[PFSTAT_CLASS_DISK];
	fixture.counters.have_bpf = true;
	fill(&fixture);
	ck_assert(fixture.report.faults.parts_known);
	ck_assert_uint_eq(fixture.report.losses.events, COUNT_NA);
	ck_assert_uint_eq(disk->count, 1);
	ck_assert_uint_eq(disk->whole.total_ns, 100000);
	ck_assert_uint_eq(disk->parts[PART_CPU_BEFORE].total_ns, 15000);
	ck_assert_uint_eq(disk->parts[PART_FOREIGN].total_ns, 80000);
	ck_assert_uint_eq(disk->parts[PART_CPU_AFTER].total_ns, 5000);
	ck_assert_uint_eq(fixture.report.faults.all.count, 2);
	ck_assert_uint_eq(fixture.report.faults.all.whole.total_ns, 105000);
	fixture_close(&fixture);
}

TEST(test_files_have_the_file_system_of_their_device)
{
	static struct filesystem rows[] = {
		{ .dev = 8 << 20 | 1, .type = "ext4" },
		{ .dev = 0, .type = "nfs4" },
	};
	struct fixture fixture;
	const struct report_places *files = &fixture.report.places[GROUP_BY_FILE];

	fixture_open(&fixture, true);
	fixture.report.groups.wanted = true;
	fixture.report.groups.by = GROUP_BY_FILE;
	fixture.counters.filesystems = rows;
	fixture.counters.nr_filesystems = 2;
	fill(&fixture);
	ck_assert_uint_eq(files->nr, 2);
	ck_assert_ptr_eq(files->rows[0].filesystem, &rows[1]);
	ck_assert_ptr_eq(fixture.report.groups.rows[1].filesystem, &rows[1]);
	/* Threads are on no file system. */
	ck_assert_ptr_null(fixture.report.places[GROUP_BY_THREAD].rows[0].filesystem);
	fixture.counters.filesystems = NULL;
	fixture.counters.nr_filesystems = 0;
	report_exit(&fixture.report);
	report_init(&fixture.report);
	fill(&fixture);
	ck_assert_ptr_null(files->rows[0].filesystem);
	fixture_close(&fixture);
}

/* A fault in a guard page returns VM_FAULT_SIGSEGV, and the signal counts. */
TEST(test_a_fault_that_fails_with_a_signal_counts_once)
{
	struct fixture fixture;
	struct run_counters *counters = &fixture.counters;
	struct pfstat_fault_value *errors;

	fixture_open(&fixture, true);
	counters->have_bpf = true;
	counters->hooks = 1U << HOOK_FAULT | 1U << HOOK_SIGNAL;
	memset(counters->faults, 0, sizeof(counters->faults));
	errors = &counters->faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_USER,
						      PFSTAT_OUTCOME_ERROR)];
	errors->count = 30; /* 20 with SIGSEGV, 10 with SIGBUS */
	counters->counts[PFSTAT_COUNT_SEGV] = 25;
	counters->counts[PFSTAT_COUNT_BUS] = 10;
	ck_assert_uint_eq(run_counters_failed(counters), 35);
	errors[PFSTAT_NR_OUTCOMES].count = 2; /* the kernel's own access */
	ck_assert_uint_eq(run_counters_failed(counters), 37);
	/* An older recording, without guard pages. */
	counters->counts[PFSTAT_COUNT_BUS] = COUNT_NA;
	ck_assert_uint_eq(run_counters_failed(counters), 57);
	fixture_close(&fixture);
}

TEST(test_counters_are_copied)
{
	struct fixture fixture;
	struct report *report = &fixture.report;

	fixture_open(&fixture, true);
	fixture.counters.have_bpf = true;
	fixture.counters.hooks = 1U << HOOK_BLOCK;
	fixture.counters.counts[PFSTAT_COUNT_OFF_CPU] = 4;
	fixture.counters.counts[PFSTAT_COUNT_EVENTS_LOST] = 2;
	fixture.counters.counts[PFSTAT_COUNT_SYSCALL_LOST] = 3;
	fixture.counters.events_skipped = 1;
	fixture.counters.faults_lost = 7;
	fixture.counters.faults_unwatched = 8;
	fixture.counters.perf_ended = 9;
	fixture.counters.calls = 2;
	fixture.counters.lost = 0;
	fixture.counters.start_ns = 500;
	fixture.counters.end_ns = 2500;
	fixture.counters.usage.majflt = 1;
	strcpy(report->bpf.missing, "not yet");
	fill(&fixture);
	ck_assert(report->bpf.known && report->bpf.have_counts);
	ck_assert_str_eq(report->bpf.missing, "");
	ck_assert_uint_eq(report->bpf.hooks, 1U << HOOK_BLOCK);
	ck_assert_uint_eq(report->losses.events, 5);
	ck_assert_uint_eq(report->losses.events_skipped, 1);
	ck_assert_uint_eq(report->losses.faults, 7);
	ck_assert_uint_eq(report->losses.unwatched, 8);
	ck_assert_uint_eq(report->losses.ended, 9);
	ck_assert_uint_eq(view_events_lost(report), 12);
	ck_assert_uint_eq(report->bpf.off_cpu_count, 4);
	ck_assert_uint_eq(report->cost.calls, 2);
	ck_assert_uint_eq(report->losses.records, 0);
	ck_assert_uint_eq(report->time.elapsed_ns, 2000);
	ck_assert_uint_eq(report->usage.majflt, 1);
	ck_assert_uint_eq(report->usage.minflt, COUNT_NA);
	ck_assert_str_eq(report->ledger.counts[0].name, "wrapper calls");
	ck_assert_uint_eq(report->ledger.counts[0].value, 2);
	fixture_close(&fixture);
}

TEST(test_known_time_is_not_replaced)
{
	struct fixture fixture;

	fixture_open(&fixture, true);
	fixture.report.time.elapsed_ns = 7;
	fixture.counters.start_ns = 500;
	fixture.counters.end_ns = 2500;
	fill(&fixture);
	ck_assert_uint_eq(fixture.report.time.elapsed_ns, 7);
	ck_assert_uint_eq(fixture.report.time.counted_ns, 7);
	fixture_close(&fixture);
}

TEST(test_steps_before_the_accesses_are_counted)
{
	struct fixture fixture;

	fixture_open(&fixture, true);
	fixture.report.time.elapsed_ns = 7;
	fixture.counters.counts_start_ns = 100;
	fixture.counters.start_ns = 500;
	fixture.counters.end_ns = 2500;
	fill(&fixture);
	ck_assert_uint_eq(fixture.report.time.elapsed_ns, 7);
	ck_assert_uint_eq(fixture.report.time.counted_ns, 2400);
	fixture_close(&fixture);
}

/* A cut recording has a head, but no counters. */
TEST(test_without_counters_hooks_come_from_the_head)
{
	struct fixture fixture;
	struct report *report = &fixture.report;

	fixture_open(&fixture, true);
	report->bpf.known = true;
	report->bpf.hooks = 1U << HOOK_WAKEUP | 1U << HOOK_FAULT;
	fill(&fixture);
	ck_assert(report->bpf.known && report->faults.parts_known && !report->bpf.have_counts);
	ck_assert_uint_eq(report->bpf.hooks, 1U << HOOK_WAKEUP | 1U << HOOK_FAULT);
	ck_assert_uint_eq(report->losses.events, COUNT_NA);
	ck_assert_uint_eq(report->bpf.off_cpu_count, COUNT_NA);
	ck_assert_uint_eq(report->cost.calls, COUNT_NA);
	ck_assert_uint_eq(report->time.elapsed_ns, COUNT_NA);
	ck_assert_uint_eq(report->ledger.unexplained, 0);
	ck_assert_uint_eq(report->faults.classes[PFSTAT_CLASS_DISK].parts[PART_FOREIGN].total_ns,
			  80000);
	fixture_close(&fixture);
}

TEST(test_parts_need_ebpf)
{
	struct fixture fixture;

	fixture_open(&fixture, false);
	strcpy(fixture.counters.bpf_missing, "--no-bpf was given");
	fill(&fixture);
	ck_assert(!fixture.report.faults.parts_known && !fixture.report.bpf.known);
	ck_assert_str_eq(fixture.report.bpf.missing, "--no-bpf was given");
	fixture_close(&fixture);
}

TEST(test_groups_are_filled_on_request)
{
	struct fixture fixture;
	struct report *report = &fixture.report;

	fixture_open(&fixture, true);
	fill(&fixture);
	ck_assert_ptr_null(report->groups.rows);
	report_exit(report);
	report->groups.wanted = true;
	report->groups.by = GROUP_BY_FILE;
	fill(&fixture);
	ck_assert_uint_eq(report->groups.nr, 2);
	ck_assert_uint_eq(report->groups.rows[0].inode, 7);
	ck_assert_uint_eq(report->groups.rows[0].total_ns, 100000);
	ck_assert_uint_eq(report->groups.rows[1].inode, 8);
	fixture_close(&fixture);
}

/* A recording may have more mappings than the limit: the report counts those without a name. */
TEST(test_mappings_beyond_the_limit_are_counted_as_lost)
{
	struct item_map *map = calloc(1, sizeof(*map) + 1);
	const struct item item = { .type = ITEM_MAP, .map = map };
	struct fixture fixture;
	uint64_t i;

	fixture_open(&fixture, true);
	*map = (struct item_map){ .bytes = PAGE, .pid = 1, .tid = 1, .path_bytes = 1 };
	for (i = 0; i < (1 << 22) + 7; i++) {
		map->address = (i + 1) * 2 * PAGE;
		ck_assert_int_eq(analysis_add(fixture.analysis, &item), 0);
	}
	ck_assert_int_eq(report_fill(&fixture.report, fixture.analysis, &fixture.counters), 0);
	ck_assert_uint_eq(fixture.report.losses.maps, 7);
	report_exit(&fixture.report);
	report_init(&fixture.report);
	fixture.counters.maps_lost = 5;
	ck_assert_int_eq(report_fill(&fixture.report, fixture.analysis, &fixture.counters), 0);
	ck_assert_uint_eq(fixture.report.losses.maps, 12);
	fixture_close(&fixture);
	free(map);
}

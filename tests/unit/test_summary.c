// SPDX-License-Identifier: GPL-2.0-only
/* A run's summary, from all records. */
#include <errno.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "sample_calls.h"

#define RETRY  PFSTAT_RESULT_RETRY
#define LOCKED PFSTAT_RESULT_LOCKED

static const enum pfstat_class study_disk[] = { PFSTAT_CLASS_DISK, PFSTAT_CLASS_WAIT,
						PFSTAT_CLASS_READAHEAD };

static struct pfstat_record record_of(uint32_t tid, enum pfstat_class class, uint64_t start_ns,
				      uint64_t duration_ns)
{
	return (struct pfstat_record){
		.tid = tid,
		.class = class,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.op = PFSTAT_OP_FAULT,
		.result = LOCKED,
		/* Each record concerns another page. */
		.address = start_ns * 4096,
	};
}

static void add(struct explain *calls, const struct pfstat_record *record)
{
	ck_assert_int_eq(explain_record(calls, record), 0);
}

static void add_stay(struct explain *calls, uint32_t tid, uint64_t off_ns, uint64_t on_ns)
{
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU, .tid = tid, .ns = on_ns },
		.off_ns = off_ns,
	};

	ck_assert_int_eq(explain_event(calls, &stay.event), 0);
}

TEST(test_empty_summary_is_zero)
{
	struct explain *calls = calls_new();
	const struct summary_figures zero = { 0 };
	struct summary_figures figures;

	calls_figures(calls, &figures);
	ck_assert_mem_eq(&figures, &zero, sizeof(zero));
	explain_free(calls);
}

TEST(test_figures_of_a_class_are_its_own)
{
	struct explain *calls = calls_new();
	struct summary_figures figures;
	struct pfstat_record record;
	uint64_t i;

	for (i = 1; i <= 100; i++) {
		record = record_of(1, PFSTAT_CLASS_LONG, 1000 * i, i);
		add(calls, &record);
	}
	record = record_of(1, PFSTAT_CLASS_DISK, 200000, 123456);
	add(calls, &record);
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.calls, 101);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].count, 100);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].total_ns, 5050);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].p50_ns, 50);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].p99_ns, 99);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].max_ns, 100);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_DISK].count, 1);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_DISK].max_ns, 123456);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_SHORT].count, 0);
	explain_free(calls);
}

TEST(test_combined_classes_are_one_population)
{
	struct explain *calls = calls_new();
	struct class_figures figures;
	struct pfstat_record record;
	uint64_t i;

	/* 1 … 90 in disk, 91 … 100 in wait: neither class has the combined median. */
	for (i = 1; i <= 100; i++) {
		record = record_of(1, i <= 90 ? PFSTAT_CLASS_DISK : PFSTAT_CLASS_WAIT, 1000 * i, i);
		add(calls, &record);
	}
	record = record_of(1, PFSTAT_CLASS_LONG, 200000, 7);
	add(calls, &record);
	summary_combine(explain_summary(calls), study_disk, 3, &figures);
	ck_assert_uint_eq(figures.count, 100);
	ck_assert_uint_eq(figures.total_ns, 5050);
	ck_assert_uint_eq(figures.p50_ns, 50);
	ck_assert_uint_eq(figures.p99_ns, 99);
	ck_assert_uint_eq(figures.max_ns, 100);
	summary_combine(explain_summary(calls), study_disk, 0, &figures);
	ck_assert_uint_eq(figures.count, 0);
	explain_free(calls);
}

TEST(test_off_cpu_time_counts_for_its_class_and_thread)
{
	struct explain *calls = calls_new();
	struct summary_figures figures;
	struct pfstat_record disk = record_of(1, PFSTAT_CLASS_DISK, 1000, 500);
	struct pfstat_record shorter = record_of(1, PFSTAT_CLASS_SHORT, 1600, 10);
	struct pfstat_record other = record_of(2, PFSTAT_CLASS_LONG, 1000, 500);
	struct class_figures combined;

	add_stay(calls, 1, 1100, 1400);
	add_stay(calls, 3, 1000, 1500);
	add(calls, &disk);
	add(calls, &other);
	add(calls, &shorter);
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_DISK].off_cpu_ns, 300);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_SHORT].off_cpu_ns, 0);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].off_cpu_ns, 0);
	ck_assert_uint_eq(figures.off_cpu_partial, 0);
	summary_combine(explain_summary(calls), study_disk, 3, &combined);
	ck_assert_uint_eq(combined.off_cpu_ns, 300);
	explain_free(calls);
}

TEST(test_dropped_intervals_mark_only_the_records_they_concern)
{
	struct explain *calls = calls_new();
	struct pfstat_record early = record_of(1, PFSTAT_CLASS_DISK, 1, 9);
	struct pfstat_record recent = record_of(1, PFSTAT_CLASS_DISK, 7000000, 100);
	struct summary_figures figures;
	uint64_t i;

	for (i = 1; i < 70000; i++)
		add_stay(calls, 1, 100 * i, 100 * i + 50);
	add(calls, &early);
	add(calls, &recent);
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.off_cpu_partial, 1);
	explain_free(calls);
}

TEST(test_late_record_is_counted_as_late)
{
	struct explain *calls = calls_new();
	struct pfstat_record record;
	struct summary_figures figures;

	record = record_of(1, PFSTAT_CLASS_LONG, 2000, 10);
	add(calls, &record);
	record = record_of(2, PFSTAT_CLASS_LONG, 1000, 10); /* another thread's off-CPU time */
	add(calls, &record);
	record = record_of(1, PFSTAT_CLASS_LONG, 1000, 10);
	add(calls, &record);
	record = record_of(1, PFSTAT_CLASS_LONG, 1500, 10); /* still before 2000 */
	add(calls, &record);
	record = record_of(1, PFSTAT_CLASS_LONG, 2000, 10); /* at the same time is not late */
	add(calls, &record);
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.late, 2);
	ck_assert_uint_eq(figures.calls, 5);
	explain_free(calls);
}

TEST(test_unknown_class_is_refused_and_not_counted)
{
	struct explain *calls = calls_new();
	struct pfstat_record record = record_of(1, PFSTAT_NR_CLASSES, 1000, 10);
	struct summary_figures figures;

	ck_assert_int_eq(explain_record(calls, &record), -EINVAL);
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.calls, 0);
	ck_assert_uint_eq(figures.faults, 0);
	explain_free(calls);
}

/* The study's random experiment: 6198 of 11299 pages from disk. */
TEST(test_random_experiment_of_the_study_has_exact_counts)
{
	struct explain *calls = calls_new();
	struct pfstat_record record;
	struct summary_figures figures;
	uint64_t page, now = 1;

	for (page = 0; page < 11299; page++) {
		record = record_of(1, PFSTAT_CLASS_LONG, now, 6500);
		record.address = page * 4096;
		if (page < 6198) {
			record.class = PFSTAT_CLASS_DISK;
			record.result = PFSTAT_RESULT_MAJOR | RETRY;
			add(calls, &record);
			record.earlier_ns = now;
			record.start_ns = now += 150000;
			record.class = PFSTAT_CLASS_SHORT;
			record.result = LOCKED;
			record.flags = PFSTAT_FLAG_TRIED;
		}
		add(calls, &record);
		now += 10000;
	}
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.calls, 17497);
	ck_assert_uint_eq(figures.retried, 6198);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_SHORT].count, 6198);
	ck_assert_uint_eq(figures.classes[PFSTAT_CLASS_LONG].count, 5101);
	ck_assert_uint_eq(figures.faults, 11299);
	ck_assert_uint_eq(figures.major, 6198);
	ck_assert_uint_eq(figures.unfinished, 0);
	ck_assert_uint_eq(figures.late, 0);
	explain_free(calls);
}

/* Chains from many threads interleave at random. Each thread is kept apart. */
TEST(test_threads_do_not_mix)
{
	enum { THREADS = 5000, RECORDS = 200000 };
	struct explain *calls = calls_new();
	static uint64_t retry_at[THREADS];
	struct summary_figures figures;
	struct pfstat_record record;
	uint64_t state = 5, now, faults = 0, open = 0;
	uint32_t thread;

	memset(retry_at, 0, sizeof(retry_at));
	for (now = 1; now <= RECORDS; now++) {
		thread = random_next(&state) % THREADS;
		record = record_of(thread * 64, PFSTAT_CLASS_LONG, now, 10);
		record.address = 4096; /* all at the same page */
		record.earlier_ns = retry_at[thread];
		open -= retry_at[thread] != 0;
		if (random_next(&state) % 2) {
			record.result = RETRY;
			retry_at[thread] = now;
			open++;
		} else {
			retry_at[thread] = 0;
			faults++;
		}
		add_stay(calls, record.tid, now, now + 1 + thread % 5);
		add(calls, &record);
	}
	calls_figures(calls, &figures);
	ck_assert_uint_eq(figures.faults, faults);
	ck_assert_uint_eq(figures.unfinished, open);
	ck_assert_uint_eq(figures.late, 0);
	ck_assert_uint_gt(figures.classes[PFSTAT_CLASS_LONG].off_cpu_ns, RECORDS);
	explain_free(calls);
}

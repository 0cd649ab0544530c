// SPDX-License-Identifier: GPL-2.0-only
/* Each verdict rule: evidence that proves the cause, and evidence that just does not. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "sample_calls.h"
#include "sample_verdict.h"
#include "user/model/wait_cause.h"
#include "user/print/print_verdict.h"

TEST(test_few_faults_are_not_the_cause)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 49 * MS);
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 51 * MS);
	check_no_cause(&s, "nothing-wrong");
}

TEST(test_faults_of_an_idle_program_are_not_dismissed)
{
	struct activity_figures *activity;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 10, PART_DEVICE, 19 * MS);
	activity = &s.report.evidence.activity;
	activity->active_ns = 38 * MS;
	activity->active_max_ns = 190 * MS;
	check_cause(&s, "nothing-wrong", false, "page faults took 10 to 50 % of the rest");
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 10 * MS);
	activity->active_max_ns = 38 * MS;
	check_cause(&s, "first-touch", false,
		    " The threads were asleep or stopped for most of the run; page faults took 76 "
		    "% of the rest.");
	/* They waited for a CPU, which is not idle. */
	activity->waiting_ns = 162 * MS;
	check_cause(&s, "first-touch", true, "1000 first touches");
	sample_begin(&s);
	add_class(&s, FAULT_DISK, 10, PART_DEVICE, 9 * MS);
	activity->active_ns = 200 * MS; /* not idle */
	activity->active_max_ns = 200 * MS;
	check_cause(&s, "nothing-wrong", true,
		    "0.90 % of the run, and 4.50 % of the time that its");
	activity->active_ns = 181 * MS; /* a small part of the activity */
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	activity->active_ns = COUNT_NA;
	activity->active_max_ns = COUNT_NA;
	check_cause(&s, "nothing-wrong", true, "0.90 % of the run. What waits for a thread in a");
}

/* The same program on an idle machine has a share of 58 %. */
TEST(test_a_program_that_waits_for_a_cpu_is_judged_by_the_time_it_got)
{
	struct activity_figures *activity;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 12 * MS);
	activity = &s.report.evidence.activity;
	activity->waiting_ns = 979 * MS;
	activity->active_ns = 21 * MS;
	activity->active_max_ns = 21 * MS;
	check_cause(&s, "first-touch", true, "1000 first touches");
	/* Stopped, as by SIGSTOP: only the CPU time shows it. */
	activity->waiting_ns = 0;
	activity->active_ns = 210 * MS;
	activity->active_max_ns = 900 * MS;
	s.report.usage.utime_ns = 9 * MS;
	s.report.usage.stime_ns = 201 * MS;
	s.report.usage.nvcsw = 1;
	check_cause(&s, "first-touch", true, "1000 first touches");
}

TEST(test_cpu_time_that_lacks_processes_is_not_used)
{
	struct sample s;

	sample_begin(&s);
	s.report.usage.nvcsw = 1;
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 12 * MS);
	s.report.usage.utime_ns = 10 * MS;
	s.report.usage.stime_ns = 10 * MS;
	s.report.usage.majflt = 0;
	s.report.usage.minflt = 899;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	ck_assert(isnan(s.verdict.cpu_share));
	s.report.usage.minflt = 900;
	check_cause(&s, "first-touch", false, "page faults took 60 % of the rest");
	ck_assert_double_eq(s.verdict.cpu_share, 0.6);
	/* Of a running process the kernel states it in ticks. */
	s.report.usage.nvcsw = COUNT_NA;
	judge(&s);
	ck_assert(isnan(s.verdict.cpu_share));
	s.report.usage.utime_ns = 390 * MS;
	judge(&s);
	ck_assert_double_eq(s.verdict.cpu_share, 0.03);
}

TEST(test_many_threads_that_work_are_not_slowed)
{
	struct activity_figures *activity;
	struct sample s;

	/* 1000 threads: a fault is in progress for 10 % of the run. */
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 100 * MS);
	activity = &s.report.evidence.activity;
	activity->active_ns = 2001 * MS;
	activity->active_max_ns = 2001 * MS;
	check_cause(&s, "nothing-wrong", true,
		    "10.00 % of the run, and 5.00 % of the time that its");
	activity->active_ns = 500 * MS;
	check_cause(&s, "nothing-wrong", false, "and 5.00 to 20.00 % of the time that its");
	activity->active_max_ns = 1999 * MS;
	check_cause(&s, "first-touch", true, "1000 first touches");
	/* The threads had little CPU time. */
	activity->active_max_ns = 2010 * MS;
	s.report.usage.utime_ns = 1000 * MS;
	s.report.usage.stime_ns = 999 * MS;
	s.report.usage.nvcsw = 1;
	check_cause(&s, "first-touch", true, "1000 first touches");
	s.report.usage.stime_ns = 1001 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	/* One thread stands still. */
	activity->stalled =
		(struct thread_activity){ .tid = 7, .life_ns = 100 * MS, .fault_ns = 6 * MS };
	check_cause(&s, "first-touch", true, "1000 first touches");
}

TEST(test_thread_that_stands_still_is_not_dismissed)
{
	struct thread_activity *stalled;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 20 * MS);
	stalled = &s.report.evidence.activity.stalled;
	*stalled = (struct thread_activity){ .tid = 7, .life_ns = 40 * MS, .fault_ns = 10 * MS };
	check_cause(&s, "stalled-thread", false,
		    "25 % of one thread's time: thread 7 existed for 40.0 ms and was in faults for "
		    "10.0 ms");
	s.threads[0] = (struct group){ .name = "worker (7)", .tid = 7 };
	s.report.places[GROUP_BY_THREAD] = (struct report_places){ s.threads, 1 };
	check_cause(&s, "stalled-thread", false, "worker (7) existed for 40.0 ms");
	stalled->life_ns = 50 * MS;
	stalled->waiting_ns = 10 * MS;
	check_cause(&s, "stalled-thread", false,
		    "25 % of one thread's time: worker (7) existed for 40.0 ms without its waits");
	stalled->life_ns = 51 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	*stalled = (struct thread_activity){ .tid = 7, .life_ns = 9 * MS, .fault_ns = 9 * MS };
	check_cause(&s, "nothing-wrong", true,
		    "page faults took little time"); /* less than 1 % of the run */
}

TEST(test_calls_that_populate_memory_without_faults_are_not_dismissed)
{
	struct report_call calls[] = {
		{ .sum = { .kind = PFSTAT_CALL_MADVISE,
			   .detail = MADV_POPULATE_WRITE,
			   .count = 2,
			   .total_ns = 100 * MS } },
		{ .sum = { .kind = PFSTAT_CALL_MADVISE,
			   .detail = MADV_WILLNEED,
			   .count = 1,
			   .total_ns = 900 * MS } },
	};
	struct sample s;

	sample_begin(&s);
	strcpy(s.report.environment.kernel, "6.1.0-31-amd64");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, MS);
	s.report.calls = (struct report_calls){ .rows = calls, .nr = 2 };
	check_cause(&s, "populating-calls", false,
		    "took 100.0 ms, most of it outside of known faults: 2, the longest of "
		    "madvise(MADV_POPULATE_WRITE). Before Linux 6.5 such a call fills memory of "
		    "hugetlbfs without a fault.");
	s.report.evidence.kernel_ns = 51 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	s.report.evidence.kernel_ns = 0;
	calls[0].sum.total_ns = 49 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	calls[0].sum.total_ns = 50 * MS;
	strcpy(s.report.environment.kernel, "6.12.0");
	check_cause(&s, "populating-calls", false, "longest of madvise(MADV_POPULATE_WRITE).");
}

/* A fault of the class that ends at ns. */
static void add_time(struct sample *s, enum fault_class class, uint64_t ns)
{
	const struct explained fault = { .class = class, .start_ns = ns - MS, .end_ns = ns };

	fault_times_add(&s->report.evidence.times, &fault);
}

TEST(test_faults_of_a_start_are_told_from_those_that_go_on)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 50 * MS);
	s.report.time.counted_ns = 200 * MS;
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->text, "of the run"));
	add_time(&s, FAULT_ANON, 1 * MS);
	add_time(&s, FAULT_ANON, 60 * MS);
	/* To the end of a part. */
	check_cause(&s, "first-touch", true,
		    "95 % of the faults' time was in the first 60.8 ms of the run.");
	add_time(&s, FAULT_ANON, 101 * MS); /* more than half of the run */
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->text, "of the run"));
	s.report.time.counted_ns = 120 * MS;
	s.report.evidence.times = (struct fault_times){ 0 };
	add_time(&s, FAULT_ANON, 40 * MS); /* a short run is a start */
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->text, "of the run"));
}

TEST(test_faults_that_go_on_come_before_those_of_the_start)
{
	struct sample s;
	uint64_t ns;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 60 * MS);
	add_class(&s, FAULT_MKWRITE, 1000, PART_CPU_BEFORE, 40 * MS);
	s.report.time.counted_ns = 1000 * MS;
	for (ns = MS; ns <= 60 * MS; ns += MS) {
		add_time(&s, FAULT_ANON, ns);
		add_time(&s, FAULT_MKWRITE, ns);
	}
	judge(&s);
	ck_assert_str_eq(s.verdict.causes[0].rule, "first-touch");
	for (; ns <= 1000 * MS; ns += 20 * MS)
		add_time(&s, FAULT_MKWRITE, ns);
	judge(&s);
	ck_assert_str_eq(s.verdict.causes[0].rule, "page-mkwrite");
	ck_assert_str_eq(s.verdict.causes[1].rule, "first-touch");
	ck_assert_ptr_nonnull(strstr(s.verdict.causes[1].text,
				     "95 % of their time was in the first"));
	ck_assert_ptr_null(strstr(s.verdict.causes[0].text, "of the run."));
}

TEST(test_faults_that_failed_are_not_dismissed)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 900, PART_CPU_BEFORE, MS);
	s.report.evidence.failed_faults = 100;
	check_cause(&s, "failed-faults", true,
		    "100 accesses to memory failed with SIGSEGV or SIGBUS");
	check_no_cause(&s, "nothing-wrong");
	/* Nothing but the count shows what they cost, so they come first. */
	add_class(&s, FAULT_ANON, 0, PART_CPU_BEFORE, 100 * MS);
	judge(&s);
	ck_assert_uint_eq(s.verdict.nr_causes, 2);
	ck_assert_str_eq(s.verdict.causes[0].rule, "failed-faults");
	ck_assert_str_eq(s.verdict.causes[1].rule, "first-touch");
	/* A few among many cost little beside them. */
	s.report.evidence.failed_faults = 89;
	s.report.time.counted_ns = 500 * MS; /* more than 100 a second */
	judge(&s);
	ck_assert_str_eq(s.verdict.causes[0].rule, "first-touch");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 900, PART_CPU_BEFORE, MS);
	s.report.evidence.failed_faults = 99;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 0);
	s.report.evidence.failed_faults = 100;
	s.report.time.counted_ns = 1001 * MS;			/* fewer than 100 a second */
	check_cause(&s, "failed-faults", true, "100 accesses"); /* of 1000 */
	add_class(&s, FAULT_ANON, 1, PART_CPU_BEFORE, 0);
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	s.report.evidence.failed_faults = COUNT_NA;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
}

/* Faults take half the run, mostly in a few faults. Another cause is named before the tail. */
TEST(test_few_faults_with_most_of_the_time_are_the_tail)
{
	struct fault_tail *tail;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 900, PART_CPU_BEFORE, 240 * MS);
	add_class(&s, FAULT_DISK, 100, PART_DEVICE, 260 * MS);
	tail = &s.report.evidence.tail;
	*tail = (struct fault_tail){ .count = 10,
				     .total_ns = 250 * MS,
				     .longest = { .duration_ns = 60 * MS,
						  .class = FAULT_DISK,
						  .part = PART_DEVICE,
						  .part_ns = 60 * MS,
						  .parts_known = true } };
	check_cause(&s, "slow-tail", false,
		    "10 faults (1 %) took 1 ms or more, and 50 % of the faults' time. The longest "
		    "took 60.0 ms: class disk");
	ck_assert_str_ne(s.verdict.causes[0].rule, "slow-tail");
	ck_assert_ptr_nonnull(strstr(s.verdict.causes[s.verdict.nr_causes - 1].remedy,
				     "pfdrive report --slowest 10"));
	tail->count = 11;
	check_no_cause(&s, "slow-tail");
	tail->count = 10;
	tail->total_ns = 249 * MS;
	check_no_cause(&s, "slow-tail");
	tail->total_ns = 250 * MS;
	tail->longest.duration_ns = 4 * MS;
	check_no_cause(&s, "slow-tail");
}

TEST(test_few_long_faults_are_not_dismissed)
{
	struct fault_tail *tail;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_MKWRITE, 900, PART_BLOCKED, 19 * MS);
	tail = &s.report.evidence.tail;
	*tail = (struct fault_tail){ .count = 2,
				     .total_ns = 15 * MS,
				     .longest = { .duration_ns = 12 * MS,
						  .class = FAULT_MKWRITE,
						  .part = PART_BLOCKED,
						  .part_ns = 9 * MS,
						  .inode = 7,
						  .tid = 5,
						  .parts_known = true } };
	s.report.longest.file = (char *)"/data/queue";
	strcpy(s.report.longest.thread, "writer");
	s.report.longest.cause = "the ext4 journal (jbd2)";
	check_cause(
		&s, "slow-tail", true,
		"2 of them were over 1 ms (15.0 ms). The longest took 12.0 ms: class mkwrite (page "
		"becomes writable) of /data/queue, in thread writer (5), 75 % of it blocked, waiting "
		"for the ext4 journal");
	ck_assert_ptr_nonnull(strstr(s.verdict.causes[0].remedy, "pfdrive report --slowest 10"));
	check_no_cause(&s, "nothing-wrong");
	tail->total_ns = 4 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	*tail = (struct fault_tail){ .count = 9, .total_ns = 15 * MS };
	tail->longest.duration_ns = 4 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
}

TEST(test_unseen_faults_make_the_verdict_uncertain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 10, PART_CPU_BEFORE, MS);
	s.report.bpf.hooks = 0;
	check_cause(&s, "nothing-wrong", false, "only faults of hooked files are known");
}

static void read_in_order(struct sample *s, uint64_t next, uint64_t bytes)
{
	sample_begin(s);
	add_class(s, FAULT_DISK, 1000, PART_DEVICE, 400 * MS);
	s->files[0] = (struct group){
		.name = "/data/big.bin",
		.inode = 5,
		.faults = 1000,
		.total_ns = 400 * MS,
		.classes[FAULT_DISK] = 1000,
		.reads = { .next = next, .requests = 1000, .bytes = 1000 * bytes },
	};
	s->report.places[GROUP_BY_FILE].rows = s->files;
	s->report.places[GROUP_BY_FILE].nr = 1;
}

TEST(test_pages_in_order_without_read_ahead)
{
	struct report_call calls[] = {
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_NORMAL, .count = 9, .place = 1 },
		  "other",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_RANDOM, .count = 2, .place = 1 },
		  "hint+0x9 (/bin/a)",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE,
		    .detail = MADV_RANDOM,
		    .count = 4,
		    .failed = 3,
		    .place = 1 },
		  "fails",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_RANDOM, .count = 8, .place = 1 },
		  "another",
		  "/d/other" },
	};
	struct sample s;

	read_in_order(&s, 940, 16384);
	check_no_cause(&s, "no-read-ahead");
	s.report.environment.page_bytes = 16384; /* as on arm64 */
	check_cause(&s, "no-read-ahead", true, "/data/big.bin was read 16.0 KiB at a time");
	read_in_order(&s, 940, 4096);
	check_cause(&s, "no-read-ahead", true,
		    "/data/big.bin was read 4.0 KiB at a time, although 94 % of its 1000 disk "
		    "faults went on to a next page: read-ahead is off, by MADV_RANDOM, or");
	s.report.evidence.advices[MADV_RANDOM] = 3; /* on any file */
	check_cause(&s, "no-read-ahead", true, "by MADV_RANDOM, or a read-ahead of 0");
	s.report.calls.rows = calls;
	s.report.calls.nr = 4;
	check_cause(&s, "no-read-ahead", true,
		    "by madvise(MADV_RANDOM), 3 calls, 2 of them in hint+0x9 (a).");
	calls[2].sum.failed = 4;
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 2 calls in hint+0x9 (a).");
	calls[1].sum.place = 0; /* not known */
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 2 calls.");
	read_in_order(&s, 400, 4096);
	check_no_cause(&s, "no-read-ahead");
	read_in_order(&s, 940, 131072);
	check_no_cause(&s, "no-read-ahead");
}

static const char *saving_of(struct sample *s, const char *rule)
{
	judge(s);
	return strstr(cause_of(s, rule)->remedy, "Predicted");
}

TEST(test_remedy_states_what_its_setting_saves)
{
	struct predicted_faults *predicted;
	struct sample s;

	read_in_order(&s, 940, 4096);
	predicted = s.report.predicted;
	ck_assert_ptr_null(saving_of(&s, "no-read-ahead"));
	predicted[PREDICTED_RECORDED] =
		(struct predicted_faults){ .known = true, .major = 400, .read_bytes = 4096 * 400 };
	/* Another remedy's setting, and more bytes. */
	predicted[PREDICTED_RANDOM] = (struct predicted_faults){ .known = true, .major = 4 };
	predicted[PREDICTED_NORMAL] =
		(struct predicted_faults){ .known = true, .major = 4, .read_bytes = 4096 * 401 };
	ck_assert_ptr_null(saving_of(&s, "no-read-ahead"));
	predicted[PREDICTED_NORMAL].read_bytes = 4096 * 400;
	ck_assert_str_eq(saving_of(&s, "no-read-ahead"),
			 "Predicted with MADV_NORMAL, for a cold start: 4 instead of 400 "
			 "major faults.");
	/* The errors are as large as the saving. */
	predicted[PREDICTED_RECORDED].timed = predicted[PREDICTED_NORMAL].timed = true;
	predicted[PREDICTED_RECORDED].total_ns = 100 * MS;
	predicted[PREDICTED_RECORDED].error_ns = 20 * MS;
	predicted[PREDICTED_NORMAL].total_ns = 60 * MS;
	predicted[PREDICTED_NORMAL].error_ns = 20 * MS;
	ck_assert_ptr_null(saving_of(&s, "no-read-ahead"));
	predicted[PREDICTED_NORMAL].error_ns = 10 * MS;
	ck_assert_str_eq(saving_of(&s, "no-read-ahead"),
			 "Predicted with MADV_NORMAL, for a cold start: 4 instead of 400 "
			 "major faults, which saves 40.0 ms +- 30.0 ms of 100.0 ms in faults.");
	/* Lost records: what is not known was not predicted. */
	s.report.losses.records = 1;
	ck_assert_ptr_null(saving_of(&s, "no-read-ahead"));
}

TEST(test_state_of_the_mapping_shows_why_read_ahead_is_off)
{
	struct group mappings[] = {
		{ .name = "7 1000-2000 /data/other-big.bin",
		  .state = { .known = true, .advice = MAPPING_RANDOM } },
		{ .name = "7 3000-4000 /data/big.bin",
		  .state = { .known = true, .advice = MAPPING_RANDOM, .ra_pages = 32 } },
	};
	static const struct filesystem ext4 = { .type = "ext4", .source = "/dev/sda1" };
	struct sample s;

	read_in_order(&s, 940, 4096);
	s.report.places[GROUP_BY_VMA] = (struct report_places){ mappings, 2 };
	check_cause(&s, "no-read-ahead", true, "read-ahead is off, by madvise(MADV_RANDOM).");
	mappings[1].state.advice = MAPPING_NORMAL;
	mappings[1].state.mmap_miss = 101;
	check_cause(&s, "no-read-ahead", true,
		    "read-ahead is off: the kernel had given up reading around, after 101 misses.");
	mappings[1].state.ra_pages = 0;
	check_cause(&s, "no-read-ahead", true,
		    "read-ahead is off: the device's read_ahead_kb is 0.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "no-read-ahead")->remedy, "findmnt -T FILE"));
	s.files[0].filesystem = &ext4;
	check_cause(&s, "no-read-ahead", true,
		    "read_ahead_kb is 0, and the file is on ext4 (/dev/sda1).");
	ck_assert_ptr_null(strstr(cause_of(&s, "no-read-ahead")->remedy, "findmnt"));
	mappings[1].state.known = false;
	check_cause(&s, "no-read-ahead", true, "by MADV_RANDOM, or a read-ahead of 0");
}

TEST(test_read_pages_that_are_not_mapped)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 400 * MS);
	s.report.pages.readahead = (struct readahead_figures){ .read = 25600,
							       .mapped = 2560,
							       .evicted_unused = 20000,
							       .faulted_read = 25600,
							       .faulted_evicted = 20000 };
	s.report.blocks = (struct block_figures){ .reads = 800, .bytes_read = 104857600 };
	check_cause(&s, "read-amplification", true,
		    "100.0 MiB of mapped files were read into the page cache, and faults mapped "
		    "10.0 MiB; 78.1 MiB were evicted unused");
	s.report.environment.page_bytes = 16384;
	check_cause(&s, "read-amplification", true, "400.0 MiB of mapped files");
	s.report.environment.page_bytes = 4096;
	s.report.pages.readahead.faulted_evicted = 100;
	check_cause(&s, "read-amplification", false, "or read(2) used the rest");
	s.report.pages.readahead.mapped = 13000;
	check_no_cause(&s, "read-amplification");
}

TEST(test_files_that_only_read_uses_prove_nothing)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 400 * MS);
	s.report.pages.readahead = (struct readahead_figures){
		.read = 25600, .mapped = 2560, .evicted_unused = 20000, .faulted_read = 2600
	};
	s.report.blocks = (struct block_figures){ .reads = 800, .bytes_read = 104857600 };
	check_no_cause(&s, "read-amplification");
	s.report.pages.readahead.faulted_read = 5200;
	check_cause(&s, "read-amplification", false, "20.3 MiB of mapped files were read");
}

static void read_at_random(struct sample *s, uint64_t next, uint64_t bytes, uint64_t faults)
{
	read_in_order(s, next, bytes);
	s->files[0].faults = faults;
	s->files[0].reads.total_ns = 400 * MS;
	s->report.blocks = (struct block_figures){ .reads = 1000, .bytes_read = 1000 * bytes };
}

TEST(test_pages_around_random_faults)
{
	struct sample s;

	read_at_random(&s, 10, 65536, 1600);
	check_cause(
		&s, "read-around", true,
		"/data/big.bin was read at random: 1000 of its 1600 faults waited for the disk. "
		"A request read 64 KiB around its page");
	check_no_cause(&s, "cold-file");     /* which says less */
	read_at_random(&s, 10, 65536, 1700); /* the pages around serve other faults */
	check_no_cause(&s, "read-around");
	check_cause(&s, "cold-file", true, "1000 of 64 KiB");
	read_at_random(&s, 10, 4096, 1600);
	check_no_cause(&s, "read-around");
	read_at_random(&s, 10, 16384, 1600);
	check_cause(&s, "read-around", true, "A request read 16 KiB around its page");
	s.report.environment.page_bytes = 16384; /* now it is the page alone */
	check_no_cause(&s, "read-around");
	read_at_random(&s, 500, 65536, 1600);
	check_no_cause(&s, "read-around");
	read_at_random(&s, 10, 65536, 1600);
	s.files[0].fetches = 800;
	check_cause(&s, "read-around", true, "read at random");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "read-around")->remedy, "prefetch"));
	ck_assert_ptr_null(strstr(cause_of(&s, "read-around")->remedy, "MADV_RANDOM"));
	/* The pages had been there: to read less around them does not keep them. */
	s.pairs[0] = (struct evictions_pair){ .reason = EVICTIONS_RECLAIMED,
					      .evictor_name = "kswapd0",
					      .pages = 900,
					      .faults = 600,
					      .total_ns = 200 * MS };
	s.report.pages.pairs = s.pairs;
	s.report.pages.nr_pairs = 1;
	check_no_cause(&s, "read-around");
	check_cause(&s, "program-evicted", true,
		    "memory was too small: 900 pages of program text were evicted");
	s.pairs[0].total_ns = 199 * MS;
	check_cause(&s, "read-around", true, "read at random");
}

/* A file whose faults waited for requests on this file. */
static void add_cold_file(struct sample *s, const char *name, uint64_t total_ns, uint64_t waited_ns)
{
	s->files[0] = (struct group){
		.name = name,
		.inode = 5,
		.faults = 2000,
		.total_ns = total_ns,
		.classes = { [FAULT_DISK] = 1000, [FAULT_READAHEAD] = 1000 },
		.reads = { .total_ns = total_ns,
			   .waited_ns = waited_ns,
			   .requests = waited_ns ? 1000 : 0,
			   .bytes = 131072000 },
	};
	s->report.places[GROUP_BY_FILE].rows = s->files;
	s->report.places[GROUP_BY_FILE].nr = 1;
}

TEST(test_files_that_are_not_in_the_page_cache)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_DEVICE, 300 * MS);
	add_class(&s, FAULT_READAHEAD, 1000, PART_CPU_BEFORE, 100 * MS);
	add_cold_file(&s, "/data/cold.bin", 400 * MS, 300 * MS);
	s.report.blocks = (struct block_figures){ .reads = 1000,
						  .bytes_read = 131072000,
						  .device = { .total_ns = 300 * MS } };
	check_cause(&s, "cold-file", true,
		    "/data/cold.bin was not in the page cache: the faults that read it have 100 %");
	check_cause(&s, "cold-file", true,
		    "All reads of the run: 1000 of 128 KiB, 300 µs each at the device, 125.0 MiB.");
	s.report.pages.evictions = (struct evictions_figures){ .evicted = 100, .overflow = 11 };
	check_cause(&s, "cold-file", false, "the fate of 11 is not known");
	s.report.pages.evictions.overflow = 10;
	check_cause(&s, "cold-file", true, "was not in the page cache");
	/* The longest reads account for the same time. */
	s.report.evidence.tail =
		(struct fault_tail){ .count = 10,
				     .total_ns = 250 * MS,
				     .longest = { .duration_ns = 60 * MS, .class = FAULT_DISK } };
	check_no_cause(&s, "slow-tail");
	s.files[0].fetches = 1000;
	judge(&s);
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cold-file")->remedy, "prefetch apply"));
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 1201 * MS);
	check_no_cause(&s, "cold-file");
	read_in_order(&s, 940, 4096); /* a cause saying more */
	s.report.blocks.reads = 1000;
	check_no_cause(&s, "cold-file");
}

/* Each file has the same share as in the table row. */
TEST(test_a_cold_file_has_no_share_of_other_cold_files)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 2000, PART_DEVICE, 950 * MS);
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 50 * MS);
	add_cold_file(&s, "/lib/big.so", 750 * MS, 700 * MS);
	s.files[1] = s.files[0];
	s.files[1].name = "/lib/small.so";
	s.files[1].total_ns = 200 * MS;
	s.files[1].reads.total_ns = 200 * MS;
	s.report.places[GROUP_BY_FILE].nr = 2;
	check_cause(&s, "cold-file", true,
		    "/lib/big.so was not in the page cache: the faults that read it have 75 % of "
		    "the time, and those that read other files 20 %.");
	s.files[0].reads.total_ns = 949 * MS;
	s.files[1].reads.total_ns = 1 * MS;
	check_cause(&s, "cold-file", true, "the faults that read it have 95 % of the time.");
}

TEST(test_reads_of_another_file_prove_nothing)
{
	struct sample s;

	/* A server has the time, and a small file the requests. */
	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_FOREIGN, 930 * MS);
	add_class(&s, FAULT_DISK, 81, PART_DEVICE, 70 * MS);
	add_cold_file(&s, "/mnt/fuse/big", 930 * MS, 0);
	s.files[1] = (struct group){ .name = "/lib/small",
				     .inode = 6,
				     .total_ns = 70 * MS,
				     .classes = { [FAULT_DISK] = 81 },
				     .reads = { .total_ns = 70 * MS, .requests = 81 } };
	s.report.places[GROUP_BY_FILE].nr = 2;
	s.report.blocks = (struct block_figures){ .reads = 1000, .bytes_read = 131072000 };
	check_no_cause(&s, "cold-file");
	check_cause(&s, "foreign-read", false, "no watched thread had submitted");
}

TEST(test_work_on_the_cpu_after_a_read_is_not_the_device)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 4, PART_DEVICE, 30 * MS);
	add_class(&s, FAULT_DISK, 0, PART_CPU_AFTER, 280 * MS);
	add_class(&s, FAULT_DISK, 0, PART_CPU_BEFORE, 70 * MS);
	add_cold_file(&s, "/mnt/image/app", 380 * MS, 30 * MS);
	s.report.blocks = (struct block_figures){ .reads = 7, .bytes_read = 7340032 };
	s.report.evidence.cached_reads = (struct evidence_sum){ 100, 875 * MS, 0 };
	check_cause(&s, "decompression", false,
		    "74 % of the faults' time is after the reads, 74 % on the thread's own");
	check_no_cause(&s, "cold-file"); /* says less about the same */
	/* Mapping the pages takes an eighth of this time, and a little more. */
	s.report.evidence.cached_reads.total_ns++;
	check_no_cause(&s, "decompression");
	s.report.evidence.cached_reads.total_ns--;
	s.report.faults.classes[FAULT_DISK].parts[PART_CPU_AFTER].total_ns = 99 * MS;
	check_no_cause(&s, "decompression");
}

TEST(test_work_after_a_read_depends_on_the_file_system)
{
	static const struct {
		struct filesystem filesystem;
		const char *rule, *text;
	} places[] = {
		{ { .type = "squashfs", .source = "/dev/loop0" },
		  "decompression",
		  "Most likely the kernel decompresses the pages: it is on squashfs (/dev/loop0)." },
		{ { .type = "btrfs", .source = "/dev/sda2", .compress = true },
		  "decompression",
		  "Most likely the kernel decompresses the pages: it is on btrfs (/dev/sda2)." },
		/* Files may have been compressed by an earlier mount, and all have checksums. */
		{ { .type = "btrfs", .source = "/dev/sda2" },
		  "decompression",
		  "the kernel decompresses, decrypts or verifies the pages: it is on btrfs" },
		{ { .type = "erofs", .source = "/dev/loop1" },
		  "decompression",
		  "decompresses, decrypts or verifies the pages: it is on erofs (/dev/loop1)." },
		{ { .type = "overlay", .source = "overlay" },
		  "decompression",
		  "decompresses, decrypts or verifies the pages: it is on overlay." },
		{ { .type = "ext4", .source = "/dev/mapper/home" },
		  "work-after-read",
		  "Most likely the kernel decrypts or verifies the pages: it is on ext4 "
		  "(/dev/mapper/home), which does not compress." },
		{ { .type = "xfs", .source = "/dev/sda3" }, "work-after-read", "it is on xfs" },
	};
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		sample_begin(&s);
		add_class(&s, FAULT_DISK, 4, PART_DEVICE, 30 * MS);
		add_class(&s, FAULT_DISK, 0, PART_CPU_AFTER, 280 * MS);
		add_class(&s, FAULT_DISK, 0, PART_CPU_BEFORE, 70 * MS);
		add_cold_file(&s, "/mnt/image/app", 380 * MS, 30 * MS);
		s.files[0].filesystem = &places[i].filesystem;
		s.report.evidence.cached_reads = (struct evidence_sum){ 100, 875 * MS, 0 };
		check_cause(&s, places[i].rule, false, places[i].text);
		ck_assert_uint_eq(!cause_of(&s, "decompression"),
				  !!cause_of(&s, "work-after-read"));
		ck_assert_ptr_null(strstr(cause_of(&s, places[i].rule)->remedy, "findmnt"));
	}
}

TEST(test_waits_in_the_queue_of_the_device)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_QUEUE, 300 * MS);
	add_cold_file(&s, "/data/cold.bin", 300 * MS, 300 * MS);
	s.report.blocks = (struct block_figures){ .reads = 1000,
						  .queue = { .total_ns = 900 * MS },
						  .device = { .total_ns = 100 * MS } };
	check_cause(&s, "device-queue", true,
		    "reads were 900 µs in its queue, and 100 µs at the device; the queue is 100 %");
	check_no_cause(&s, "cold-file"); /* has no other time */
	add_class(&s, FAULT_DISK, 1000, PART_DEVICE, 901 * MS);
	check_no_cause(&s, "device-queue");
}

TEST(test_pages_of_a_hole_are_not_read)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_READAHEAD, 128, PART_CPU_BEFORE, 100 * MS);
	add_class(&s, FAULT_DISK, 3, PART_DEVICE, MS);
	s.report.blocks = (struct block_figures){ .reads = 3, .bytes_read = 257 * 4096 };
	s.report.evidence.missing_stores = 14;
	check_cause(&s, "file-holes", true, "131 faults found no page of the file");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "file-holes")->remedy, "pwrite()"));
	s.report.evidence.missing_stores = 13;
	check_cause(&s, "file-holes", true, "The program only read these pages.");
	ck_assert_str_eq(cause_of(&s, "file-holes")->remedy,
			 "skip the holes: lseek(SEEK_DATA) finds the next data.");
	s.report.evidence.advices[MADV_RANDOM] = 1;
	check_cause(&s, "file-holes", true, "The program only read these pages.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "file-holes")->remedy, "without MADV_RANDOM"));
	check_no_cause(&s, "cold-file");
	/* Two pages for each of 128 read-aheads, and one for two disk faults. */
	s.report.blocks.bytes_read = 258 * 4096;
	check_no_cause(&s, "file-holes");
	s.report.blocks.bytes_read = 0;
	add_class(&s, FAULT_READAHEAD, 0, PART_FOREIGN, 100 * MS); /* a server */
	check_no_cause(&s, "file-holes");
}

TEST(test_pages_that_become_writable)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_MKWRITE, 1000, PART_BLOCKED, 60 * MS);
	add_class(&s, FAULT_MKWRITE, 1000, PART_CPU_BEFORE, 40 * MS);
	check_cause(&s, "page-mkwrite", true, "2000 pages of shared file mappings");
	check_cause(
		&s, "page-mkwrite", true,
		"50.0 µs each, 100 % of the faults' time; 60 % of that waited for the file system");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "page-mkwrite");
}

static struct pfstat_record mkwrite_record(uint64_t sequence)
{
	return (struct pfstat_record){
		.sequence = sequence,
		.start_ns = sequence * MS,
		.duration_ns = MS / 2,
		.tid = 7,
		.pid = 7,
		.op = PFSTAT_OP_PAGE_MKWRITE,
		.class = PFSTAT_CLASS_MKWRITE,
		.address = sequence << 12,
	};
}

/* A store to an unmapped page is one fault with class long, with both calls. */
TEST(test_page_mkwrite_counts_in_faults_of_other_classes)
{
	struct pfstat_record record;
	struct explain *calls = calls_new();
	struct sample s;
	uint64_t i;

	sample_begin(&s);
	add_class(&s, FAULT_LONG, 100, PART_CPU_BEFORE, 190 * MS);
	for (i = 1; i <= 100; i++) {
		record = mkwrite_record(i);
		ck_assert_int_eq(explain_record(calls, &record), 0);
	}
	s.report.summary = explain_summary(calls);
	check_cause(&s, "page-mkwrite", true,
		    "100 pages of shared file mappings became writable (page_mkwrite), 500.0 µs "
		    "each, 26 % of the faults' time.");
	check_no_cause(&s, "cached-pages"); /* no fault read */
	explain_free(calls);
}

TEST(test_many_faults_of_cached_pages)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_LONG, 50000, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.cached_reads = (struct evidence_sum){ 50000, 100 * MS, 0 };
	check_cause(&s, "cached-pages", true,
		    "50000 small faults mapped pages that were in the page cache, 2.00 µs each.");
	s.report.environment.fault_around = false;
	check_cause(&s, "cached-pages", true, "fault-around was off");
	s.report.environment.fault_around = true;
	s.report.environment.exact = true;
	check_cause(&s, "cached-pages", true, "fault-around was off");
	s.report.environment.exact = false;
	/* Nothing is gained if the same pages are mapped again, or if a mapping has few faults. */
	s.report.evidence.mapped_before.count = 25000;
	check_cause(&s, "cached-pages", true,
		    "25000 of them were on pages that the process had mapped before, in another "
		    "mapping.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cached-pages")->remedy, "keep one mapping"));
	s.report.evidence.mapped_before.count = 24999;
	s.report.evidence.mapped_here.count = 25000;
	check_cause(&s, "cached-pages", false, "in the same mapping: reclaim, a move");
	s.report.evidence.mapped_here.count = 24999;
	s.report.evidence.file_maps = 12500;
	check_cause(
		&s, "cached-pages", true,
		"The program made 12500 mappings of files; each cost its calls and 4.0 of these");
	/* Each start of a program maps its libraries. */
	s.report.evidence.execs = 16;
	s.report.evidence.file_maps = 1024;
	check_cause(&s, "cached-pages", true, "16 programs were started, and each maps its own");
	s.report.evidence.execs = 0;
	s.report.evidence.file_maps = 12499;
	check_cause(&s, "cached-pages", true, "50000 small faults mapped pages");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cached-pages")->remedy, "MADV_POPULATE_READ"));
	/* MAP_POPULATE of the parent maps nothing in the child. */
	s.report.evidence.inherited.count = 25000;
	check_cause(&s, "cached-pages", true,
		    "25000 of them were in mappings that the process has");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cached-pages")->remedy, "in each child"));
	s.report.evidence.inherited.count = 24999;
	check_cause(&s, "cached-pages", true, "50000 small faults mapped pages");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cached-pages")->remedy, "MAP_POPULATE"));
	s.report.evidence.cached_reads = (struct evidence_sum){ 999, 100 * MS, 0 };
	check_no_cause(&s, "cached-pages"); /* the others store */
	s.report.evidence.cached_reads = (struct evidence_sum){ 50000, 100 * MS, 76 * MS };
	check_no_cause(&s, "cached-pages"); /* they waited */
}

TEST(test_waits_for_a_cpu)
{
	static const char *const texts[NR_CPU_WAITS] = {
		[CPU_WAIT_UNKNOWN] = "another task ran there, or the CPU had to wake up",
		[CPU_WAIT_TASK] = "another task ran there right before",
		[CPU_WAIT_IDLE] = "no other task ran there right before",
		[CPU_WAIT_PREEMPTED_IDLE] = "it was stopped, and no other task ran there",
		[CPU_WAIT_THROTTLED] = "its cgroup had used up its CPU time (cpu.max)",
	};
	enum cpu_wait kind;
	struct sample s;

	for (kind = 0; kind < NR_CPU_WAITS; kind++) {
		sample_begin(&s);
		add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
		s.report.evidence.cpu_waits[kind].total_ns = 50 * MS;
		s.report.evidence.cpu_waits[!kind].total_ns += 49 * MS;
		check_cause(&s, "cpu-wait", true,
			    "for 100 % of the faults' time the thread could run, but had no CPU: ");
		check_cause(&s, "cpu-wait", true, texts[kind]);
	}
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "cpu-wait");
}

/* After check_cause() of the same rule. */
static void check_remedy(struct sample *s, const char *rule, const char *remedy)
{
	ck_assert_msg(strstr(cause_of(s, rule)->remedy, remedy), "\"%s\" is not in: %s", remedy,
		      cause_of(s, rule)->remedy);
}

TEST(test_a_wait_for_a_cpu_names_the_task_that_ran)
{
	struct cpu_task_row rows[] = {
		{ .pid = 77, .comm = "compiler", .total_ns = 90 * MS, .ran_ns = 80 * MS },
		{ .pid = 3, .comm = "kworker/0:1", .total_ns = 9 * MS, .ran_ns = MS },
	};
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 100 * MS;
	s.report.cpu_tasks = (struct report_cpu_tasks){ rows, 2 };
	check_cause(&s, "cpu-wait", true,
		    "other tasks ran there. Of 100.0 ms of waits, compiler (pid 77) ran there for "
		    "at least 80.0 ms.");
	check_remedy(&s, "cpu-wait", "keep compiler (pid 77) off these CPUs");
	rows[0].recorded = true;
	check_cause(&s, "cpu-wait", true, "compiler (pid 77) ran there");
	check_remedy(&s, "cpu-wait", "compiler (pid 77) is of the program itself: fewer threads");
	rows[0].recorded = false;
	rows[0].kernel = true;
	check_cause(&s, "cpu-wait", true, "the kernel thread compiler (pid 77) ran there");
	check_remedy(&s, "cpu-wait", "fewer threads, or CPUs");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->remedy, "compiler"));
	rows[0].kernel = false;
	rows[0].ran_ns = 9 * MS; /* tasks before it ran for most of the time */
	check_cause(&s, "cpu-wait", true, "another task ran there right before.");
	check_remedy(&s, "cpu-wait", "names these tasks");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "compiler"));
	rows[0].ran_ns = 80 * MS;
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 0;
	s.report.evidence.cpu_waits[CPU_WAIT_IDLE].total_ns = 100 * MS;
	check_cause(&s, "cpu-wait", true, "no other task ran there");
	check_remedy(&s, "cpu-wait", "idle states");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "compiler"));
}

TEST(test_a_wait_behind_several_tasks_is_not_the_last_ones)
{
	struct cpu_task_row rows[] = {
		{ .pid = 77, .comm = "compiler", .total_ns = 60 * MS, .ran_ns = 20 * MS },
		{ .pid = 78, .comm = "linker", .total_ns = 40 * MS, .ran_ns = 15 * MS },
	};
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 100 * MS;
	s.report.cpu_tasks = (struct report_cpu_tasks){ rows, 2 };
	check_cause(&s, "cpu-wait", true,
		    "another task ran there right before. Of 100.0 ms of waits, compiler (pid 77) "
		    "ran there for at least 20.0 ms, and other tasks for at least 15.0 ms. No "
		    "running task is known for 65.0 ms.");
	check_remedy(&s, "cpu-wait", "perf sched timehist names the other tasks.");
	/* A thread that wakes up while its cgroup is held back also waits behind the last task. */
	strcpy(s.report.cgroup.cpu.path, "/sys/fs/cgroup/a");
	s.report.cgroup.cpu.throttled = 31;
	s.report.cgroup.cpu.periods = 40;
	check_cause(&s, "cpu-wait", true, "so the thread may have waited for that.");
	rows[0].ran_ns = 55 * MS;
	rows[1].ran_ns = 40 * MS;
	check_cause(&s, "cpu-wait", true,
		    "other tasks ran there. Of 100.0 ms of waits, compiler (pid 77) ran there for "
		    "at least 55.0 ms, and other tasks for at least 40.0 ms.");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "is known"));
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "cgroup"));
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->remedy, "timehist"));
}

/* It is gone in the run that matters. */
TEST(test_pfdrive_is_not_the_cause_of_waits_for_a_cpu)
{
	struct cpu_task_row rows[] = {
		{ .pid = 223, .comm = "pfdrive", .total_ns = 60 * MS, .ran_ns = 50 * MS },
		{ .pid = 78, .comm = "linker", .total_ns = 30 * MS, .ran_ns = 20 * MS },
	};
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 100 * MS;
	s.report.cpu_tasks = (struct report_cpu_tasks){ rows, 1 };
	check_cause(
		&s, "cpu-wait", false,
		"other tasks ran there. pfdrive ran there for at least 50.0 ms of 100.0 ms, and "
		"does so only while it records.");
	check_remedy(&s, "cpu-wait", "taskset -c CPU pfdrive record -p PID");
	s.report.cpu_tasks.nr = 2;
	check_cause(&s, "cpu-wait", false,
		    "linker (pid 78) ran there for at least 20.0 ms. No running task is known for "
		    "30.0 ms. pfdrive ran there for at least 50.0 ms");
	rows[0].ran_ns = 20 * MS;
	rows[1].ran_ns = 40 * MS;
	check_cause(&s, "cpu-wait", true, "pfdrive ran there for at least 20.0 ms");
	check_remedy(&s, "cpu-wait", "keep linker (pid 78) off these CPUs");
	rows[0].recorded = true; /* pfdrive recorded pfdrive */
	rows[0].ran_ns = 50 * MS;
	check_cause(&s, "cpu-wait", true, "pfdrive (pid 223) ran there for at least 50.0 ms");
}

TEST(test_a_used_up_limit_of_cpu_time_is_certain_only_if_it_began_the_waits)
{
	struct cpu_task_row task = { .pid = 77, .total_ns = 100 * MS, .ran_ns = 90 * MS };
	struct cgroup_cpu_limit *cpu;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
	cpu = &s.report.cgroup.cpu;
	strcpy(cpu->path, "/sys/fs/cgroup/a");
	cpu->throttled = 31;
	cpu->periods = 40;
	s.report.evidence.cpu_waits[CPU_WAIT_IDLE].total_ns = 100 * MS;
	check_cause(&s, "cpu-wait", true,
		    "The CPU time of the cgroup /sys/fs/cgroup/a was used up in 31 of 40 periods, "
		    "so the thread may have waited for that.");
	s.report.evidence.cpu_waits[CPU_WAIT_IDLE].total_ns = 0;
	s.report.evidence.cpu_waits[CPU_WAIT_THROTTLED].total_ns = 100 * MS;
	check_cause(&s, "cpu-wait", true, "was used up in 31 of 40 periods.");
	check_remedy(&s, "cpu-wait", "raise cpu.max");
	s.report.evidence.cpu_waits[CPU_WAIT_THROTTLED].total_ns = 0;
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 100 * MS;
	s.report.cpu_tasks = (struct report_cpu_tasks){ &task, 1 };
	check_cause(&s, "cpu-wait", true, "other tasks ran there.");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "cgroup"));
	s.report.evidence.cpu_waits[CPU_WAIT_TASK].total_ns = 0;
	s.report.evidence.cpu_waits[CPU_WAIT_PREEMPTED_IDLE].total_ns = 100 * MS;
	s.report.evidence.limits_known = true;
	cpu->throttled = 0;
	check_cause(&s, "cpu-wait", true, "it was preempted, and ran again on an idle CPU.");
	ck_assert_ptr_null(strstr(cause_of(&s, "cpu-wait")->text, "cgroup"));
}

TEST(test_time_without_cpu_by_a_limit_is_not_dismissed)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 10 * MS);
	s.report.evidence.limits_known = true;
	s.report.evidence.throttled = (struct evidence_cpu_wait){ 18, 50 * MS };
	s.report.evidence.cpu_waits[CPU_WAIT_THROTTLED].total_ns = 5 * MS;
	check_cause(&s, "cpu-limit", true,
		    "a thread lost its CPU 18 times while its cgroup had used up its CPU time "
		    "(cpu.max), and the threads waited for 50.0 ms in all until they ran again, "
		    "5.0 ms of it in faults.");
	check_no_cause(&s, "nothing-wrong");
	s.report.evidence.cpu_waits[CPU_WAIT_THROTTLED].total_ns = 0;
	check_cause(&s, "cpu-limit", true, "nothing of it in faults.");
	s.report.evidence.throttled.total_ns = 49 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
}

TEST(test_locks_are_not_certain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_LOCK, 100, PART_FOREIGN, 100 * MS);
	check_cause(&s, "page-lock", false, "100 faults met a page that another thread had locked");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_BLOCKED, 100 * MS);
	check_cause(&s, "contention", false, "the thread was blocked");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "contention");
}

TEST(test_kernel_stacks_name_the_lock_or_the_server)
{
	struct wait_row rows[] = {
		{ .cause = "a mutex", .parts_ns = { [PART_BLOCKED] = 20 * MS } },
		{ .cause = "the journal", .parts_ns = { [PART_BLOCKED] = 30 * MS } },
		{ .cause = "the journal",
		  .parts_ns = { [PART_BLOCKED] = 25 * MS, [PART_FOREIGN] = 40 * MS } },
	};
	struct sample s;

	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_ANON, 100, PART_BLOCKED, 100 * MS);
	check_cause(&s, "contention", true, "mostly waiting for the journal");
	rows[1].parts_ns[PART_BLOCKED] = 24 * MS;
	check_cause(&s, "contention", false, "by a lock or a FUSE server");
	rows[1].parts_ns[PART_BLOCKED] = 30 * MS;
	rows[1].cause = NULL;
	check_cause(&s, "contention", false, "by a lock or a FUSE server");
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 80 * MS);
	check_cause(&s, "foreign-read", false, "mostly for the journal");
	rows[0].classes_ns[FAULT_MKWRITE] = 50 * MS;
	rows[1].classes_ns[FAULT_MKWRITE] = 51 * MS;
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_MKWRITE, 100, PART_FOREIGN, 102 * MS);
	rows[1].cause = "the journal";
	check_cause(&s, "page-mkwrite", true, "100 % of that waited, mostly for the journal.");
	rows[1].classes_ns[FAULT_MKWRITE] = 50 * MS;
	rows[0].classes_ns[FAULT_MKWRITE] = 0;
	check_cause(&s, "page-mkwrite", true, "100 % of that waited for the file system.");
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 80 * MS);
	rows[2].parts_ns[PART_FOREIGN] = 39 * MS;
	check_cause(&s, "foreign-read", false, "a kernel thread or a server");
}

TEST(test_reclaim_names_its_kind)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RECLAIM, 100 * MS);
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 40;
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].total_ns = 90 * MS;
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].pages = 1280;
	check_cause(&s, "reclaim", true, "40 times at a cgroup's limit (1280 pages)");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "reclaim")->remedy, "memory.max"));
	s.report.evidence.reclaims[PFSTAT_RECLAIM_COMPACTION].total_ns = 91 * MS;
	judge(&s);
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "reclaim")->remedy, "defrag"));
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "reclaim");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RECLAIM, 100 * MS);
	s.report.bpf.hooks &= ~(1U << HOOK_RECLAIM);
	check_no_cause(&s, "reclaim");
}

TEST(test_reads_of_others_and_of_servers)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
	check_cause(&s, "foreign-read", false, "no watched thread had submitted");
	strcpy(s.report.environment.filesystem, "nfs4");
	check_cause(&s, "remote-server", true,
		    "100 % of the faults' time waited for the NFS server");
	check_no_cause(&s, "foreign-read");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "remote-server");
}

/* A file of a mount, whose waits for I/O of others take this long. */
static void add_waiting_file(struct sample *s, const char *name,
			     const struct filesystem *filesystem, uint64_t foreign_ns)
{
	struct report_places *files = &s->report.places[GROUP_BY_FILE];

	files->rows = s->files;
	s->files[files->nr++] = (struct group){
		.name = name,
		.inode = 5,
		.filesystem = filesystem,
		.total_ns = foreign_ns,
		.parts_ns = { [PART_FOREIGN] = foreign_ns },
	};
}

TEST(test_waits_for_pages_of_a_server_name_it)
{
	static const struct {
		struct filesystem filesystem;
		const char *text, *remedy;
	} servers[] = {
		{ { .type = "fuse.sshfs", .source = "me@host:/data" },
		  "100 % of the faults' time waited for the FUSE server: /mnt/file is on "
		  "fuse.sshfs (me@host:/data).",
		  "max_readahead" },
		{ { .type = "nfs4", .source = "host:/export" },
		  "waited for the NFS server: /mnt/file is on nfs4 (host:/export).",
		  "nfsiostat" },
		{ { .type = "9p", .source = "share" },
		  "waited for the 9p server: /mnt/file is on 9p (share).",
		  "msize" },
		{ { .type = "virtiofs", .source = "share" },
		  "waited for the server of virtiofs: /mnt/file is on virtiofs (share).",
		  "virtiofsd" },
		{ { .type = "cifs", .source = "//nas/share" },
		  "waited for the SMB server: /mnt/file is on cifs (//nas/share).",
		  "rsize" },
		{ { .type = "ceph", .source = "1.2.3.4:/" },
		  "waited for the Ceph servers: /mnt/file is on ceph (1.2.3.4:/).",
		  "rasize" },
	};
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		sample_begin(&s);
		add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
		add_waiting_file(&s, "/mnt/file", &servers[i].filesystem, 100 * MS);
		check_cause(&s, "remote-server", true, servers[i].text);
		ck_assert_ptr_nonnull(strstr(cause_of(&s, "remote-server")->remedy,
					     servers[i].remedy));
		check_no_cause(&s, "foreign-read");
	}
}

TEST(test_waits_for_pages_of_other_file_systems_are_not_for_a_server)
{
	static const struct filesystem ext4 = { .type = "ext4", .source = "/dev/sda1" };
	static const struct filesystem others[] = {
		{ .type = "tmpfs", .source = "tmpfs" },
		{ .type = "btrfs", .source = "/dev/sda2" },
		{ .type = "overlay", .source = "overlay" },
		{ .type = "nilfs2", .source = "/dev/sda3" }, /* not every n is NFS */
	};
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		sample_begin(&s);
		add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
		add_waiting_file(&s, "/mnt/file", &others[i], 100 * MS);
		check_no_cause(&s, "remote-server");
		judge(&s);
		ck_assert_ptr_nonnull(strstr(cause_of(&s, "foreign-read")->text, others[i].type));
		ck_assert_ptr_null(strstr(cause_of(&s, "foreign-read")->remedy, "findmnt"));
	}
	sample_begin(&s);
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
	add_waiting_file(&s, "/mnt/file", &ext4, 100 * MS);
	check_cause(&s, "foreign-read", false,
		    "of another process or a kernel thread. /mnt/file is on ext4 (/dev/sda1).");
	s.files[0].filesystem = NULL;
	check_cause(&s, "foreign-read", false, "a kernel thread or a server.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "foreign-read")->remedy, "findmnt -T FILE"));
}

TEST(test_server_has_the_waits_for_its_own_files_only)
{
	static const struct filesystem ext4 = { .type = "ext4", .source = "/dev/sda1" };
	static const struct filesystem nfs = { .type = "nfs4", .source = "host:/export" };
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
	add_waiting_file(&s, "/local/file", &ext4, 75 * MS);
	add_waiting_file(&s, "/mnt/file", &nfs, 25 * MS);
	check_cause(&s, "remote-server", true,
		    "25 % of the faults' time waited for the NFS server: /mnt/file is on nfs4");
	s.files[1].parts_ns[PART_FOREIGN] = 24 * MS;
	check_no_cause(&s, "remote-server");
	/* These pages are in memory, and another thread has locked them. */
	sample_begin(&s);
	add_class(&s, FAULT_LOCK, 100, PART_FOREIGN, 100 * MS);
	add_waiting_file(&s, "/mnt/file", &nfs, 100 * MS);
	check_no_cause(&s, "remote-server");
	check_cause(&s, "page-lock", false, "a page that another thread had locked");
}

TEST(test_kernel_stack_of_a_server_is_next_to_its_file)
{
	static const struct filesystem fuse = { .type = "fuse.gcsfuse", .source = "bucket" };
	struct wait_row row = { .cause = WAIT_FUSE, .total_ns = 40 * MS };
	struct sample s;

	row.parts_ns[PART_BLOCKED] = 40 * MS;
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	add_class(&s, FAULT_DISK, 1000, PART_BLOCKED, 40 * MS);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 60 * MS);
	add_waiting_file(&s, "/mnt/file", &fuse, 0);
	check_cause(&s, "remote-server", true,
		    "40 % of the faults' time waited for the FUSE server: /mnt/file is on "
		    "fuse.gcsfuse (bucket).");
}

TEST(test_kernel_stacks_show_servers_handlers_and_locks)
{
	static const struct {
		const char *wait, *rule, *text, *remedy;
	} waits[] = {
		{ WAIT_FUSE, "remote-server", "40 % of the faults' time waited for the FUSE server",
		  "profile the server" },
		{ WAIT_NFS, "remote-server", "waited for the NFS server", "nfsiostat" },
		{ WAIT_USERFAULTFD, "userfaultfd", "waited for a handler of userfaultfd",
		  "handler threads" },
		{ WAIT_MMAP_LOCK, "mmap-lock", "the lock of their address space (mmap_lock)",
		  "map once" },
		{ WAIT_WRITEBACK, "writeback-throttle", "too many pages are dirty",
		  "vm.dirty_background_bytes" },
	};
	struct wait_row row;
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		const enum part part = i == 2 ? PART_HANDLER : PART_BLOCKED;

		row = (struct wait_row){ .cause = waits[i].wait, .total_ns = 40 * MS };
		row.parts_ns[part] = 40 * MS;
		sample_begin(&s);
		s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
		add_class(&s, FAULT_ANON, 1000, part, 40 * MS);
		add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 60 * MS);
		check_cause(&s, waits[i].rule, true, waits[i].text);
		ck_assert_ptr_nonnull(strstr(cause_of(&s, waits[i].rule)->remedy, waits[i].remedy));
		check_no_cause(&s, "contention"); /* the same time */
		check_cause(&s, "first-touch", true, "30.00 µs each on the CPU");
		row.total_ns = 24 * MS;
		check_no_cause(&s, waits[i].rule);
	}
}

TEST(test_faults_on_a_guests_memory_are_no_system_calls)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.kernel_ns = 95 * MS;
	s.report.evidence.guest_ns = 90 * MS;
	check_cause(&s, "first-touch", true,
		    "90 % of the faults' time is on the memory of a guest, taken by its virtual "
		    "CPUs (KVM).");
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->text, "system calls"));
}

TEST(test_a_run_of_only_a_guests_faults_has_no_system_call_to_look_at)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_OTHER, 1000, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.kernel_ns = 100 * MS;
	s.report.evidence.guest_ns = 100 * MS;
	check_cause(&s, "kernel-mode", true,
		    "100 % of the faults' time is on the memory of a guest");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "kernel-mode")->remedy, "prealloc=on"));
}

TEST(test_the_handler_of_userfaultfd_is_named_with_its_queue)
{
	struct wait_row row = { .cause = WAIT_USERFAULTFD,
				.parts_ns = { [PART_HANDLER] = 60 * MS },
				.total_ns = 60 * MS };
	struct handler_row *handler;
	struct sample s;

	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	add_class(&s, FAULT_ANON, 1000, PART_HANDLER, 60 * MS);
	s.report.evidence.handlers.nr = 1;
	handler = s.report.evidence.handlers.rows;
	*handler = (struct handler_row){ .pid = 77,
					 .name = "restore",
					 .threads = 1,
					 .total_ns = 60 * MS,
					 .queue_ns = 45 * MS,
					 .work_ns = 15 * MS };
	check_cause(&s, "userfaultfd", true,
		    ": 60.0 ms for restore (pid 77). 45.0 ms passed until it had read the faults, "
		    "and 15.0 ms from then until it had brought the pages.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "userfaultfd")->remedy,
				     "more threads that read and answer faults (1 did)"));
	handler->queue_ns = 10 * MS;
	handler->work_ns = 40 * MS;
	handler->unread_ns = 10 * MS;
	check_cause(&s, "userfaultfd", true, "No read is known for 10.0 ms of the waits.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "userfaultfd")->remedy, "perf trace -p 77"));
	handler->pid = 0;
	check_cause(&s, "userfaultfd", true, "which must bring each page.");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "userfaultfd")->remedy, "more handler threads"));
}

TEST(test_calls_that_change_mappings_are_named_with_their_lock)
{
	struct wait_row row = { .cause = WAIT_MMAP_LOCK,
				.parts_ns = { [PART_BLOCKED] = 40 * MS },
				.total_ns = 40 * MS };
	struct sample s;

	sample_begin(&s);
	strcpy(s.report.environment.architecture, "x86_64");
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	add_class(&s, FAULT_ANON, 1000, PART_BLOCKED, 60 * MS);
	s.totals[0] = (struct syscall_total){ .number = 11, .calls = 2000, .total_ns = 50 * MS };
	s.report.extras.syscalls = s.totals;
	s.report.extras.nr_syscalls = 1;
	check_cause(&s, "mmap-lock", true, "The costliest of the calls is munmap(): 2000.");
	s.totals[0].number = 202; /* futex */
	check_cause(&s, "mmap-lock", true, "and faults wait behind them.");
	ck_assert_ptr_null(strstr(cause_of(&s, "mmap-lock")->text, "costliest"));
}

#define X86_MUNMAP (PFSTAT_WAKER_CALL + 11)
#define X86_CLONE  (PFSTAT_WAKER_CALL + 56)

TEST(test_the_call_that_passed_the_lock_on_is_named_with_its_remedy)
{
	struct wait_row row = { .cause = WAIT_MMAP_LOCK,
				.parts_ns = { [PART_BLOCKED] = 40 * MS },
				.total_ns = 40 * MS };
	struct lock_waker_row rows[] = {
		{ .tid = 12, .comm = "worker", .doing = X86_MUNMAP, .total_ns = 30 * MS },
		{ .tid = 13, .comm = "worker", .doing = X86_MUNMAP, .total_ns = 9 * MS },
		{ .tid = 9, .comm = "reader", .doing = PFSTAT_WAKER_EXCEPTION, .total_ns = MS },
	};
	struct sample s;

	sample_begin(&s);
	strcpy(s.report.environment.architecture, "x86_64");
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	s.report.mmap_lock = (struct report_mmap_lock){
		.rows = rows, .nr = 3, .total_ns = 40 * MS, .in_faults_ns = 40 * MS
	};
	add_class(&s, FAULT_ANON, 1000, PART_BLOCKED, 60 * MS);
	check_cause(&s, "mmap-lock", true,
		    "Of all such waits (40.0 ms), 39.0 ms ended when worker (tid 12) passed the "
		    "lock on in munmap().");
	check_remedy(&s, "mmap-lock", "MADV_DONTNEED, which takes the lock for reading only");
	rows[0].total_ns = 15 * MS;
	rows[1].total_ns = 16 * MS;
	check_cause(&s, "mmap-lock", true, "one of 2 threads passed the lock on in munmap().");
	rows[0].doing = rows[1].doing = X86_CLONE;
	check_cause(&s, "mmap-lock", true, "passed the lock on in clone().");
	check_remedy(&s, "mmap-lock", "posix_spawn(3)");
	rows[0].doing = rows[1].doing = PFSTAT_WAKER_KERNEL;
	rows[0].total_ns = 30 * MS;
	rows[1].total_ns = 9 * MS;
	check_cause(&s, "mmap-lock", true, "a kernel thread (tid 12) passed the lock on.");
	check_remedy(&s, "mmap-lock", "map once");
	rows[0].doing = rows[1].doing = PFSTAT_WAKER_KILL;
	check_cause(&s, "mmap-lock", true, "and faults wait behind them.");
	ck_assert_ptr_null(strstr(cause_of(&s, "mmap-lock")->text, "passed"));
}

TEST(test_waits_for_the_lock_before_faults_are_outside_of_their_time)
{
	struct lock_waker_row row = { .tid = 12, .doing = X86_MUNMAP, .total_ns = 40 * MS };
	struct sample s;

	sample_begin(&s);
	strcpy(s.report.environment.architecture, "x86_64");
	s.report.mmap_lock = (struct report_mmap_lock){
		.rows = &row, .nr = 1, .total_ns = 40 * MS, .in_faults_ns = 20 * MS
	};
	s.report.time.counted_ns = 400 * MS;
	add_class(&s, FAULT_ANON, 10, PART_CPU_BEFORE, MS); /* a small share of the run */
	check_cause(&s, "mmap-lock", true,
		    "threads waited 20.0 ms for the lock of their address space (mmap_lock) before "
		    "their faults began, which is not in the faults' time.");
	check_cause(&s, "mmap-lock", true, "ended when thread 12 passed the lock on in munmap().");
	s.report.time.counted_ns = 401 * MS;
	check_no_cause(&s, "mmap-lock");
}

TEST(test_faults_in_system_calls)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.kernel_ns = 51 * MS;
	check_cause(&s, "kernel-mode", true, "51 % of the faults' time was taken in system calls");
	s.codes[0] = (struct group){ .name = "__madvise+0x9 (/lib/libc.so.6)",
				     .total_ns = 60 * MS,
				     .kernel_ns = 26 * MS };
	s.report.places[GROUP_BY_CODE] = (struct report_places){ s.codes, 1 };
	check_cause(&s, "kernel-mode", true,
		    "or populated it, mostly from __madvise (/lib/libc.so.6).");
	strcpy(s.report.environment.architecture, "x86_64");
	s.totals[0] = (struct syscall_total){ .number = 28, .calls = 1, .total_ns = 26 * MS };
	s.report.extras.syscalls = s.totals;
	s.report.extras.nr_syscalls = 1;
	check_cause(&s, "kernel-mode", true,
		    ", where only madvise() took that long (1 call), mostly");
	s.totals[0].total_ns = 25 * MS;
	check_cause(&s, "kernel-mode", true, "populated it, mostly from");
	s.totals[0] = (struct syscall_total){ .number = 202, .calls = 1, .total_ns = 900 * MS };
	check_cause(&s, "kernel-mode", true, "populated it, mostly from"); /* futex */
	s.report.evidence.kernel_ns = 49 * MS;
	check_no_cause(&s, "kernel-mode");
	/* The cause is known: the calls are where to look. */
	s.report.evidence.kernel_ns = 51 * MS;
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 0);
	check_no_cause(&s, "kernel-mode");
	check_cause(&s, "first-touch", true,
		    " 51 % of the faults' time is in system calls, mostly from __madvise "
		    "(/lib/libc.so.6).");
}

TEST(test_code_is_a_function_with_all_its_instructions)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 100 * MS);
	s.codes[0] = (struct group){ .name = "copy+0x10 (/lib/libc.so.6)", .total_ns = 30 * MS };
	s.codes[1] = (struct group){ .name = "memset+0x4 (/lib/libc.so.6)", .total_ns = 28 * MS };
	s.codes[2] = (struct group){ .name = "memset+0x24 (/lib/libc.so.6)", .total_ns = 22 * MS };
	s.codes[3] = (struct group){ .name = "memset+0x4 (/bin/own)", .total_ns = 20 * MS };
	s.report.places[GROUP_BY_CODE] = (struct report_places){ s.codes, 4 };
	judge(&s);
	ck_assert_str_eq(s.verdict.code.name, "memset (/lib/libc.so.6)");
	ck_assert_uint_eq(s.verdict.code.total_ns, 50 * MS);
	s.codes[1].name = "memset_wide+0x4 (/lib/libc.so.6)";
	judge(&s);
	ck_assert_str_eq(s.verdict.code.name, "copy (/lib/libc.so.6)");
	s.codes[0].name = "0x1652 (/bin/stripped)";
	judge(&s);
	ck_assert_str_eq(s.verdict.code.name, "0x1652 (/bin/stripped)");
}

TEST(test_no_rule_is_an_uncertain_verdict)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_OTHER, 100, PART_CPU_BEFORE, 100 * MS);
	check_cause(&s, "unknown", false,
		    "most of the time is class other (100 %) and part cpu_before (100 %)");
}

TEST(test_lost_events_make_no_cause_certain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	s.report.faults.classes[FAULT_SWAP].major = 1000;
	s.report.losses.events = 1;
	check_cause(&s, "swap", false, "swap-ins");
}

TEST(test_causes_have_times_of_their_own)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_RUNQUEUE, 300 * MS);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 200 * MS);
	s.report.evidence.kernel_ns = 240 * MS;
	judge(&s);
	ck_assert_uint_eq(s.verdict.nr_causes, 2);
	/* To have no CPU concerns all that a thread does, so it comes last. */
	ck_assert_str_eq(s.verdict.causes[0].rule, "first-touch");
	ck_assert_str_eq(s.verdict.causes[1].rule, "cpu-wait");
	ck_assert_double_eq_tol(s.verdict.causes[0].weight, 0.4, 1e-9);
	ck_assert_double_eq_tol(s.verdict.causes[1].weight, 0.6, 1e-9);
}

TEST(test_the_larger_cause_comes_first_certain_or_not)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_BLOCKED, 300 * MS); /* no stack is known */
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 200 * MS);
	judge(&s);
	ck_assert_uint_eq(s.verdict.nr_causes, 2);
	ck_assert_str_eq(s.verdict.causes[0].rule, "contention");
	ck_assert(!s.verdict.causes[0].certain);
	ck_assert_str_eq(s.verdict.causes[1].rule, "first-touch");
	ck_assert(s.verdict.causes[1].certain);
	add_class(&s, FAULT_ANON, 0, PART_CPU_BEFORE, 101 * MS);
	judge(&s);
	ck_assert_str_eq(s.verdict.causes[0].rule, "first-touch");
}

static char *print(const struct sample *s)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	print_verdict(out, &s->verdict, &s->report);
	fclose(out);
	return text;
}

TEST(test_the_verdict_is_printed_as_sentences)
{
	struct sample s;
	char *text;

	read_in_order(&s, 940, 4096);
	s.threads[0] = (struct group){ .name = "py\nthon (3)", .tid = 3, .total_ns = 400 * MS };
	s.report.places[GROUP_BY_THREAD].rows = s.threads;
	s.report.places[GROUP_BY_THREAD].nr = 1;
	judge(&s);
	text = print(&s);
	ck_assert_ptr_eq(
		strstr(text,
		       "Page faults were in progress for 40 % of the run (1.00 s): "
		       "1000 faults took 400.0 ms.\nMost of it: class disk 100 %; file /data/big.bin "
		       "100 %; thread py?thon (3) 100 %.\nCause: "),
		text);
	ck_assert_ptr_nonnull(strstr(text, "\nTry: pfdrive replay"));
	free(text);
	s.report.evidence.busy_ns = 200 * MS; /* two threads at once */
	judge(&s);
	text = print(&s);
	ck_assert_ptr_nonnull(strstr(text, "1000 faults took 400.0 ms of the threads' time."));
	free(text);
}

TEST(test_the_share_of_the_cpu_time_is_printed_if_it_is_much_larger)
{
	struct sample s;
	char *text;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 12 * MS);
	s.report.usage.utime_ns = 10 * MS;
	s.report.usage.stime_ns = 15 * MS;
	s.report.usage.nvcsw = 1;
	judge(&s);
	text = print(&s);
	ck_assert_ptr_nonnull(strstr(text,
				     "1000 faults took 12.0 ms.\nPage faults took 48 % of the "
				     "CPU time that the run got (25.0 ms).\nMost of it: "));
	free(text);
	s.report.usage.utime_ns = 240 * MS; /* 4.7 % */
	judge(&s);
	text = print(&s);
	ck_assert_ptr_null(strstr(text, "CPU time"));
	free(text);
}

/* It is anonymous memory, and no file. */
TEST(test_memory_without_a_known_mapping_is_not_called_a_file)
{
	struct group mapping = { .name = "375 (no mapping known)", .pid = 375 };
	struct sample s;
	char *text;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 300 * MS);
	s.files[0] = (struct group){ .name = "(anonymous memory)", .total_ns = 300 * MS };
	s.report.places[GROUP_BY_FILE] = (struct report_places){ s.files, 1 };
	mapping.total_ns = 150 * MS;
	s.report.places[GROUP_BY_VMA] = (struct report_places){ &mapping, 1 };
	judge(&s);
	text = print(&s);
	ck_assert_ptr_nonnull(strstr(text, "; memory of 375 without a known mapping (most likely "
					   "of mremap()) 50 %"));
	free(text);
	s.report.places[GROUP_BY_VMA].nr = 0;
	judge(&s);
	text = print(&s);
	ck_assert_ptr_nonnull(strstr(text, "; file (anonymous memory) 100 %"));
	free(text);
}

TEST(test_without_a_duration_there_is_no_verdict)
{
	struct sample s;
	char *text;

	sample_begin(&s);
	s.report.time.counted_ns = COUNT_NA;
	verdict_make(&s.verdict, &s.report);
	ck_assert(!s.verdict.known);
	text = print(&s);
	ck_assert_str_eq(text, "No verdict: the duration of the run is not known.\n");
	free(text);
}

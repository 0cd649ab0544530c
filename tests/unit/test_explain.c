// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logical faults from attempts, off-CPU intervals and requests: each part of the time is
 * attributed.
 */
#include "sample_explain.h"

/* Disk fault on page 5: 1000 to 1200, asleep 1050 to 1190, retried at 1210 to 1215. */
static void add_disk_fault(void)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1200, RETRY);

	record.facts = PFSTAT_FACT_SLEPT;
	add_request(1, 4, 8, 1040, 1060, 1170);
	add_stay(1, 1050, 1175, 1190);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_SHORT, 5, 1210, 1215, LOCKED);
	record.earlier_ns = 1000;
	record.flags = PFSTAT_FLAG_TRIED;
	add_record(&record);
}

TEST(test_a_disk_fault_is_split_into_parts)
{
	open_explain(true);
	add_disk_fault();
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_DISK);
	ck_assert_uint_eq(faults[0].attempts, 2);
	ck_assert_uint_eq(faults[0].start_ns, 1000);
	ck_assert_uint_eq(faults[0].end_ns, 1215);
	ck_assert_uint_eq(faults[0].handler_ns, 205);
	ck_assert(faults[0].solved && faults[0].major && faults[0].parts_known);
	ck_assert_uint_eq(faults[0].request.event.ns, 1170);
	ck_assert_uint_eq(faults[0].read_bytes, 8 * 4096);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 50, [PART_QUEUE] = 10, [PART_DEVICE] = 110,
		    [PART_COMPLETION] = 5, [PART_RUNQUEUE] = 15, [PART_CPU_AFTER] = 25);
	ck_assert_uint_eq(faults[0].nr_spans, 4);
	ck_assert_uint_eq(faults[0].spans[1].part, PART_DEVICE);
	ck_assert_uint_eq(faults[0].spans[1].from_ns, 1060);
	close_explain();
}

TEST(test_a_fault_has_the_bytes_that_its_own_thread_read_in_it)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1200, LOCKED);

	open_explain(true);
	add_request(1, 0, 1, 990, 1000, 1010);	/* submitted before */
	add_request(2, 5, 2, 1010, 1020, 1100); /* by another thread, although for its page */
	add_request(1, 8, 4, 1010, 1020, 1150);
	add_request(1, 16, 8, 1010, 1020, 1200); /* another page: read-ahead */
	add_record(&record);
	add_request(1, 32, 16, 1190, 1195, 1201); /* complete after the end */
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].read_bytes, (4 + 8) * 4096);
	record.start_ns = 1300;
	add_record(&record);
	ck_assert_uint_eq(faults[1].read_bytes, 0);
	close_explain();
}

TEST(test_off_cpu_interval_outside_belongs_to_no_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 500, 510, LOCKED);

	open_explain(true);
	add_stay(1, 100, 200, 300);
	add_stay(2, 500, 505, 507); /* another thread's */
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 10);
	close_explain();
}

TEST(test_off_cpu_interval_between_attempts_belongs_to_the_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 1, 100, 110, RETRY);

	open_explain(true);
	add_record(&record);
	add_stay(1, 120, 0, 220);
	record = attempt_of(PFSTAT_CLASS_SHORT, 1, 230, 240, LOCKED);
	record.earlier_ns = 100;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_WAIT);
	ck_assert_uint_eq(faults[0].parts_ns[PART_CPU_BEFORE], 20);
	ck_assert_uint_eq(faults[0].parts_ns[PART_CPU_AFTER], 20);
	close_explain();
}

TEST(test_request_for_another_page_is_not_the_faults)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 20, 1000, 1200, RETRY);

	open_explain(true);
	add_request(2, 4, 8, 900, 900, 1170); /* another thread's, pages 4 … 11 */
	add_stay(1, 1050, 1180, 1190);
	add_record(&record);
	close_explain();
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 50, [PART_FOREIGN] = 130, [PART_RUNQUEUE] = 10,
		    [PART_CPU_AFTER] = 10);
}

TEST(test_read_of_the_page_by_another_process_is_recognized)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 11, 1000, 1200, RETRY);

	open_explain(true);
	add_request(2, 4, 8, 900, 900, 1170);
	add_stay(1, 1050, 1180, 1190);
	add_record(&record);
	close_explain();
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 50, [PART_DEVICE] = 120, [PART_COMPLETION] = 10,
		    [PART_RUNQUEUE] = 10, [PART_CPU_AFTER] = 10);
}

TEST(test_sleep_without_an_off_cpu_interval_is_residue)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 1, 1000, 1200, RETRY);

	record.facts = PFSTAT_FACT_SLEPT;
	open_explain(true);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_SHORT, 1, 1210, 1215, LOCKED);
	record.earlier_ns = 1000;
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_RESIDUE] = 200, [PART_CPU_AFTER] = 15);
	close_explain();
}

TEST(test_parts_are_unknown_without_ebpf)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 1, 1000, 1200, LOCKED);

	record.facts = PFSTAT_FACT_SLEPT;
	open_explain(false);
	add_record(&record);
	ck_assert(!faults[0].parts_known);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 200);
	close_explain();
}

TEST(test_pass_and_fault_are_one_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_PASS, 3, 100, 101, 0);

	record.op = PFSTAT_OP_MAP_PAGES;
	open_explain(true);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 0);
	record = attempt_of(PFSTAT_CLASS_LONG, 3, 103, 110, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_LONG);
	ck_assert_uint_eq(faults[0].end_ns - faults[0].start_ns, 10);
	ck_assert_uint_eq(faults[0].handler_ns, 8);
	close_explain();
}

TEST(test_page_mkwrite_joins_its_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 3, 100, 110, LOCKED);

	record.flags = PFSTAT_FLAG_WRITE;
	record.facts = PFSTAT_FACT_SHARED;
	open_explain(true);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 0); /* page_mkwrite may follow */
	record = attempt_of(PFSTAT_CLASS_MKWRITE, 3, 112, 130, LOCKED);
	record.op = PFSTAT_OP_PAGE_MKWRITE;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].attempts, 2);
	ck_assert_uint_eq(faults[0].end_ns, 130);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_LONG);
	ck_assert(faults[0].solved);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
}

/* One page in a large folio, or all pages. page_mkwrite does not report which. */
TEST(test_a_folio_counts_where_the_kernel_maps_it)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 3, 100, 110, LOCKED);

	record.order = 4;
	open_explain(true);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_LONG, 33, 200, 210, LOCKED);
	record.order = 4;
	record.flags = PFSTAT_FLAG_WRITE;
	record.facts = PFSTAT_FACT_SHARED | PFSTAT_FACT_FOLIO;
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_MKWRITE, 33, 212, 230, LOCKED);
	record.op = PFSTAT_OP_PAGE_MKWRITE;
	record.order = 4;
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_MKWRITE, 34, 300, 310, LOCKED);
	record.op = PFSTAT_OP_PAGE_MKWRITE;
	record.order = 4;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert_uint_eq(faults[0].order, 0);
	ck_assert_uint_eq(faults[1].order, 4);
	ck_assert_uint_eq(faults[2].order, 0);
	close_explain();
}

TEST(test_write_without_page_mkwrite_is_complete)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 3, 100, 110, LOCKED);

	record.flags = PFSTAT_FLAG_WRITE;
	record.facts = PFSTAT_FACT_SHARED;
	open_explain(true);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_LONG, 4, 200, 210, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert(faults[0].solved && faults[1].solved);
	close_explain();
}

TEST(test_fault_without_a_retry_is_unsolved)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 3, 100, 200, RETRY);
	const struct pfstat_task exit = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(exit), .tid = 1,
			.flags = PFSTAT_TASK_EXIT, .ns = 500,
		},
	};

	open_explain(true);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_DISK, 9, 300, 400, RETRY);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1); /* unsolved: no retry on the page came */
	ck_assert_int_eq(explain_event(explain, &exit.event), 0);
	ck_assert_uint_eq(nr_faults, 2); /* the thread exited */
	ck_assert(!faults[0].solved && !faults[0].major && !faults[1].solved);
	close_explain();
	ck_assert_uint_eq(nr_faults, 2);
}

TEST(test_an_error_solves_nothing)
{
	struct pfstat_record record =
		attempt_of(PFSTAT_CLASS_ERROR, 3, 100, 200, PFSTAT_RESULT_SIGBUS);

	open_explain(true);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(!faults[0].solved);
	close_explain();
}

/* A sleep in I/O wait, with the thread's total off-CPU time. */
static void add_sleep_of_total(uint64_t off_ns, uint64_t on_ns, uint64_t total_ns)
{
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_IOWAIT, .ns = on_ns,
		},
		.off_ns = off_ns, .state = 2, .total_ns = total_ns,
	};

	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
}

static void add_disk_record(uint64_t start_ns, uint64_t end_ns)
{
	struct pfstat_record record =
		attempt_of(PFSTAT_CLASS_DISK, start_ns, start_ns, end_ns, LOCKED);

	record.facts = PFSTAT_FACT_SLEPT;
	add_record(&record);
}

static uint64_t corrected_ns[NR_FAULT_CLASSES][NR_PARTS];

static void add_correction(void *context, enum fault_class class, enum part part, uint64_t ns)
{
	(void)context;
	corrected_ns[class][part] += ns;
}

TEST(test_a_lost_off_cpu_event_is_residue_when_the_next_one_is_in_the_fault)
{
	open_explain(true);
	add_sleep_of_total(500, 600, 100);
	/* A sleep of 300 was lost between the fault's two intervals. */
	add_sleep_of_total(1100, 1200, 200);
	add_sleep_of_total(1700, 1800, 600);
	add_disk_record(1000, 2000);
	ck_assert_uint_eq(nr_faults, 1);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_FOREIGN] = 200, [PART_RESIDUE] = 300,
		    [PART_CPU_AFTER] = 400);
	close_explain();
}

TEST(test_a_lost_off_cpu_event_corrects_the_fault_that_was_handed_on)
{
	memset(corrected_ns, 0, sizeof(corrected_ns));
	open_explain(true);
	explain_listen_corrections(explain, add_correction, NULL);
	add_sleep_of_total(1100, 1200, 100);
	add_disk_record(1000, 2000); /* after 1200: asleep for 700, event lost */
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_FOREIGN] = 100,
		    [PART_CPU_AFTER] = 800);
	add_sleep_of_total(3100, 3200, 900);
	add_disk_record(3000, 3300);
	/* The second fault may have spent 100 of the 700, so 600 are left for the first. */
	CHECK_PARTS(&faults[1], [PART_RESIDUE] = 100, [PART_FOREIGN] = 100, [PART_CPU_AFTER] = 100);
	ck_assert_uint_eq(corrected_ns[PFSTAT_CLASS_DISK][PART_CPU_AFTER], 600);
	/* No event is lost from here on. */
	add_sleep_of_total(4100, 4200, 1000);
	add_disk_record(4000, 4300);
	CHECK_PARTS(&faults[2], [PART_CPU_BEFORE] = 100, [PART_FOREIGN] = 100,
		    [PART_CPU_AFTER] = 100);
	ck_assert_uint_eq(corrected_ns[PFSTAT_CLASS_DISK][PART_CPU_AFTER], 600);
	close_explain();
}

TEST(test_a_total_that_restarts_belongs_to_another_thread)
{
	open_explain(true);
	add_sleep_of_total(1100, 1200, 5000); /* the first one: 4900 were lost before it */
	add_disk_record(1000, 1300);
	CHECK_PARTS(&faults[0], [PART_RESIDUE] = 100, [PART_FOREIGN] = 100, [PART_CPU_AFTER] = 100);
	add_sleep_of_total(2100, 2200, 100);
	add_disk_record(2000, 2300);
	CHECK_PARTS(&faults[1], [PART_CPU_BEFORE] = 100, [PART_FOREIGN] = 100,
		    [PART_CPU_AFTER] = 100);
	close_explain();
}

static void add_preemption(uint64_t off_ns, uint64_t on_ns)
{
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_PREEMPTED, .ns = on_ns,
		},
		.off_ns = off_ns,
	};

	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
}

TEST(test_a_lost_off_cpu_interval_is_residue_in_all_cases)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_WAIT, 1, 1000, 1100, RETRY);

	open_explain(true);
	add_record(&record);
	add_preemption(1110, 1150); /* between the attempts */
	add_preemption(1210, 1220); /* in the second attempt, where preemption is not a sleep */
	record = attempt_of(PFSTAT_CLASS_DISK, 1, 1200, 1300, LOCKED);
	record.earlier_ns = 1000;
	record.facts = PFSTAT_FACT_SLEPT | PFSTAT_FACT_PREEMPTED;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 110, [PART_RUNQUEUE] = 40,
		    [PART_CPU_AFTER] = 50, [PART_RESIDUE] = 100);
	close_explain();
}

TEST(test_off_cpu_intervals_beyond_the_limit_are_residue)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 101000, LOCKED);
	uint64_t i;

	open_explain(true);
	for (i = 0; i < 300; i++)
		add_preemption(2000 + 100 * i, 2010 + 100 * i);
	record.facts = PFSTAT_FACT_PREEMPTED;
	add_record(&record);
	/* The first 44 intervals are dropped, and the gaps between them are unknown: up to 6310. */
	CHECK_PARTS(&faults[0], [PART_RESIDUE] = 5310, [PART_RUNQUEUE] = 2560,
		    [PART_CPU_AFTER] = 100000 - 5310 - 2560);
	ck_assert_uint_eq(faults[0].nr_spans, EXPLAIN_MAX_SPANS);
	close_explain();
}

TEST(test_off_cpu_intervals_never_overlap_or_exceed_the_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 1100, LOCKED);
	uint64_t i;

	open_explain(true);
	add_preemption(990, 1010); /* differing clocks */
	for (i = 0; i < 40; i++)   /* overlapping, and above the span limit */
		add_preemption(1000 + i, 1012 + i);
	add_preemption(1090, 1120);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_RUNQUEUE] = 61, [PART_CPU_AFTER] = 39);
	close_explain();
}

TEST(test_one_sleep_may_wait_for_two_requests)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1300, LOCKED);

	open_explain(true);
	add_request(1, 4, 1, 1010, 1020, 1150);	 /* the thread's own request, for another page */
	add_request(2, 90, 9, 1010, 1020, 1160); /* another thread's request, for another page */
	add_request(1, 5, 1, 1010, 1200, 1250);
	add_stay(1, 1030, 1260, 1270);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 30, [PART_DEVICE] = 120 + 50, [PART_QUEUE] = 50,
		    [PART_COMPLETION] = 10, [PART_RUNQUEUE] = 10, [PART_CPU_AFTER] = 30);
	ck_assert_uint_eq(faults[0].request.pgoff, 5);
	close_explain();
}

TEST(test_events_at_equal_times_are_ordered)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1200, LOCKED);

	open_explain(true);
	add_stay(1, 900, 1000, 1000);		/* ends as the fault begins */
	add_request(1, 5, 1, 1000, 1000, 1100); /* complete before the sleep: not waited for */
	add_request(1, 5, 1, 1000, 1100, 1200); /* until the very end */
	add_stay(1, 1100, 1200, 1200);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_DEVICE] = 100);
	ck_assert_uint_eq(faults[0].nr_spans, 1);
	/* An interval that begins when the fault ends belongs to the next fault. */
	add_stay(1, 1200, 1250, 1250);
	record = attempt_of(PFSTAT_CLASS_LONG, 6, 1200, 1260, LOCKED);
	add_record(&record);
	CHECK_PARTS(&faults[1], [PART_FOREIGN] = 50, [PART_CPU_AFTER] = 10);
	close_explain();
}

TEST(test_exec_closes_open_faults)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 3, 100, 200, RETRY);
	const struct pfstat_task exec = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(exec), .tid = 7,
			.flags = PFSTAT_TASK_EXEC, .ns = 500,
		},
		.parent = 1,	/* thread 1 calls exec and becomes the first thread, 7 */
	};

	open_explain(true);
	add_record(&record);
	ck_assert_int_eq(explain_event(explain, &exec.event), 0);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(!faults[0].solved);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
}

TEST(test_faults_outside_the_module_are_counted)
{
	static const struct {
		enum pfstat_fault_kind kind;
		enum fault_class class;
	} kinds[] = {
		{ PFSTAT_FAULT_FILE, FAULT_FILE },   { PFSTAT_FAULT_ANON, FAULT_ANON },
		{ PFSTAT_FAULT_SWAP, FAULT_SWAP },   { PFSTAT_FAULT_COW, FAULT_COW },
		{ PFSTAT_FAULT_OTHER, FAULT_OTHER },
	};
	struct pfstat_fault fault;
	size_t i;

	open_explain(true);
	for (i = 0; i < 5; i++) {
		fault = fault_of(kinds[i].kind, 100 * i, 100 * i + 10, PFSTAT_OUTCOME_MINOR);
		explain_event(explain, &fault.event);
		ck_assert_uint_eq(nr_faults, i + 1);
		ck_assert_uint_eq(faults[i].class, kinds[i].class);
		ck_assert_str_ne(fault_class_name(faults[i].class), "unknown");
	}
	fault = fault_of(PFSTAT_FAULT_HOOKED, 600, 700, PFSTAT_OUTCOME_MINOR);
	explain_event(explain, &fault.event);
	ck_assert_uint_eq(nr_faults, 5);
	close_explain();
}

TEST(test_the_content_is_that_of_the_last_attempt)
{
	struct pfstat_fault fault = fault_of(PFSTAT_FAULT_OTHER, 100, 110, PFSTAT_OUTCOME_RETRY);

	open_explain(true);
	fault.page = PFSTAT_PAGE(PFSTAT_CONTENT_NEW, 0);
	explain_event(explain, &fault.event);
	fault = fault_of(PFSTAT_FAULT_COW, 120, 130, PFSTAT_OUTCOME_MINOR);
	fault.page = PFSTAT_PAGE(PFSTAT_CONTENT_FORK, 18);
	explain_event(explain, &fault.event);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].content, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(faults[0].huge_order, 18);
	fault = fault_of(PFSTAT_FAULT_ANON, 140, 150, PFSTAT_OUTCOME_MINOR);
	explain_event(explain, &fault.event);
	ck_assert_uint_eq(faults[1].content, PFSTAT_CONTENT_UNKNOWN);
	ck_assert_uint_eq(faults[1].huge_order, 0);
	close_explain();
}

TEST(test_a_private_write_of_a_recorded_file_copies_its_page)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 5, 1000, 1200, LOCKED);

	open_explain(true);
	record.facts = PFSTAT_FACT_COW;
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_LONG, 6, 1300, 1400, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert_uint_eq(faults[0].content, PFSTAT_CONTENT_FILE);
	ck_assert_uint_eq(faults[1].content, PFSTAT_CONTENT_UNKNOWN);
	close_explain();
}

TEST(test_a_swap_in_waits_for_its_own_request)
{
	struct pfstat_fault fault = fault_of(PFSTAT_FAULT_SWAP, 1000, 1100, PFSTAT_OUTCOME_RETRY);
	struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .tid = 1,
			.flags = PFSTAT_BLOCK_SWAP, .ns = 1080,
		},
		.insert_ns = 1010, .issue_ns = 1015, .bytes = 4096,
	};

	open_explain(true);
	explain_event(explain, &block.event);
	add_stay(1, 1020, 1085, 1090);
	explain_event(explain, &fault.event);
	ck_assert_uint_eq(nr_faults, 0);
	fault = fault_of(PFSTAT_FAULT_SWAP, 1110, 1120, PFSTAT_OUTCOME_MAJOR);
	explain_event(explain, &fault.event);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].major && faults[0].attempts == 2);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 20, [PART_DEVICE] = 60, [PART_COMPLETION] = 5,
		    [PART_RUNQUEUE] = 5, [PART_CPU_AFTER] = 30);
	close_explain();
}

TEST(test_a_retry_elsewhere_leaves_a_fault_unsolved)
{
	struct pfstat_fault fault = fault_of(PFSTAT_FAULT_ANON, 100, 110, PFSTAT_OUTCOME_RETRY);

	open_explain(true);
	explain_event(explain, &fault.event);
	fault = fault_of(PFSTAT_FAULT_COW, 200, 210, PFSTAT_OUTCOME_ERROR);
	fault.address += 4096;
	explain_event(explain, &fault.event);
	close_explain();
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert(!faults[0].solved && !faults[1].solved);
	ck_assert_uint_eq(faults[0].class, FAULT_ANON);
	ck_assert_uint_eq(faults[1].class, FAULT_COW);
}

TEST(test_fault_takes_the_kind_of_its_last_attempt)
{
	struct pfstat_fault fault = fault_of(PFSTAT_FAULT_OTHER, 100, 110, PFSTAT_OUTCOME_RETRY);

	open_explain(true);
	explain_event(explain, &fault.event);
	fault = fault_of(PFSTAT_FAULT_SWAP, 120, 130, PFSTAT_OUTCOME_MINOR);
	explain_event(explain, &fault.event);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, FAULT_SWAP);
}

/* A signal ended the fault. Seconds later the page is touched again. */
TEST(test_an_abandoned_fault_is_not_joined_to_the_pages_next_fault)
{
	struct pfstat_fault fault = fault_of(PFSTAT_FAULT_SWAP, 100, 110, PFSTAT_OUTCOME_RETRY);
	struct pfstat_record record =
		attempt_of(PFSTAT_CLASS_LONG, 0, 200, 210, PFSTAT_RESULT_LOCKED);

	open_explain(true);
	explain_event(explain, &fault.event);
	record.tid = 1;
	record.address = 0x9000;
	explain_record(explain, &record);
	fault = fault_of(PFSTAT_FAULT_SWAP, 5000000, 5000010, PFSTAT_OUTCOME_MINOR);
	explain_event(explain, &fault.event);
	close_explain();
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert(!faults[0].solved);
	ck_assert_uint_eq(faults[0].end_ns, 110);
	ck_assert_uint_eq(faults[2].end_ns - faults[2].start_ns, 10);
}

TEST(test_reclaim_is_a_part_on_the_cpu_and_asleep)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);

	open_explain(true);
	add_reclaim(800, 900); /* before the fault */
	add_stay(1, 1300, 1400, 1450);
	add_reclaim(1100, 1500);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_RECLAIM] = 350, [PART_RUNQUEUE] = 50,
		    [PART_CPU_AFTER] = 500);
	ck_assert_uint_eq(faults[0].reclaim_cpu_ns, 250);
	ck_assert_uint_eq(faults[0].nr_spans, 4);
	close_explain();
}

/* The thread's own read-ahead is complete long before the lock is free. */
TEST(test_a_lock_after_a_read_ahead_is_blocked)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 9000, LOCKED);
	struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_WOKEN, .ns = 8010,
		},
		.off_ns = 1100, .woken_ns = 8000, .state = 2,
	};
	struct pfstat_block ahead = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(ahead), .tid = 1,
			.flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_READAHEAD, .ns = 1200,
		},
		.inode = INODE, .fs_dev = DEV, .pgoff = 2, .bytes = 8 * 4096,
		.file_bytes = 8 * 4096, .insert_ns = 1050, .issue_ns = 1060,
	};

	open_explain(true);
	ck_assert_int_eq(explain_event(explain, &ahead.event), 0);
	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_BLOCKED] = 6900,
		    [PART_RUNQUEUE] = 10, [PART_CPU_AFTER] = 990);
	close_explain();
}

TEST(test_a_sleep_with_a_known_cause_is_blocked)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);
	struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_WOKEN, .ns = 1300,
		},
		.off_ns = 1200, .woken_ns = 1300, .state = 1,
	};

	open_explain(true);
	ck_assert_int_eq(explain_wait(explain, 1, 1200, 8, WAIT_KNOWN), 0);
	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	stay.off_ns = 1400; /* the stack is lost */
	stay.woken_ns = 1550;
	stay.event.ns = 1550;
	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 200, [PART_BLOCKED] = 100, [PART_RESIDUE] = 150,
		    [PART_CPU_AFTER] = 550);
	close_explain();
}

TEST(test_a_read_ahead_in_progress_is_not_what_a_handler_does)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);
	const struct pfstat_block request = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(request),
			   .tid = 1,
			   .flags = PFSTAT_BLOCK_READAHEAD,
			   .ns = 1250 },
		.insert_ns = 1150,
		.issue_ns = 1160,
	};
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_WOKEN, .ns = 1320,
		},
		.off_ns = 1200, .woken_ns = 1300, .state = 1, .waker = 7,
	};

	open_explain(true);
	ck_assert_int_eq(explain_wait(explain, 1, 1200, 8, WAIT_OF_HANDLER), 0);
	ck_assert_int_eq(explain_event(explain, &request.event), 0);
	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 200, [PART_HANDLER] = 100, [PART_RUNQUEUE] = 20,
		    [PART_CPU_AFTER] = 680);
	ck_assert_uint_eq(faults[0].spans[0].waker, 7);
	ck_assert_uint_eq(faults[0].nr_requests, 0);
	close_explain();
}

TEST(test_waits_for_an_idle_cpu_are_apart)
{
	static const uint32_t flags[] = {
		PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_AFTER_IDLE,
		PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_AFTER_TASK,
		PFSTAT_OFF_CPU_WOKEN,
		PFSTAT_OFF_CPU_PREEMPTED | PFSTAT_OFF_CPU_AFTER_IDLE,
		PFSTAT_OFF_CPU_PREEMPTED | PFSTAT_OFF_CPU_AFTER_IDLE | PFSTAT_OFF_CPU_LIMITS |
			PFSTAT_OFF_CPU_THROTTLED,
	};
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1 },
		.state = 2,
	};
	unsigned int i;

	open_explain(true);
	for (i = 0; i < 5; i++) {
		stay.event.flags = flags[i];
		stay.off_ns = 1000 + 190 * i;
		stay.woken_ns = stay.off_ns + 50;
		stay.event.ns = stay.woken_ns + 1 + i;
		ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	}
	add_record(&record);
	ck_assert_uint_eq(faults[0].parts_ns[PART_RUNQUEUE], 1 + 2 + 3 + 54 + 55);
	ck_assert_uint_eq(faults[0].cpu_waits_ns[CPU_WAIT_THROTTLED], 55);
	ck_assert_uint_eq(faults[0].cpu_waits_ns[CPU_WAIT_IDLE], 1);
	ck_assert_uint_eq(faults[0].cpu_waits_ns[CPU_WAIT_TASK], 2);
	ck_assert_uint_eq(faults[0].cpu_waits_ns[CPU_WAIT_PREEMPTED_IDLE], 54);
	ck_assert_uint_eq(faults[0].cpu_waits_ns[CPU_WAIT_UNKNOWN], 3);
	ck_assert_uint_eq(faults[0].cpu_waits[CPU_WAIT_TASK], 1);
	close_explain();
}

TEST(test_a_task_belongs_to_the_wait_for_a_cpu_that_follows_it)
{
	static const struct {
		uint64_t off_ns, ran_ns;
		uint32_t task;
	} tasks[] = {
		{ 1100, 30, 5 },   /* less than the wait of 50 */
		{ 1300, 5000, 6 }, /* from before the wait on */
		{ 1500, 0, 7 },	   /* it is not known how long */
		{ 1234, 50, 8 },   /* of another wait, whose interval is lost */
	};
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);
	struct pfstat_cpu_task task = {
		.event = { .type = PFSTAT_EVENT_CPU_TASK, .size = sizeof(task), .tid = 1 },
	};
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .tid = 1,
			   .flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_AFTER_TASK },
		.state = 2,
	};
	const struct explain_span *span;
	unsigned int i;

	open_explain(true);
	for (i = 0; i < 4; i++) {
		task.off_ns = tasks[i].off_ns;
		task.ran_ns = tasks[i].ran_ns;
		ck_assert_int_eq(explain_cpu_task(explain, &task, tasks[i].task), 0);
		stay.off_ns = 1100 + 200 * i;
		stay.woken_ns = stay.off_ns + 10;
		stay.event.ns = stay.woken_ns + 50;
		ck_assert_int_eq(explain_event(explain, &stay.event), 0);
	}
	add_record(&record);
	ck_assert_uint_eq(faults[0].nr_spans, 8);
	for (i = 0; i < 4; i++) {
		span = &faults[0].spans[2 * i];
		ck_assert_int_eq(span->part, PART_BLOCKED);
		ck_assert_uint_eq(span->task, 0);
		ck_assert_uint_eq(span->task_ran_ns, 0);
		ck_assert_int_eq(span[1].part, PART_RUNQUEUE);
		ck_assert_uint_eq(span[1].task, i < 3 ? tasks[i].task : 0);
	}
	ck_assert_uint_eq(faults[0].spans[1].task_ran_ns, 30);
	ck_assert_uint_eq(faults[0].spans[3].task_ran_ns, 50);
	ck_assert_uint_eq(faults[0].spans[5].task_ran_ns, 0);
	ck_assert_uint_eq(faults[0].spans[7].task_ran_ns, 0);
	close_explain();
}

TEST(test_a_stack_belongs_to_the_sleep_that_follows_it)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);

	open_explain(true);
	ck_assert_int_eq(explain_wait(explain, 1, 1100, 7, WAIT_UNKNOWN),
			 0); /* the interval is lost */
	ck_assert_int_eq(explain_wait(explain, 2, 1150, 9, WAIT_UNKNOWN), 0);
	ck_assert_int_eq(explain_wait(explain, 1, 1200, 8, WAIT_UNKNOWN), 0);
	add_stay(1, 1200, 1300, 1300);
	add_stay(1, 1400, 1500, 1510); /* the stack is lost */
	add_record(&record);
	ck_assert_uint_eq(faults[0].nr_spans, 3);
	ck_assert_uint_eq(faults[0].spans[0].wait, 8);
	ck_assert_uint_eq(faults[0].spans[1].wait, 0);
	close_explain();
}

/* The thread writes pages out and waits for them: its own requests do not make it a device wait. */
TEST(test_a_wait_for_writeback_in_reclaim_is_reclaim)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 2000, LOCKED);

	open_explain(true);
	add_request(1, 900, 1, 1150, 1200, 1600);
	add_stay(1, 1300, 1700, 1700);
	add_reclaim(1400, 1500);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 300, [PART_DEVICE] = 200, [PART_RECLAIM] = 100,
		    [PART_COMPLETION] = 100, [PART_CPU_AFTER] = 300);
	close_explain();
}

TEST(test_reclaims_beyond_the_limit_are_residue)
{
	const struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 1, 1000, 101000, LOCKED);
	uint64_t i;

	open_explain(true);
	for (i = 0; i < 300; i++)
		add_reclaim(2000 + 100 * i, 2010 + 100 * i);
	add_record(&record);
	/* The first 128 reclaims are dropped. Until 14710 the gaps between them are unknown. */
	CHECK_PARTS(&faults[0], [PART_RESIDUE] = 13710, [PART_RECLAIM] = 1720,
		    [PART_CPU_AFTER] = 100000 - 13710 - 1720);
	close_explain();
}

/* It sleeps for a request for the page, and then for the requests that it submits after that. */
TEST(test_each_request_that_a_fault_slept_for_is_noted_once)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 3, 1000, 50000, LOCKED);
	unsigned int i;

	open_explain(true);
	add_request(1, 3, 1, 1100, 1200, 5000);
	add_stay(1, 1150, 3000, 3100); /* woken in between */
	add_stay(1, 3150, 5000, 5100);
	for (i = 0; i < EXPLAIN_MAX_REQUESTS; i++)
		add_request(1, 100 + i, 1, 6000, 6100 + i, 20000 + i);
	add_stay(1, 6500, 30000, 30100);
	add_record(&record);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].nr_requests, EXPLAIN_MAX_REQUESTS);
	ck_assert_uint_eq(faults[0].requests[0].event.ns, 5000);
	for (i = 1; i < EXPLAIN_MAX_REQUESTS; i++)
		ck_assert_uint_eq(faults[0].requests[i].event.ns, 20000 + i - 1);
	ck_assert(faults[0].more_requests);
}

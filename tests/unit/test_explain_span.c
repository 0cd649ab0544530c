// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole handle_mm_fault() around the calls: the time in it is part of the fault, the time on
 * the CPU is PART_MM, and sleeps and reclaims are explained like those within the calls.
 */
#include "sample_explain.h"

/* A call from `start_ns` to `end_ns` in a handle_mm_fault() from `from_ns` to `to_ns`. */
static struct pfstat_record call_of(enum pfstat_class class, uint64_t from_ns, uint64_t start_ns,
				    uint64_t end_ns, uint64_t to_ns, uint32_t result)
{
	struct pfstat_record record = attempt_of(class, 5, start_ns, end_ns, result);

	record.fault_ns = to_ns - from_ns;
	record.before_ns = start_ns - from_ns;
	return record;
}

static uint64_t address_of(uint64_t page)
{
	return attempt_of(PFSTAT_CLASS_LONG, page, 0, 0, 0).address;
}

static void add_return(enum pfstat_fault_kind kind, uint64_t start_ns, uint64_t end_ns,
		       uint32_t flags, enum pfstat_fault_outcome outcome)
{
	struct pfstat_fault fault = fault_of(kind, start_ns, end_ns, outcome);

	fault.address = address_of(5) + 8;
	fault.fault_flags = flags;
	ck_assert_int_eq(explain_event(explain, &fault.event), 0);
}

static void open_with_spans(void)
{
	open_explain(true);
	explain_expect_spans(explain);
}

static void check_time(const struct explained *fault, uint64_t start_ns, uint64_t end_ns,
		       uint64_t handler_ns)
{
	ck_assert_uint_eq(fault->start_ns, start_ns);
	ck_assert_uint_eq(fault->end_ns, end_ns);
	ck_assert_uint_eq(fault->handler_ns, handler_ns);
}

TEST(test_the_private_copy_after_the_call_is_mm)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_LONG, 1000, 1010, 1030, 1130, LOCKED);

	open_with_spans();
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].whole && faults[0].solved);
	check_time(&faults[0], 1000, 1130, 20);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 20, [PART_MM] = 110);
	ck_assert_uint_eq(faults[0].nr_call_spans, 1);
	ck_assert_uint_eq(faults[0].call_spans[0].from_ns, 1010);
	close_explain();
}

/* balance_dirty_pages() */
TEST(test_a_sleep_after_the_call_is_explained)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_MKWRITE, 1000, 1010, 1030, 2000, LOCKED);

	open_with_spans();
	add_stay(1, 1100, 1890, 1900);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 20, [PART_FOREIGN] = 790, [PART_RUNQUEUE] = 10,
		    [PART_MM] = 180);
	close_explain();
}

TEST(test_a_reclaim_before_the_call_is_explained)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_LONG, 1000, 1500, 1530, 1550, LOCKED);

	open_with_spans();
	add_reclaim(1100, 1400);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_RECLAIM] = 300, [PART_CPU_AFTER] = 30, [PART_MM] = 220);
	ck_assert_uint_eq(faults[0].reclaim_cpu_ns, 300);
	close_explain();
}

TEST(test_a_sleep_before_the_first_of_two_calls_is_explained)
{
	struct pfstat_record pass = attempt_of(PFSTAT_CLASS_PASS, 5, 1500, 1510, 0);
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_LONG, 1000, 1520, 1550, 1560, LOCKED);

	pass.op = PFSTAT_OP_MAP_PAGES;
	open_with_spans();
	add_stay(1, 1100, 1290, 1300);
	add_record(&pass);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	check_time(&faults[0], 1000, 1560, 40);
	CHECK_PARTS(&faults[0], [PART_FOREIGN] = 190, [PART_RUNQUEUE] = 10, [PART_CPU_AFTER] = 40,
		    [PART_MM] = 320);
	close_explain();
}

TEST(test_a_wait_between_two_spans_belongs_to_the_fault)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_DISK, 1000, 1010, 1110, 1120, RETRY);

	open_with_spans();
	add_record(&record);
	add_stay(1, 1150, 1290, 1300);
	record = call_of(PFSTAT_CLASS_SHORT, 1310, 1320, 1330, 1340, LOCKED);
	record.earlier_ns = 1010;
	record.flags = PFSTAT_FLAG_TRIED;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].major && faults[0].whole);
	check_time(&faults[0], 1000, 1340, 110);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_FOREIGN] = 140, [PART_RUNQUEUE] = 10,
		    [PART_CPU_AFTER] = 10, [PART_MM] = 80);
	close_explain();
}

/* The per-VMA lock did not suffice. */
TEST(test_a_retry_without_a_call_is_part_of_the_fault)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_LONG, 1200, 1210, 1230, 1240, LOCKED);

	open_with_spans();
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1100, PFSTAT_FLAG_VMA_LOCK | PFSTAT_FLAG_USER,
		   PFSTAT_OUTCOME_RETRY);
	ck_assert_uint_eq(nr_faults, 0);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_LONG);
	ck_assert_uint_eq(faults[0].attempts, 2);
	ck_assert_uint_eq(faults[0].inode, INODE);
	ck_assert(faults[0].whole && faults[0].flags & PFSTAT_FLAG_USER);
	check_time(&faults[0], 1000, 1240, 20);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 20, [PART_MM] = 220);
	close_explain();
}

/* map_pages found nothing, and ->fault needs the mmap lock. */
TEST(test_a_retry_after_a_pass_is_part_of_the_fault)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_PASS, 1000, 1010, 1020, 1030, 0);

	record.op = PFSTAT_OP_MAP_PAGES;
	open_with_spans();
	add_record(&record);
	record = call_of(PFSTAT_CLASS_LONG, 1040, 1050, 1070, 1080, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].whole);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_LONG);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 30, [PART_MM] = 50);
	close_explain();
}

TEST(test_a_retried_call_and_a_page_that_another_thread_mapped_are_one_fault)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_DISK, 1000, 1010, 1110, 1120, RETRY);

	open_with_spans();
	add_record(&record);
	add_return(PFSTAT_FAULT_OTHER, 1200, 1220, PFSTAT_FLAG_TRIED, PFSTAT_OUTCOME_MAJOR);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].solved && faults[0].major && faults[0].whole);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_DISK);
	ck_assert_uint_eq(faults[0].attempts, 2);
	check_time(&faults[0], 1000, 1220, 100);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100, [PART_MM] = 120);
	close_explain();
}

/* A signal ended the first one. */
TEST(test_another_fault_of_the_page_is_not_joined_to_a_retried_call)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_DISK, 1000, 1010, 1110, 1120, RETRY);

	open_with_spans();
	add_record(&record);
	add_return(PFSTAT_FAULT_COW, 1200, 1220, 0, PFSTAT_OUTCOME_MINOR);
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert(!faults[0].solved && faults[1].solved);
	ck_assert_uint_eq(faults[1].class, FAULT_COW);
	CHECK_PARTS(&faults[1], [PART_CPU_BEFORE] = 20);
	close_explain();
}

/* The module has calls, and eBPF has the handle_mm_fault() returns. */
TEST(test_an_event_has_the_span_of_the_calls_within_it)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_PASS, 5, 1010, 1020, 0);

	record.op = PFSTAT_OP_MAP_PAGES;
	open_with_spans();
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_DISK, 5, 1030, 1130, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 0);
	add_stay(1, 1150, 1190, 1200);
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1250, 0, PFSTAT_OUTCOME_MINOR);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].whole && faults[0].solved);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_DISK);
	ck_assert_uint_eq(faults[0].attempts, 2);
	check_time(&faults[0], 1000, 1250, 110);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 110, [PART_FOREIGN] = 40, [PART_RUNQUEUE] = 10,
		    [PART_MM] = 90);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
}

/* The clock did not advance between the end of the call and the return. */
TEST(test_an_event_precedes_the_call_that_ends_at_the_same_time)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1010, 1130, RETRY);

	open_with_spans();
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1130, PFSTAT_FLAG_USER, PFSTAT_OUTCOME_RETRY);
	add_record(&record);
	record = attempt_of(PFSTAT_CLASS_SHORT, 5, 1210, 1230, LOCKED);
	record.earlier_ns = 1010;
	add_return(PFSTAT_FAULT_HOOKED, 1200, 1230, PFSTAT_FLAG_TRIED, PFSTAT_OUTCOME_MAJOR);
	ck_assert_uint_eq(nr_faults, 0);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].whole && faults[0].solved);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_DISK);
	ck_assert_uint_eq(faults[0].attempts, 2);
	check_time(&faults[0], 1000, 1230, 140);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 140, [PART_MM] = 90);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
}

TEST(test_a_retry_whose_span_is_an_event_stays_open)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1010, 1110, RETRY);

	open_with_spans();
	add_record(&record);
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1120, 0, PFSTAT_OUTCOME_RETRY);
	record = attempt_of(PFSTAT_CLASS_SHORT, 5, 1220, 1230, LOCKED);
	record.earlier_ns = 1010;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 0);
	add_return(PFSTAT_FAULT_HOOKED, 1210, 1240, PFSTAT_FLAG_TRIED, PFSTAT_OUTCOME_MAJOR);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(faults[0].whole);
	check_time(&faults[0], 1000, 1240, 110);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 110, [PART_MM] = 130);
	close_explain();
}

/* The thread is not watched, only the mapping. */
TEST(test_a_fault_without_a_span_waits_for_the_next_fault)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1100, LOCKED);

	open_with_spans();
	add_stay(1, 1010, 1040, 1050);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 0);
	record = attempt_of(PFSTAT_CLASS_LONG, 6, 2000, 2010, LOCKED);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(!faults[0].whole && faults[0].solved);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 10, [PART_FOREIGN] = 30, [PART_RUNQUEUE] = 10,
		    [PART_CPU_AFTER] = 50);
	add_return(PFSTAT_FAULT_ANON, 3000, 3010, 0, PFSTAT_OUTCOME_MINOR);
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert(!faults[1].whole && faults[1].solved && faults[2].whole);
	add_record(&record);
	close_explain();
	ck_assert_uint_eq(nr_faults, 4);
	ck_assert(!faults[3].whole && faults[3].solved);
}

TEST(test_a_fault_with_one_attempt_of_unknown_span_is_not_whole)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_DISK, 5, 1000, 1100, RETRY);

	open_with_spans();
	add_record(&record);
	record = call_of(PFSTAT_CLASS_SHORT, 1200, 1210, 1220, 1230, LOCKED);
	record.earlier_ns = 1000;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(!faults[0].whole);
	check_time(&faults[0], 1000, 1230, 110);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 230);
	close_explain();
}

/* From version 8: a HOOKED event repeats the contents of the records. */
TEST(test_an_old_recording_has_the_time_of_the_calls)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 5, 1010, 1030, LOCKED);

	open_explain(true);
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1130, 0, PFSTAT_OUTCOME_MINOR);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert(!faults[0].whole);
	check_time(&faults[0], 1010, 1030, 20);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 20);
}

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

static uint64_t corrected_ns[NR_PARTS];

static void add_correction(void *context, enum fault_class class, enum part part, uint64_t ns)
{
	(void)context;
	ck_assert_uint_eq(class, PFSTAT_CLASS_LONG);
	corrected_ns[part] += ns;
}

/* A sleep of 300 after the call was lost. The thread's next event reveals the loss. */
TEST(test_a_lost_sleep_outside_of_the_call_is_not_mm)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_LONG, 1000, 1100, 1150, 1500, LOCKED);

	memset(corrected_ns, 0, sizeof(corrected_ns));
	open_with_spans();
	explain_listen_corrections(explain, add_correction, NULL);
	add_sleep_of_total(500, 600, 100);
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 50, [PART_MM] = 450);
	add_sleep_of_total(3000, 3100, 500);
	record = call_of(PFSTAT_CLASS_LONG, 2900, 2990, 3110, 3120, LOCKED);
	add_record(&record);
	CHECK_PARTS(&faults[1], [PART_RESIDUE] = 100, [PART_FOREIGN] = 100, [PART_CPU_AFTER] = 10,
		    [PART_MM] = 10);
	ck_assert_uint_eq(corrected_ns[PART_CPU_BEFORE] + corrected_ns[PART_MM], 200);
	ck_assert_uint_le(corrected_ns[PART_CPU_BEFORE], 50);
	close_explain();
}

TEST(test_a_lost_sleep_in_an_open_fault_is_residue_outside_of_the_call)
{
	const struct pfstat_record record =
		call_of(PFSTAT_CLASS_LONG, 1000, 1100, 1150, 2000, LOCKED);

	open_with_spans();
	add_sleep_of_total(500, 600, 100);
	add_sleep_of_total(1800, 1900, 500); /* 300 were lost before it */
	add_record(&record);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 50, [PART_RESIDUE] = 300, [PART_FOREIGN] = 100,
		    [PART_MM] = 550);
	close_explain();
}

/* do_shared_fault() */
TEST(test_page_mkwrite_after_its_fault_is_in_one_span)
{
	struct pfstat_record record = attempt_of(PFSTAT_CLASS_LONG, 5, 1010, 1030, LOCKED);

	record.flags = PFSTAT_FLAG_WRITE | PFSTAT_FLAG_USER;
	record.facts = PFSTAT_FACT_SHARED;
	open_with_spans();
	add_record(&record);
	record = call_of(PFSTAT_CLASS_MKWRITE, 1000, 1040, 1090, 1200, LOCKED);
	record.op = PFSTAT_OP_PAGE_MKWRITE;
	record.flags = PFSTAT_FLAG_WRITE;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].class, PFSTAT_CLASS_LONG);
	ck_assert(faults[0].flags & PFSTAT_FLAG_USER);
	check_time(&faults[0], 1000, 1200, 70);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 70, [PART_MM] = 130);
	close_explain();
	ck_assert_uint_eq(nr_faults, 1);
}

/*
 * The file system has no page_mkwrite for the first write. The later one belongs to do_wp_page().
 */
TEST(test_page_mkwrite_in_another_handle_mm_fault_is_a_fault_of_its_own)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_LONG, 1000, 1010, 1030, 1040, LOCKED);

	record.flags = PFSTAT_FLAG_WRITE;
	record.facts = PFSTAT_FACT_SHARED;
	open_with_spans();
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 1);
	record = call_of(PFSTAT_CLASS_MKWRITE, 2000, 2010, 2030, 2040, LOCKED);
	record.op = PFSTAT_OP_PAGE_MKWRITE;
	add_record(&record);
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert_uint_eq(faults[1].class, PFSTAT_CLASS_MKWRITE);
	close_explain();
}

TEST(test_page_mkwrite_has_the_mode_of_its_fault_if_it_is_known)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_MKWRITE, 1000, 1010, 1030, 1040, LOCKED);

	record.op = PFSTAT_OP_PAGE_MKWRITE;
	record.flags = PFSTAT_FLAG_WRITE;
	open_with_spans();
	add_record(&record); /* the kernel writes */
	record.fault_ns = 0;
	add_record(&record);
	add_return(PFSTAT_FAULT_HOOKED, 1000, 1040, PFSTAT_FLAG_TRIED, PFSTAT_OUTCOME_MAJOR);
	add_record(&record);
	close_explain();
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert(!(faults[0].flags & PFSTAT_FLAG_USER));
	ck_assert(!(faults[1].flags & PFSTAT_FLAG_USER));
	ck_assert(faults[1].flags & PFSTAT_FLAG_WRITE);
	ck_assert(faults[2].flags & PFSTAT_FLAG_USER); /* not known */
}

TEST(test_the_time_of_a_fault_without_a_call_is_not_mm)
{
	open_with_spans();
	add_return(PFSTAT_FAULT_ANON, 1000, 1100, 0, PFSTAT_OUTCOME_MINOR);
	add_return(PFSTAT_FAULT_HOOKED, 2000, 2100, 0, PFSTAT_OUTCOME_ERROR);
	close_explain();
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert(faults[0].whole && faults[1].whole && !faults[1].solved);
	check_time(&faults[0], 1000, 1100, 100);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 100);
	ck_assert_uint_eq(faults[1].class, FAULT_OTHER);
	CHECK_PARTS(&faults[1], [PART_CPU_BEFORE] = 100);
}

TEST(test_an_impossible_span_is_not_believed)
{
	struct pfstat_record record = call_of(PFSTAT_CLASS_LONG, 1000, 1010, 1030, 1040, LOCKED);

	open_with_spans();
	record.before_ns = 2000; /* before the machine started */
	add_record(&record);
	record.before_ns = 10;
	record.fault_ns = UINT64_MAX;
	add_record(&record);
	record.fault_ns = 1; /* the call is longer */
	add_record(&record);
	close_explain();
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert(!faults[0].whole && !faults[1].whole);
	check_time(&faults[0], 1010, 1030, 20);
	check_time(&faults[1], 1010, 1030, 20);
	check_time(&faults[2], 1000, 1030, 20);
}

/* More calls than a fault keeps until a sleep. None is forgotten. */
TEST(test_many_calls_in_one_fault_are_not_mm)
{
	struct pfstat_record record;
	uint64_t i;

	open_with_spans();
	for (i = 0; i < 100; i++) {
		record = call_of(PFSTAT_CLASS_WAIT, 1000 + 100 * i, 1010 + 100 * i, 1040 + 100 * i,
				 1090 + 100 * i, i == 99 ? LOCKED : RETRY);
		record.earlier_ns = i;
		add_record(&record);
	}
	ck_assert_uint_eq(nr_faults, 1);
	CHECK_PARTS(&faults[0], [PART_CPU_BEFORE] = 3000, [PART_MM] = 10000 - 10 - 3000);
	close_explain();
}

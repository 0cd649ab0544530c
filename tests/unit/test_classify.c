// SPDX-License-Identifier: GPL-2.0-only
/* Call classification, compiled for the host. */
#include <stdbool.h>

#include "common/classify.h"
#include "runner.h"

#define NONE	 PFSTAT_NR_CLASSES
#define LOCKED	 PFSTAT_RESULT_LOCKED
#define NOPAGE	 PFSTAT_RESULT_NOPAGE
#define RETRY	 PFSTAT_RESULT_RETRY
#define MAJOR	 PFSTAT_RESULT_MAJOR
#define FALLBACK PFSTAT_RESULT_FALLBACK

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const __u8 causes[] = { PFSTAT_CLASS_DISK, PFSTAT_CLASS_WAIT, PFSTAT_CLASS_READAHEAD };
static const __u8 fault_ops[] = { PFSTAT_OP_FAULT, PFSTAT_OP_HUGE_FAULT };

static enum pfstat_class classify(enum pfstat_op op, enum pfstat_before before, __u8 cause,
				  bool slept, __u32 result)
{
	const struct pfstat_facts facts = {
		.op = op,
		.before = before,
		.cause = cause,
		.slept = slept,
		.result = result,
	};

	return pfstat_classify(&facts);
}

TEST(test_errors_take_precedence_over_other_results)
{
	static const __u32 errors[] = {
		PFSTAT_RESULT_OOM,	PFSTAT_RESULT_SIGBUS,	      PFSTAT_RESULT_SIGSEGV,
		PFSTAT_RESULT_HWPOISON, PFSTAT_RESULT_HWPOISON_LARGE,
	};
	unsigned int op;
	size_t i;

	for (op = 0; op < PFSTAT_NR_OPS; op++)
		for (i = 0; i < COUNT(errors); i++)
			ck_assert_int_eq(classify(op, PFSTAT_BEFORE_ABSENT, PFSTAT_CLASS_DISK, true,
						  errors[i] | MAJOR | RETRY),
					 PFSTAT_CLASS_ERROR);
}

TEST(test_mkwrite_operations_have_their_own_class)
{
	ck_assert_int_eq(classify(PFSTAT_OP_PAGE_MKWRITE, 0, NONE, false, LOCKED),
			 PFSTAT_CLASS_MKWRITE);
	ck_assert_int_eq(classify(PFSTAT_OP_PFN_MKWRITE, 0, NONE, false, 0), PFSTAT_CLASS_MKWRITE);
	ck_assert_int_eq(classify(PFSTAT_OP_PAGE_MKWRITE, 0, PFSTAT_CLASS_DISK, true, NOPAGE),
			 PFSTAT_CLASS_MKWRITE);
}

TEST(test_huge_fault_that_falls_back_passes)
{
	ck_assert_int_eq(classify(PFSTAT_OP_HUGE_FAULT, PFSTAT_BEFORE_ABSENT, NONE, false,
				  FALLBACK),
			 PFSTAT_CLASS_PASS);
	ck_assert_int_eq(classify(PFSTAT_OP_HUGE_FAULT, PFSTAT_BEFORE_CACHED, PFSTAT_CLASS_DISK,
				  true, FALLBACK),
			 PFSTAT_CLASS_PASS);
}

TEST(test_map_pages_that_maps_is_around)
{
	ck_assert_int_eq(classify(PFSTAT_OP_MAP_PAGES, 0, NONE, false, NOPAGE),
			 PFSTAT_CLASS_AROUND);
}

TEST(test_map_pages_that_maps_after_a_cause_is_short)
{
	size_t i;

	for (i = 0; i < COUNT(causes); i++)
		ck_assert_int_eq(classify(PFSTAT_OP_MAP_PAGES, 0, causes[i], false, NOPAGE),
				 PFSTAT_CLASS_SHORT);
}

TEST(test_map_pages_that_maps_nothing_passes)
{
	ck_assert_int_eq(classify(PFSTAT_OP_MAP_PAGES, 0, NONE, false, 0), PFSTAT_CLASS_PASS);
	/* Also in a retry: the page was evicted again. */
	ck_assert_int_eq(classify(PFSTAT_OP_MAP_PAGES, 0, PFSTAT_CLASS_DISK, false, 0),
			 PFSTAT_CLASS_PASS);
}

TEST(test_major_faults_are_disk_whatever_the_look_up_found)
{
	unsigned int before;
	size_t i;

	/* The result decides, because the page may have been evicted after the look-up. */
	for (i = 0; i < COUNT(fault_ops); i++)
		for (before = 0; before < PFSTAT_NR_BEFORE; before++) {
			ck_assert_int_eq(classify(fault_ops[i], before, NONE, true, MAJOR | RETRY),
					 PFSTAT_CLASS_DISK);
			ck_assert_int_eq(classify(fault_ops[i], before, PFSTAT_CLASS_WAIT, false,
						  MAJOR | LOCKED),
					 PFSTAT_CLASS_DISK);
		}
}

TEST(test_retry_at_the_mark_is_readahead)
{
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_MARKED, NONE, false, RETRY),
			 PFSTAT_CLASS_READAHEAD);
	/* Submitting a request may sleep. */
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_MARKED, NONE, true, RETRY),
			 PFSTAT_CLASS_READAHEAD);
}

TEST(test_retry_for_a_page_absent_or_in_flight_is_wait)
{
	static const enum pfstat_before states[] = {
		PFSTAT_BEFORE_ABSENT,
		PFSTAT_BEFORE_IN_FLIGHT,
	};
	size_t i;

	/* If the read completes after the look-up, the thread does not sleep. */
	for (i = 0; i < COUNT(states); i++) {
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, states[i], NONE, true, RETRY),
				 PFSTAT_CLASS_WAIT);
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, states[i], NONE, false, RETRY),
				 PFSTAT_CLASS_WAIT);
	}
}

TEST(test_retry_for_an_up_to_date_page_is_lock)
{
	size_t i;

	/* The lock may be released between the attempt to take it and the sleep. */
	for (i = 0; i < COUNT(causes); i++) {
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_CACHED, causes[i], true,
					  RETRY),
				 PFSTAT_CLASS_LOCK);
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_CACHED, NONE, i, RETRY),
				 PFSTAT_CLASS_LOCK);
	}
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_RECLAIM, NONE, true, RETRY),
			 PFSTAT_CLASS_LOCK);
}

TEST(test_retry_without_evidence_is_not_a_disk_fault)
{
	for (size_t i = 0; i < COUNT(causes); i++) {
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_UNKNOWN, causes[i], true,
					  RETRY),
				 PFSTAT_CLASS_WAIT);
		ck_assert_int_eq(classify(PFSTAT_OP_HUGE_FAULT, PFSTAT_BEFORE_UNKNOWN, causes[i],
					  false, RETRY),
				 PFSTAT_CLASS_PASS);
	}
}

TEST(test_retry_for_the_flag_of_reclaim_without_sleep_is_pass)
{
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_RECLAIM, NONE, false, RETRY),
			 PFSTAT_CLASS_PASS);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_RECLAIM, NONE, false, LOCKED),
			 PFSTAT_CLASS_LONG);
}

TEST(test_second_read_of_a_page_whose_first_read_failed_is_disk)
{
	/* MAJOR is not set, and the thread does not sleep if the device answers at once. */
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_STALE, NONE, true, RETRY),
			 PFSTAT_CLASS_DISK);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_STALE, NONE, false, RETRY),
			 PFSTAT_CLASS_DISK);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_STALE, PFSTAT_CLASS_WAIT, true,
				  LOCKED),
			 PFSTAT_CLASS_DISK);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_STALE, NONE, true,
				  PFSTAT_RESULT_SIGBUS),
			 PFSTAT_CLASS_ERROR);
}

TEST(test_fault_that_mapped_no_page_of_the_cache_is_raced)
{
	size_t i;

	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_ABSENT, NONE, false, NOPAGE),
			 PFSTAT_CLASS_RACED);
	/* It is not short either, because it maps nothing. */
	for (i = 0; i < COUNT(causes); i++)
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_CACHED, causes[i], false,
					  NOPAGE),
				 PFSTAT_CLASS_RACED);
	/* DAX has no page cache and maps the page itself. */
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_UNKNOWN, NONE, false, NOPAGE),
			 PFSTAT_CLASS_LONG);
}

/* A wait of 277 us without off-CPU time is possible: the thread had submitted readahead. */
TEST(test_mark_on_a_page_in_flight_without_sleep_is_readahead)
{
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT_MARKED, NONE, false,
				  RETRY),
			 PFSTAT_CLASS_READAHEAD);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT_MARKED, NONE, true,
				  RETRY),
			 PFSTAT_CLASS_WAIT);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT_MARKED, NONE, true,
				  LOCKED),
			 PFSTAT_CLASS_WAIT);
}

TEST(test_page_in_flight_that_was_slept_for_is_wait)
{
	size_t i;

	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT, NONE, true, LOCKED),
			 PFSTAT_CLASS_WAIT);
	/* In flight again, in a retry. */
	for (i = 0; i < COUNT(causes); i++)
		ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT, causes[i], true,
					  LOCKED),
				 PFSTAT_CLASS_WAIT);
}

TEST(test_page_in_flight_without_sleep_is_not_a_wait)
{
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_IN_FLIGHT, NONE, false, LOCKED),
			 PFSTAT_CLASS_LONG);
}

TEST(test_sleep_without_a_page_in_flight_is_not_a_wait)
{
	/* The thread slept for a lock or for memory. */
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_CACHED, NONE, true, LOCKED),
			 PFSTAT_CLASS_LONG);
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_CACHED, PFSTAT_CLASS_DISK, true,
				  LOCKED),
			 PFSTAT_CLASS_SHORT);
}

TEST(test_solved_after_a_cause_is_short)
{
	size_t op, i;

	for (op = 0; op < COUNT(fault_ops); op++)
		for (i = 0; i < COUNT(causes); i++)
			ck_assert_int_eq(classify(fault_ops[op], PFSTAT_BEFORE_CACHED, causes[i],
						  false, LOCKED),
					 PFSTAT_CLASS_SHORT);
}

TEST(test_solved_at_once_is_long)
{
	size_t i;

	for (i = 0; i < COUNT(fault_ops); i++)
		ck_assert_int_eq(classify(fault_ops[i], PFSTAT_BEFORE_CACHED, NONE, false, LOCKED),
				 PFSTAT_CLASS_LONG);
	/* The page carries the readahead mark, but another thread had read ahead already. */
	ck_assert_int_eq(classify(PFSTAT_OP_FAULT, PFSTAT_BEFORE_MARKED, NONE, false, LOCKED),
			 PFSTAT_CLASS_LONG);
}

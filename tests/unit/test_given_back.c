// SPDX-License-Identifier: GPL-2.0-only
/* The price of memory that calls give back: which faults needed as much again. */
#include <stdlib.h>
#include <sys/mman.h>

#include "runner.h"

#include "analyze/analysis.h"

#define PAGE	 4096ULL
#define ADDRESS	 0x7f0000000000ULL
#define HEAP	 0x555500000000ULL
#define FAULT_NS 1000

enum { ONE = 100, OTHER = 200 };	  /* processes */
enum { HERE = 0x10011, THERE = 0x10021 }; /* callers */

static struct analysis *analysis;
static uint64_t now;

static void given_back_begin(void)
{
	analysis = analysis_new(true, PAGE, 0);
	now = 1000000;
}

static void add(const struct pfstat_event *event)
{
	const struct item item = { .type = ITEM_EVENT, .event = event, .ns = event->ns };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static uint32_t fault_flags; /* of the next touch_as() */

static void touch_as(uint32_t pid, enum pfstat_fault_kind kind, uint64_t address,
		     unsigned int order)
{
	struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .flags = kind,
			   .pid = pid,
			   .tid = pid },
		.address = address,
		.outcome = PFSTAT_OUTCOME_MINOR,
		.origin = PFSTAT_ORIGIN_USER,
		.page = PFSTAT_PAGE(0, order),
		.fault_flags = fault_flags,
	};

	now += 10 * FAULT_NS;
	fault.event.ns = now;
	fault.start_ns = now - FAULT_NS;
	add(&fault.event);
}

static void touch(uint64_t start, uint64_t pages)
{
	uint64_t i;

	for (i = 0; i < pages; i++)
		touch_as(ONE, PFSTAT_FAULT_ANON, start + i * PAGE + 8, 0);
}

static void call_from(uint32_t pid, uint64_t caller, enum pfstat_call_kind kind, int64_t result,
		      uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
	struct pfstat_call call = {
		.event = { .type = PFSTAT_EVENT_CALL,
			   .size = sizeof(call),
			   .pid = pid,
			   .tid = pid },
		.args = { first, second, third, fourth },
		.result = result,
		.caller = caller,
		.kind = kind,
	};

	now += FAULT_NS;
	call.event.ns = now;
	call.start_ns = now - 10;
	add(&call.event);
}

static void unmap(uint64_t caller, uint64_t start, uint64_t pages)
{
	call_from(ONE, caller, PFSTAT_CALL_MUNMAP, 0, start, pages * PAGE, 0, 0);
}

static const struct shaping_call *row(size_t number)
{
	const struct shaping_calls *calls = analysis_calls(analysis);

	ck_assert_uint_gt(calls->nr, number);
	return &calls->rows[number];
}

static void check_row(size_t number, uint64_t given, uint64_t again, uint64_t faults)
{
	ck_assert_uint_eq(row(number)->given_pages, given);
	ck_assert_uint_eq(row(number)->again_pages, again);
	ck_assert_uint_eq(row(number)->again_faults, faults);
	ck_assert_uint_eq(row(number)->again_ns, faults * FAULT_NS);
}

static void given_back_end(void)
{
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

TEST(test_faults_after_munmap_are_its_price)
{
	given_back_begin();
	touch(ADDRESS, 10);
	unmap(HERE, ADDRESS, 10);
	touch(ADDRESS, 4);
	unmap(HERE, ADDRESS, 10);
	touch(ADDRESS + 100 * PAGE, 3); /* at any address */
	given_back_end();
	check_row(0, 14, 7, 7);
	analysis_free(analysis);
}

TEST(test_memory_that_is_not_needed_again_has_no_price)
{
	given_back_begin();
	touch(ADDRESS, 10);
	unmap(HERE, ADDRESS, 10);
	touch_as(OTHER, PFSTAT_FAULT_ANON, ADDRESS, 0); /* another process */
	touch_as(ONE, PFSTAT_FAULT_COW, ADDRESS, 0);	/* no new page */
	given_back_end();
	check_row(0, 10, 0, 0);
	analysis_free(analysis);
}

TEST(test_memory_of_another_process_is_not_given_back)
{
	given_back_begin();
	fault_flags = PFSTAT_FLAG_REMOTE;
	touch(ADDRESS, 10);
	fault_flags = 0;
	touch(ADDRESS, 3);
	unmap(HERE, ADDRESS, 10);
	fault_flags = PFSTAT_FLAG_REMOTE;
	touch(ADDRESS, 10); /* process_vm_writev() needs new pages of the other process */
	fault_flags = 0;
	given_back_end();
	check_row(0, 3, 0, 0);
	analysis_free(analysis);
}

TEST(test_only_touched_pages_are_given_back)
{
	given_back_begin();
	touch(ADDRESS, 2);
	unmap(HERE, ADDRESS - 1000 * PAGE, 2000);
	unmap(HERE, ADDRESS, 2); /* again */
	touch(ADDRESS, 10);
	given_back_end();
	check_row(0, 2, 2, 2);
	analysis_free(analysis);
}

TEST(test_a_call_that_failed_gives_nothing_back)
{
	given_back_begin();
	touch(ADDRESS, 2);
	call_from(ONE, HERE, PFSTAT_CALL_MUNMAP, -22, ADDRESS, 2 * PAGE, 0, 0);
	touch(ADDRESS + 2 * PAGE, 2);
	given_back_end();
	check_row(0, 0, 0, 0);
	analysis_free(analysis);
}

TEST(test_advice_and_fixed_mappings_give_back_too)
{
	given_back_begin();
	touch(ADDRESS, 10);
	call_from(ONE, HERE, PFSTAT_CALL_MADVISE, 0, ADDRESS, 2 * PAGE, MADV_DONTNEED, 0);
	call_from(ONE, HERE, PFSTAT_CALL_MADVISE, 0, ADDRESS, 5 * PAGE, MADV_FREE, 0);
	call_from(ONE, HERE, PFSTAT_CALL_MMAP, ADDRESS + 5 * PAGE, 0, 3 * PAGE, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
	call_from(ONE, HERE, PFSTAT_CALL_MMAP, ADDRESS, 0, 9 * PAGE, PROT_READ,
		  MAP_PRIVATE | MAP_ANONYMOUS);
	touch(ADDRESS, 4);
	given_back_end();
	/* The latest call's memory is used first. */
	check_row(0, 2, 1, 1);
	check_row(1, 0, 0, 0); /* the kernel may have kept these pages */
	check_row(2, 3, 3, 3);
	check_row(3, 0, 0, 0);
	analysis_free(analysis);
}

TEST(test_a_heap_that_shrinks_gives_back)
{
	given_back_begin();
	call_from(ONE, HERE, PFSTAT_CALL_BRK, HEAP + 8 * PAGE, HEAP + 8 * PAGE, 0, 0, 0);
	touch(HEAP, 8);
	call_from(ONE, HERE, PFSTAT_CALL_BRK, HEAP + 2 * PAGE, HEAP + 2 * PAGE, 0, 0, 0);
	call_from(ONE, HERE, PFSTAT_CALL_BRK, HEAP + 8 * PAGE, HEAP + 8 * PAGE, 0, 0, 0);
	touch(HEAP + 2 * PAGE, 6);
	given_back_end();
	check_row(0, 6, 6, 6);
	analysis_free(analysis);
}

TEST(test_pages_that_move_stay_touched)
{
	given_back_begin();
	touch(ADDRESS, 4);
	call_from(ONE, HERE, PFSTAT_CALL_MREMAP, ADDRESS + (1 << 20), ADDRESS, 4 * PAGE, 8 * PAGE,
		  MREMAP_MAYMOVE);
	touch(ADDRESS + (1 << 20) + 4 * PAGE, 4);
	call_from(ONE, HERE, PFSTAT_CALL_MREMAP, ADDRESS + (1 << 20), ADDRESS + (1 << 20), 8 * PAGE,
		  5 * PAGE, 0);
	unmap(THERE, ADDRESS + (1 << 20), 5);
	touch(ADDRESS, 6);
	given_back_end();
	check_row(0, 0, 0, 0);
	check_row(1, 3, 1, 1);
	check_row(2, 5, 5, 5);
	analysis_free(analysis);
}

TEST(test_pages_that_are_moved_away_are_needed_again_at_their_place)
{
	const uint64_t place = ADDRESS + (1 << 20);

	given_back_begin();
	touch(ADDRESS, 4);
	call_from(ONE, HERE, PFSTAT_CALL_MREMAP, place, ADDRESS, 4 * PAGE, 4 * PAGE,
		  MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	touch(ADDRESS + 8 * PAGE, 4); /* the pages are in use at their new place */
	touch(ADDRESS + PAGE, 3);
	touch(ADDRESS + PAGE, 1); /* not moved since */
	unmap(THERE, place, 4);
	call_from(ONE, HERE, PFSTAT_CALL_MREMAP, place, ADDRESS, 4 * PAGE, 4 * PAGE,
		  MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	unmap(THERE, ADDRESS, 4);
	touch(ADDRESS, 4);
	given_back_end();
	check_row(0, 7, 3, 3);
	check_row(1, 0, 0, 0);
	analysis_free(analysis);
}

TEST(test_pages_at_the_place_of_a_move_are_given_back)
{
	given_back_begin();
	touch(ADDRESS, 4);
	touch(ADDRESS + 8 * PAGE, 3);
	call_from(ONE, HERE, PFSTAT_CALL_MREMAP, ADDRESS + 8 * PAGE, ADDRESS, 4 * PAGE, 4 * PAGE,
		  MREMAP_MAYMOVE | MREMAP_FIXED);
	touch(ADDRESS, 2);
	unmap(THERE, ADDRESS + 8 * PAGE, 4);
	given_back_end();
	check_row(0, 3, 2, 2);
	check_row(1, 4, 0, 0);
	analysis_free(analysis);
}

TEST(test_a_huge_page_is_given_back_as_its_pages)
{
	given_back_begin();
	touch_as(ONE, PFSTAT_FAULT_ANON, ADDRESS + 5 * PAGE, 9);
	unmap(HERE, ADDRESS, 512);
	touch(ADDRESS, 12);
	touch_as(ONE, PFSTAT_FAULT_ANON, ADDRESS + 1024 * PAGE, 9); /* more than is left */
	given_back_end();
	check_row(0, 512, 512, 13);
	analysis_free(analysis);
}

TEST(test_a_process_that_ends_owes_nothing)
{
	struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .flags = PFSTAT_TASK_EXEC,
			   .pid = ONE,
			   .tid = ONE },
		.parent = ONE,
	};

	given_back_begin();
	touch(ADDRESS, 4);
	unmap(HERE, ADDRESS, 2);
	task.event.ns = ++now;
	add(&task.event);
	unmap(THERE, ADDRESS, 4);
	touch(ADDRESS, 4);
	given_back_end();
	check_row(0, 2, 0, 0);
	check_row(1, 0, 0, 0);
	analysis_free(analysis);
}

TEST(test_damaged_ranges_end_soon)
{
	given_back_begin();
	touch(ADDRESS, 1);
	unmap(HERE, 0, 1ULL << 51);
	unmap(HERE, ADDRESS, 1ULL << 52);
	touch(ADDRESS, 1);
	given_back_end();
	check_row(0, 0, 0, 0);
	analysis_free(analysis);
}

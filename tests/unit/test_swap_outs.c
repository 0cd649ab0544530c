// SPDX-License-Identifier: GPL-2.0-only
/* Pages that were swapped out take part in the curve of more memory. */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/analysis.h"

#define OWNER	100
#define KSWAPD	5
#define ADDRESS 0x7f0000000000UL
#define PAGE	4096UL

static struct analysis *analysis;
static struct evictions_figures figures;
static uint64_t now;

static void swaps_add(const struct pfstat_event *event)
{
	const struct item item = { .type = ITEM_EVENT, .event = event, .ns = event->ns };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void swaps_begin(void)
{
	analysis = analysis_new(true, PAGE, 0);
	now = 1000000;
}

static void swap_out_for(uint32_t reason, uint32_t evictor, uint32_t owner, uint64_t index,
			 uint32_t pages)
{
	const struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE,
			   .size = sizeof(page),
			   .flags = reason | PFSTAT_PAGE_ANON,
			   .pid = evictor,
			   .tid = evictor,
			   .ns = ++now },
		.inode = owner,
		.pgoff = ADDRESS / PAGE + index,
		.pages = pages,
	};

	swaps_add(&page.event);
}

static void swap_out(uint64_t index, uint32_t pages)
{
	swap_out_for(PFSTAT_PAGE_RECLAIMED, OWNER, OWNER, index, pages);
}

static struct pfstat_fault fault_at(uint64_t index, enum pfstat_fault_outcome outcome)
{
	now += 10000;
	return (struct pfstat_fault){
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(struct pfstat_fault),
			   .flags = PFSTAT_FAULT_SWAP,
			   .pid = OWNER,
			   .tid = OWNER,
			   .ns = now },
		.start_ns = now - 5000,
		.address = ADDRESS + index * PAGE + 8,
		.pgoff = ADDRESS / PAGE + index,
		.outcome = outcome,
		.result = outcome == PFSTAT_OUTCOME_MAJOR ? PFSTAT_RESULT_MAJOR : 0,
		.origin = PFSTAT_ORIGIN_USER,
	};
}

static void swap_in_as(uint64_t index, enum pfstat_fault_outcome outcome)
{
	const struct pfstat_fault fault = fault_at(index, outcome);

	swaps_add(&fault.event);
}

static void swap_in(uint64_t index)
{
	swap_in_as(index, PFSTAT_OUTCOME_MAJOR);
}

static void swaps_end(void)
{
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_evictions(analysis, &figures);
	analysis_free(analysis);
}

static double least_with(uint64_t pages)
{
	const struct evictions_curve *curve = &figures.curve;
	size_t i;

	for (i = 0; i < curve->nr_points; i++)
		if (curve->points[i].pages >= pages)
			return curve->points[i].least.faults;
	ck_abort_msg("the curve ends before %u pages", (unsigned int)pages);
	return 0;
}

/* A loop over pages of which `out` are always out. */
static void swaps_loop(unsigned int pages, unsigned int out, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < out; i++)
		swap_out(i, 1);
	for (i = 0; i < pages * times; i++) {
		swap_out((out + i) % pages, 1);
		swap_in(i % pages);
	}
}

TEST(test_swap_ins_in_a_loop_need_memory_for_all_pages_that_are_out)
{
	swaps_begin();
	swaps_loop(64, 31, 8);
	swaps_end();
	ck_assert(figures.curve.figures.is_regular);
	ck_assert_uint_eq(figures.curve.figures.faults, 64 * 8);
	ck_assert_uint_eq(figures.curve.figures.total_ns, 64 * 8 * 5000);
	ck_assert_uint_eq(figures.swaps.faults, 64 * 8);
	ck_assert_uint_eq(figures.swaps.pages, 31 + 64 * 8);
	ck_assert_uint_eq(figures.swaps.unknown, 0);
	ck_assert_double_eq(least_with(16), 0);
	ck_assert_double_eq(least_with(32), 1);
	/* Swapped-out pages are no pages of files. */
	ck_assert_uint_eq(figures.evicted, 0);
}

TEST(test_each_page_of_a_large_folio_is_out)
{
	swaps_begin();
	swap_out(0, 16);
	swap_in(15);
	swap_in(3);
	swap_in(16);
	swaps_end();
	ck_assert_uint_eq(figures.swaps.pages, 16);
	ck_assert_uint_eq(figures.swaps.faults, 2);
	ck_assert_uint_eq(figures.swaps.unknown, 1);
}

TEST(test_swap_in_of_a_page_that_was_read_ahead_is_no_major_fault)
{
	swaps_begin();
	swap_out(0, 2);
	swap_in(0);
	swap_in_as(1, PFSTAT_OUTCOME_MINOR);
	swaps_end();
	ck_assert_uint_eq(figures.curve.figures.returned, 2);
	ck_assert_uint_eq(figures.swaps.faults, 1);
}

TEST(test_failed_swap_in_leaves_the_page_out)
{
	swaps_begin();
	swap_out(0, 1);
	swap_in_as(0, PFSTAT_OUTCOME_ERROR);
	swaps_end();
	ck_assert_uint_eq(figures.curve.figures.returned, 0);
}

/* MADV_PAGEOUT: more memory would not keep them. */
TEST(test_pages_that_a_call_swapped_out_are_not_in_the_curve)
{
	swaps_begin();
	swap_out_for(PFSTAT_PAGE_DROPPED, OWNER, OWNER, 0, 1);
	swap_in(0);
	swaps_end();
	ck_assert_uint_eq(figures.swaps.pages, 0);
	ck_assert_uint_eq(figures.swaps.faults, 0);
	ck_assert_uint_eq(figures.swaps.unknown, 0);
}

TEST(test_swap_ins_count_for_the_process_and_the_call_that_swapped_the_page_out)
{
	const uint32_t madvise = PFSTAT_WAKER_CALL + 28, write = PFSTAT_WAKER_CALL + 1;
	struct evictions_pair *pairs;
	size_t nr;

	swaps_begin();
	swap_out_for(PFSTAT_PAGE_DROPPED | madvise << PFSTAT_PAGE_DOING_SHIFT, OWNER, OWNER, 0, 3);
	swap_out_for(PFSTAT_PAGE_DROPPED | PFSTAT_PAGE_PROACTIVE | write << PFSTAT_PAGE_DOING_SHIFT,
		     OWNER + 5, OWNER, 3, 2);
	/* Memory was short: the thread's call is not the reason. */
	swap_out_for(PFSTAT_PAGE_RECLAIMED | write << PFSTAT_PAGE_DOING_SHIFT, OWNER + 6, OWNER, 5,
		     1);
	swap_in(0);
	swap_in(1);
	swap_in_as(2, PFSTAT_OUTCOME_MINOR); /* read with another page */
	swap_in(3);
	swap_in(5);
	swap_in(0); /* not swapped out again */
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(analysis_eviction_pairs(analysis, &pairs, &nr), 0);
	analysis_evictions(analysis, &figures);
	ck_assert_uint_eq(nr, 3);
	ck_assert_int_eq(pairs[0].reason, EVICTIONS_DROPPED);
	ck_assert_uint_eq(pairs[0].doing, madvise);
	ck_assert_uint_eq(pairs[0].pages, 3);
	ck_assert_uint_eq(pairs[0].faults, 2);
	ck_assert_uint_eq(pairs[0].total_ns, 2 * 5000);
	ck_assert(pairs[0].anon && evictions_is_itself(&pairs[0]));
	ck_assert_int_eq(pairs[1].reason, EVICTIONS_PROACTIVE);
	ck_assert_uint_eq(pairs[1].evictor, OWNER + 5);
	ck_assert_uint_eq(pairs[1].doing, write);
	ck_assert_int_eq(pairs[2].reason, EVICTIONS_RECLAIMED);
	ck_assert_uint_eq(pairs[2].doing, PFSTAT_WAKER_UNKNOWN);
	/* The sums are those of files. */
	ck_assert_uint_eq(figures.again[EVICTIONS_DROPPED].pages, 0);
	ck_assert_uint_eq(figures.swaps.faults, 1);
	ck_assert_uint_eq(figures.swaps.unknown, 1);
	free(pairs);
	analysis_free(analysis);
}

TEST(test_pages_of_a_process_that_executes_another_program_do_not_return)
{
	const struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .flags = PFSTAT_TASK_EXEC,
			   .pid = OWNER,
			   .tid = OWNER,
			   .ns = 2000000 },
		.parent = OWNER,
		.comm = "other",
	};

	swaps_begin();
	swap_out(0, 1);
	swaps_add(&task.event);
	now = task.event.ns;
	swap_in(0);
	swaps_end();
	ck_assert_uint_eq(figures.swaps.faults, 0);
	ck_assert_uint_eq(figures.swaps.unknown, 1);
}

TEST(test_pages_swapped_out_by_a_process_that_needs_none_count_as_those_of_others)
{
	swaps_begin();
	swap_out(0, 1);
	swap_out_for(PFSTAT_PAGE_RECLAIMED, KSWAPD, OWNER, 1, 3);
	/* This process swaps, too. */
	swap_out_for(PFSTAT_PAGE_RECLAIMED, OWNER + 1, OWNER, 4, 5);
	swap_out_for(PFSTAT_PAGE_RECLAIMED, OWNER, OWNER + 1, 0, 1);
	swaps_end();
	ck_assert_uint_eq(figures.swaps.pages, 10);
	ck_assert_uint_eq(figures.swaps.by_others, 3);
}

TEST(test_a_damaged_size_of_swapped_out_pages_is_ignored)
{
	swaps_begin();
	swap_out(0, 1U << 18);
	swaps_end();
	ck_assert_uint_eq(figures.swaps.pages, 0);
}

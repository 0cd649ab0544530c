// SPDX-License-Identifier: GPL-2.0-only
/* The pages that a process's faults have mapped, through forks and new mappings. */
#include "runner.h"
#include "user/analyze/pages/page_history.h"

#define PAGE 4096ULL

static struct page_history *history;

static void setup(void)
{
	history = page_history_new(PAGE);
	ck_assert_ptr_nonnull(history);
}

static void teardown(void)
{
	page_history_free(history);
}

static struct page_past past_of(uint32_t pid, uint64_t page)
{
	struct page_past past;

	ck_assert_int_eq(page_history_add(history, pid, page * PAGE + 5, true, &past), 0);
	return past;
}

static bool was_there(uint32_t pid, uint64_t page)
{
	return past_of(pid, page).before;
}

TEST(test_page_is_there_after_its_first_fault)
{
	ck_assert(!was_there(1, 7));
	ck_assert(was_there(1, 7));
	ck_assert(!was_there(1, 8));
	ck_assert(!was_there(1, 7 + 512));
	ck_assert(!was_there(2, 7));
}

TEST(test_child_has_the_pages_of_its_parent_before_the_fork_only)
{
	was_there(1, 7);
	ck_assert_int_eq(page_history_fork(history, 1, 2), 0);
	ck_assert(!was_there(1, 8));
	ck_assert(was_there(2, 7));
	ck_assert(!was_there(2, 8));
	ck_assert(was_there(1, 7));
	ck_assert_int_eq(page_history_fork(history, 2, 3), 0);
	ck_assert(was_there(3, 8));
}

TEST(test_new_mapping_removes_only_its_pages)
{
	uint64_t page;

	for (page = 500; page < 1600; page++)
		was_there(1, page);
	ck_assert_int_eq(page_history_remove(history, 1, 510 * PAGE, 1100 * PAGE), 0);
	ck_assert(was_there(1, 509));
	ck_assert(!was_there(1, 510));
	ck_assert(!was_there(1, 1099));
	ck_assert(was_there(1, 1100));
	/* Far more chunks than there are. */
	ck_assert_int_eq(page_history_remove(history, 1, 0, 1ULL << 47), 0);
	ck_assert(!was_there(1, 509));
}

TEST(test_page_added_again_was_there_often)
{
	ck_assert(!past_of(1, 7).often);
	ck_assert(!past_of(1, 7).often);
	ck_assert(past_of(1, 7).often);
	ck_assert(past_of(1, 7).often);
	page_history_remove(history, 1, 7 * PAGE, 8 * PAGE);
	ck_assert(!past_of(1, 7).often);
	ck_assert(!past_of(1, 7).often);
}

TEST(test_page_was_removed_until_it_is_added_again)
{
	ck_assert(!past_of(1, 7).removed);
	page_history_remove(history, 1, 0, 1024 * PAGE);
	ck_assert(past_of(1, 7).removed);
	ck_assert(!past_of(1, 7).removed);
	ck_assert(!past_of(1, 8).removed); /* it had not been there */
	page_history_fork(history, 1, 2);
	page_history_remove(history, 2, 0, 1024 * PAGE);
	ck_assert(past_of(2, 8).removed);
	ck_assert(!past_of(1, 8).removed);
}

TEST(test_page_of_a_file_is_not_memory_that_was_removed)
{
	struct page_past past;

	ck_assert_int_eq(page_history_add(history, 1, 7 * PAGE, false, &past), 0);
	page_history_remove(history, 1, 0, 1024 * PAGE);
	ck_assert(!past_of(1, 7).removed);
	page_history_remove(history, 1, 0, 1024 * PAGE);
	ck_assert(past_of(1, 7).removed);
}

TEST(test_child_that_executes_a_program_leaves_the_parent_its_pages)
{
	was_there(1, 7);
	page_history_fork(history, 1, 2);
	page_history_end(history, 2);
	ck_assert(!was_there(2, 7));
	ck_assert(was_there(1, 7));
	page_history_end(history, 1);
	ck_assert(!was_there(1, 7));
}

TEST(test_pages_beyond_the_limit_are_counted_and_new)
{
	uint64_t chunk;

	for (chunk = 0; chunk < (1 << 19) + 10; chunk++)
		was_there(1, chunk * 512);
	ck_assert_uint_eq(page_history_dropped(history), 10);
	ck_assert(was_there(1, 0));
	ck_assert(!was_there(1, ((1 << 19) + 3) * 512ULL));
}

FIXTURE(setup, teardown);

// SPDX-License-Identifier: GPL-2.0-only
/* Kernel stacks at sleeps: which cause they show, and which time they get. */
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/fault/waits.h"
#include "user/model/wait_cause.h"

TEST(test_servers_and_journals_come_before_the_locks)
{
	static const char *const samples[][2] = {
		{ "wait_transaction_locked<add_transaction_credits<start_this_handle",
		  "the ext4 journal (jbd2)" },
		{ "__mutex_lock<jbd2_log_wait_commit<ext4_sync_file", "the ext4 journal (jbd2)" },
		{ "rwsem_down_read_slowpath<down_read<nfs_start_io_read", "the NFS server" },
		{ "request_wait_answer<fuse_simple_request<fuse_getattr", "the FUSE server" },
		{ "folio_wait_bit_common<filemap_fault<__do_fault",
		  "a page that another thread reads or has locked" },
		{ "folio_wait_bit_common<filemap_read_folio<filemap_fault", "the read of a page" },
		{ "rwsem_down_read_slowpath<down_read<ext4_filemap_fault",
		  "a read-write semaphore" },
		{ "__mutex_lock", "a mutex" },
		{ "rwsem_down_read_slowpath<down_read_killable<lock_mm_and_find_vma", "mmap_lock" },
		{ "percpu_rwsem_wait<__percpu_down_read<ext4_page_mkwrite",
		  "the end of a file system freeze" },
	};
	static const char *const unknown[] = { "folio_wait_bit", "my_fuse_function<mutex", "" };
	size_t i;

	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		ck_assert_str_eq(wait_cause_of(samples[i][0]), samples[i][1]);
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		ck_assert_ptr_null(wait_cause_of(unknown[i]));
}

static void add_span(struct waits *waits, uint32_t id, enum part part, uint64_t ns)
{
	struct explained fault = { .nr_spans = 1 };

	fault.spans[0] = (struct explain_span){ 1000, 1000 + ns, part, false, id, 0, 0, 0, 0 };
	fault.parts_ns[part] = ns;
	waits_add_fault(waits, &fault);
}

TEST(test_stacks_get_the_time_that_no_request_explains)
{
	struct waits waits = { 0 };
	struct wait_row *rows;
	uint32_t mutex, page, again;
	size_t nr;

	ck_assert_int_eq(waits_find(&waits, "__mutex_lock<a", &mutex), 0);
	ck_assert_int_eq(waits_find(&waits, "folio_wait_bit_common<b", &page), 0);
	ck_assert_int_eq(waits_find(&waits, "__mutex_lock<a", &again), 0);
	ck_assert_uint_eq(mutex, again);
	ck_assert_uint_ne(mutex, page);
	add_span(&waits, mutex, PART_BLOCKED, 100);
	add_span(&waits, mutex, PART_RECLAIM, 20);
	add_span(&waits, page, PART_FOREIGN, 300);
	add_span(&waits, page, PART_DEVICE, 5000);
	add_span(&waits, 0, PART_BLOCKED, 70);
	ck_assert_int_eq(waits_list(&waits, &rows, &nr), 0);
	ck_assert_uint_eq(nr, 2);
	ck_assert_str_eq(rows[0].functions, "folio_wait_bit_common<b");
	ck_assert_uint_eq(rows[0].total_ns, 300);
	ck_assert_uint_eq(rows[1].total_ns, 120);
	ck_assert_uint_eq(rows[1].sleeps, 2);
	ck_assert_uint_eq(rows[1].max_ns, 100);
	ck_assert_uint_eq(waits.unknown_ns, 70);
	ck_assert_uint_eq(rows[1].parts_ns[PART_RECLAIM], 20);
	ck_assert_str_eq(rows[1].cause, "a mutex");
	free(rows);
	waits_exit(&waits);
}

TEST(test_a_sleep_of_several_parts_is_one_sleep)
{
	struct waits waits = { 0 };
	struct explained fault = {
		.nr_spans = 4,
		.parts_ns = { [PART_FOREIGN] = 60, [PART_BLOCKED] = 5, [PART_DEVICE] = 30 },
	};
	struct wait_row *rows;
	uint32_t id;
	size_t nr;

	ck_assert_int_eq(waits_find(&waits, "folio_wait_bit_common", &id), 0);
	fault.spans[0] = (struct explain_span){ 100, 110, PART_FOREIGN, false, id, 0, 0, 0, 0 };
	fault.spans[1] = (struct explain_span){ 110, 140, PART_DEVICE, false, id, 0, 0, 0, 0 };
	fault.spans[2] = (struct explain_span){ 140, 150, PART_FOREIGN, false, id, 0, 0, 0, 0 };
	fault.spans[3] = (struct explain_span){ 200, 225, PART_FOREIGN, false, id, 0, 0, 0, 0 };
	waits_add_fault(&waits, &fault);
	ck_assert_int_eq(waits_list(&waits, &rows, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(rows[0].sleeps, 2);
	ck_assert_uint_eq(rows[0].total_ns, 45);
	ck_assert_uint_eq(rows[0].max_ns, 25);
	/* The other 15 ns belong to spans the fault did not store. */
	ck_assert_uint_eq(waits.unknown_ns, 20);
	free(rows);
	waits_exit(&waits);
}

TEST(test_too_many_stacks_are_not_distinguished)
{
	struct waits waits = { 0 };
	char functions[32];
	uint32_t id;
	unsigned int i;

	ck_assert_int_eq(waits_find(&waits, "", &id), 0);
	ck_assert_uint_eq(id, 0);
	for (i = 0; i < WAITS_MAX; i++) {
		snprintf(functions, sizeof(functions), "function_%u", i);
		ck_assert_int_eq(waits_find(&waits, functions, &id), 0);
		ck_assert_uint_eq(id, i + 1);
	}
	ck_assert_int_eq(waits_find(&waits, "another", &id), 0);
	ck_assert_uint_eq(id, 0);
	ck_assert_int_eq(waits_find(&waits, "function_7", &id), 0);
	ck_assert_uint_eq(id, 8);
	waits_exit(&waits);
}

/* eBPF sends no stack for a thread's own read, perf does. */
TEST(test_page_may_be_one_that_the_thread_reads_itself)
{
	struct pfstat_wait wait = {
		.event = { .type = PFSTAT_EVENT_WAIT, .flags = PFSTAT_WAIT_NAMED },
		.functions = "folio_wait_bit_common<filemap_fault",
	};
	struct waits waits = { 0 };
	enum wait_kind kind;
	uint32_t id;

	ck_assert_int_eq(waits_find_event(&waits, &wait, &id, &kind), 0);
	ck_assert_str_eq(waits.rows[id - 1].cause, WAIT_PAGE);
	waits_exit(&waits);
	wait.event.flags |= PFSTAT_WAIT_OWN;
	ck_assert_int_eq(waits_find_event(&waits, &wait, &id, &kind), 0);
	ck_assert_str_eq(waits.rows[id - 1].cause, WAIT_OWN_PAGE);
	ck_assert_int_eq(kind, WAIT_KNOWN);
	waits_exit(&waits);
}

TEST(test_sleeps_in_minor_faults_have_a_sum)
{
	struct waits waits = { 0 };
	uint32_t id;

	ck_assert_int_eq(waits_find(&waits, "folio_wait_bit_common<b", &id), 0);
	add_span(&waits, id, PART_ASLEEP, 100);
	add_span(&waits, id, PART_BLOCKED, 20);
	add_span(&waits, 0, PART_ASLEEP, 7);
	ck_assert_uint_eq(waits.rows[0].minor_asleep_ns, 100);
	ck_assert_uint_eq(waits.unknown_ns, 7);
	waits_exit(&waits);
}

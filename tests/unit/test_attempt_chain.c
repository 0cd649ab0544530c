// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attempts are joined to logical faults. The result must equal the count of mm_account_fault() in
 * mm/memory.c for the same calls.
 */
#include "runner.h"
#include "user/analyze/fault/attempt_chain.h"

#define PAGE	 4096ULL
#define AT(page) (0x7f0000000000ULL + (page) * PAGE)

#define LOCKED PFSTAT_RESULT_LOCKED
#define NOPAGE PFSTAT_RESULT_NOPAGE
#define RETRY  PFSTAT_RESULT_RETRY
#define MAJOR  PFSTAT_RESULT_MAJOR
#define SIGBUS PFSTAT_RESULT_SIGBUS

/* One thread, whose attempts arrive in order. */
struct thread {
	struct attempt_chain chain;
	struct attempt_chain_counts counts;
	uint64_t now_ns;
};

static struct pfstat_record attempt(enum pfstat_op op, uint64_t address, uint32_t result)
{
	return (struct pfstat_record){
		.op = op,
		.class = result ? PFSTAT_CLASS_LONG : PFSTAT_CLASS_PASS,
		.address = address,
		.result = result,
	};
}

/* @again: the module linked the attempt to the thread's previous one */
static void tell(struct thread *thread, struct pfstat_record record, bool again)
{
	record.earlier_ns = again ? thread->now_ns : 0;
	record.start_ns = ++thread->now_ns;
	attempt_chain_add(&thread->chain, &record, 4096, &thread->counts);
}

static void expect(const struct thread *thread, uint64_t faults, uint64_t major,
		   uint64_t unfinished)
{
	ck_assert_uint_eq(thread->counts.faults, faults);
	ck_assert_uint_eq(thread->counts.major, major);
	ck_assert_uint_eq(thread->counts.unfinished, unfinished);
}

static struct pfstat_record with_flags(struct pfstat_record record, uint32_t flags)
{
	record.flags = flags;
	return record;
}

static struct pfstat_record shared_write(enum pfstat_op op, uint64_t address, uint32_t result)
{
	struct pfstat_record record = attempt(op, address, result);

	record.flags = PFSTAT_FLAG_WRITE;
	record.facts = PFSTAT_FACT_SHARED;
	if (op == PFSTAT_OP_PAGE_MKWRITE)
		record.class = PFSTAT_CLASS_MKWRITE;
	return record;
}

TEST(test_cached_read_is_one_minor_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(1), NOPAGE), false);
	expect(&thread, 1, 0, 0);
}

/* ->map_pages gets the page's address, ->fault the byte's. */
TEST(test_attempts_on_a_page_of_16_kib_are_one_fault)
{
	static const struct {
		uint64_t page_bytes, faults;
	} sizes[] = { { 4096, 2 }, { 16384, 1 }, { 65536, 1 } };
	struct pfstat_record first = attempt(PFSTAT_OP_MAP_PAGES, AT(16), 0);
	struct pfstat_record second = attempt(PFSTAT_OP_FAULT, AT(16) + 3 * PAGE, LOCKED);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct thread thread = { 0 };

		attempt_chain_add(&thread.chain, &first, sizes[i].page_bytes, &thread.counts);
		attempt_chain_add(&thread.chain, &second, sizes[i].page_bytes, &thread.counts);
		ck_assert_uint_eq(thread.counts.faults + thread.counts.unfinished, sizes[i].faults);
	}
}

TEST(test_cold_read_is_one_major_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(1), 0), false);
	expect(&thread, 0, 0, 1);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), true);
	expect(&thread, 0, 0, 1);
	tell(&thread, with_flags(attempt(PFSTAT_OP_MAP_PAGES, AT(1), NOPAGE), PFSTAT_FLAG_TRIED),
	     true);
	expect(&thread, 1, 1, 0);
}

TEST(test_cold_read_without_fault_around_is_one_major_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), false);
	tell(&thread, with_flags(attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), PFSTAT_FLAG_TRIED), true);
	expect(&thread, 1, 1, 0);
}

TEST(test_read_that_waits_under_the_lock_is_one_major_fault)
{
	struct thread thread = { 0 };

	/* The fault may not retry, so it starts the read and waits for it. */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | LOCKED), false);
	expect(&thread, 1, 1, 0);
}

TEST(test_wait_counts_as_major_only_when_its_retry_is_tried)
{
	struct thread v6_1 = { 0 }, v6_12 = { 0 };

	tell(&v6_1, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	tell(&v6_1, with_flags(attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), PFSTAT_FLAG_TRIED), true);
	expect(&v6_1, 1, 1, 0);
	/* The first attempt runs under the VMA's lock. The retry does not carry TRIED. */
	tell(&v6_12, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	tell(&v6_12, attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	expect(&v6_12, 1, 0, 0);
}

TEST(test_major_flag_of_an_attempt_that_retries_is_ignored)
{
	struct thread thread = { 0 };

	/* The kernel drops the flag: a MAP_POPULATE retry does not carry TRIED. */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	expect(&thread, 1, 0, 0);
}

TEST(test_unlinked_pass_and_fault_are_one_fault)
{
	struct thread thread = { 0 };

	/* map_pages may get the page's address, ->fault gets the byte's. */
	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(1), 0), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1) + 123, LOCKED), false);
	expect(&thread, 1, 0, 0);
}

TEST(test_huge_fault_that_falls_back_is_not_a_separate_fault)
{
	struct thread thread = { 0 };
	struct pfstat_record record = attempt(PFSTAT_OP_HUGE_FAULT, AT(1), PFSTAT_RESULT_FALLBACK);

	record.class = PFSTAT_CLASS_PASS;
	tell(&thread, record, false);
	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(1), 0), true);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	expect(&thread, 1, 0, 0);
}

TEST(test_many_retries_are_one_fault)
{
	struct thread thread = { 0 };
	int i;

	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	for (i = 0; i < 10; i++)
		tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), true);
	expect(&thread, 0, 0, 1);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	expect(&thread, 1, 0, 0);
}

TEST(test_chain_without_its_retry_is_unfinished)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(2), LOCKED), false);
	expect(&thread, 1, 0, 1);
	/*
	 * A signal ends the fault, and then the same page faults anew: not linked, so it is another
	 * fault.
	 */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(3), RETRY), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(3), LOCKED), false);
	expect(&thread, 2, 0, 2);
}

TEST(test_another_page_never_continues_a_chain)
{
	struct thread thread = { 0 };

	/* Records were lost in between: the end of page 1's fault and the start of page 2's. */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(2), LOCKED), true);
	expect(&thread, 1, 0, 1);
	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(3), 0), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(4), LOCKED), false);
	expect(&thread, 2, 0, 2);
}

TEST(test_lost_record_in_a_chain_loses_no_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	thread.now_ns += 10; /* the attempt to which the next one is linked was lost */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	expect(&thread, 1, 0, 0);
	/* The first attempt was lost. */
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(2), LOCKED), true);
	expect(&thread, 2, 0, 0);
}

TEST(test_error_is_not_counted_as_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), SIGBUS), false);
	expect(&thread, 0, 0, 0);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), false);
	tell(&thread, with_flags(attempt(PFSTAT_OP_FAULT, AT(1), SIGBUS), PFSTAT_FLAG_TRIED), true);
	expect(&thread, 0, 0, 0);
}

TEST(test_first_shared_write_and_its_mkwrite_are_one_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 1, 0, 0);
}

TEST(test_write_to_a_page_mapped_read_only_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, attempt(PFSTAT_OP_MAP_PAGES, AT(1), NOPAGE), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 2, 0, 0);
}

TEST(test_second_mkwrite_of_a_page_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	/* The page is written back in between and write-protected again, twice. */
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 2, 0, 0);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 3, 0, 0);
}

TEST(test_mkwrite_of_another_page_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(2), LOCKED), false);
	expect(&thread, 2, 0, 0);
}

TEST(test_mkwrite_after_another_record_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, attempt(PFSTAT_OP_FAULT, AT(2), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 3, 0, 0);
}

TEST(test_mkwrite_after_a_shared_read_is_a_fault)
{
	struct thread thread = { 0 };
	struct pfstat_record record = shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED);

	record.flags = 0;
	tell(&thread, record, false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 2, 0, 0);
}

TEST(test_mkwrite_after_an_attempt_that_retries_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), RETRY), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 2, 0, 1);
}

TEST(test_mkwrite_after_a_private_write_is_a_fault)
{
	struct thread thread = { 0 };

	tell(&thread, with_flags(attempt(PFSTAT_OP_FAULT, AT(1), LOCKED), PFSTAT_FLAG_WRITE),
	     false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 2, 0, 0);
}

TEST(test_pfn_mkwrite_is_a_fault)
{
	struct thread thread = { 0 };

	/* The kernel calls it only for mapped pages, never after ->fault. */
	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), NOPAGE), false);
	tell(&thread, shared_write(PFSTAT_OP_PFN_MKWRITE, AT(1), NOPAGE), false);
	expect(&thread, 2, 0, 0);
}

TEST(test_cold_shared_write_is_one_major_fault)
{
	struct thread thread = { 0 };
	struct pfstat_record record = shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED);

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), MAJOR | RETRY), false);
	record.flags |= PFSTAT_FLAG_TRIED;
	tell(&thread, record, true);
	record = shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED);
	record.flags |= PFSTAT_FLAG_TRIED;
	tell(&thread, record, false);
	expect(&thread, 1, 1, 0);
}

TEST(test_mkwrite_error_takes_the_fault_back)
{
	struct thread thread = { 0 };

	/* do_shared_fault() returns page_mkwrite's SIGBUS: a full disk. */
	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), MAJOR | LOCKED), false);
	expect(&thread, 1, 1, 0);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), SIGBUS), false);
	expect(&thread, 0, 0, 0);
}

TEST(test_mkwrite_nopage_makes_a_major_fault_minor)
{
	struct thread thread = { 0 };

	/* do_shared_fault() returns page_mkwrite's result, without ->fault's MAJOR. */
	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), MAJOR | LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), NOPAGE), false);
	expect(&thread, 1, 0, 0);
}

TEST(test_mkwrite_retry_continues_the_same_fault)
{
	struct thread thread = { 0 };

	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), false);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), RETRY), false);
	expect(&thread, 0, 0, 1);
	tell(&thread, shared_write(PFSTAT_OP_FAULT, AT(1), LOCKED), true);
	tell(&thread, shared_write(PFSTAT_OP_PAGE_MKWRITE, AT(1), LOCKED), false);
	expect(&thread, 1, 0, 0);
}

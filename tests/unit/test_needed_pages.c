// SPDX-License-Identifier: GPL-2.0-only
/* The pages a recorded program needed, taken from the program's faults and reads. */
#include <errno.h>

#include "runner.h"
#include "apps/prefetch/prefetch_sources.h"

#define PAGE 4096

static struct needed_pages *needed;
static const struct needed_page *pages;
static struct needed_pages_figures figures;
static size_t nr;
static bool exact;

static void setup(void)
{
	exact = false;
	needed = needed_pages_new(4096);
	ck_assert_ptr_nonnull(needed);
}

static void teardown(void)
{
	needed_pages_free(needed);
}

static struct pfstat_block request(uint32_t tid, uint64_t from_ns, uint64_t to_ns, uint64_t inode,
				   uint64_t pgoff, uint32_t nr_pages)
{
	return (struct pfstat_block){
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(struct pfstat_block),
			   .flags = PFSTAT_BLOCK_FILE,
			   .tid = tid,
			   .ns = to_ns },
		.insert_ns = from_ns,
		.inode = inode,
		.pgoff = pgoff,
		.fs_dev = 1,
		.bytes = nr_pages * PAGE,
		.file_bytes = nr_pages * PAGE,
	};
}

static void read_pages(uint32_t tid, uint64_t from_ns, uint64_t to_ns, uint64_t inode,
		       uint64_t pgoff, uint32_t nr_pages)
{
	const struct pfstat_block block = request(tid, from_ns, to_ns, inode, pgoff, nr_pages);

	ck_assert_int_eq(needed_pages_add_block(needed, &block), 0);
}

static struct explained fault_of(uint32_t tid, uint64_t from_ns, uint64_t to_ns, uint64_t inode,
				 uint64_t pgoff)
{
	return (struct explained){
		.class = FAULT_LONG,
		.tid = tid,
		.start_ns = from_ns,
		.end_ns = to_ns,
		.inode = inode,
		.pgoff = pgoff,
		.dev = 1,
		.solved = true,
	};
}

static void add(const struct explained *fault)
{
	ck_assert_int_eq(needed_pages_add_fault(needed, fault), 0);
}

static void finish(void)
{
	ck_assert_int_eq(needed_pages_finish(needed, exact, &pages, &nr, &figures), 0);
}

static void check_order(size_t expected, const uint64_t *pgoffs)
{
	size_t i;

	ck_assert_uint_eq(nr, expected);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(pages[i].pgoff, pgoffs[i]);
}

#define CHECK_ORDER(...)                                                          \
	check_order(sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), \
		    (const uint64_t[]){ __VA_ARGS__ })

/* A disk fault whose request reads pages 96 to 127, and maps 96 to 111. */
static void add_disk_fault(void)
{
	struct explained fault = fault_of(7, 1000, 9000, 5, 100);

	fault.class = FAULT_DISK;
	fault.major = true;
	fault.around_before = 4;
	fault.around_pages = 16;
	fault.request = request(7, 2000, 8000, 5, 96, 32);
	read_pages(7, 2000, 8000, 5, 96, 32);
	add(&fault);
}

TEST(test_pages_that_read_ahead_brought_are_needed_only_if_they_were_mapped)
{
	size_t i;

	add_disk_fault();
	finish();
	ck_assert_uint_eq(nr, 16);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(pages[i].pgoff, 96 + i);
	ck_assert_uint_eq(figures.cached, 0);
	ck_assert_uint_eq(figures.around, 15);
}

TEST(test_the_time_of_a_fault_is_divided_among_the_needed_pages_of_its_request)
{
	struct explained later = fault_of(7, 20000, 20500, 5, 127);
	uint64_t sum = 0;
	size_t i;

	add_disk_fault();
	add(&later); /* the other fault's request had read this page */
	finish();
	ck_assert_uint_eq(nr, 17);
	ck_assert_uint_eq(pages[16].pgoff, 127);
	ck_assert_uint_eq(pages[16].fault_ns, 8000 / 17);
	for (i = 0; i < nr; i++)
		sum += pages[i].fault_ns;
	ck_assert_uint_eq(sum, 8000);
	ck_assert_uint_eq(figures.fault_ns, 8000);
}

TEST(test_in_an_exact_recording_each_fault_needs_its_own_page)
{
	struct explained cached = fault_of(7, 20000, 20500, 5, 99),
			 folio = fault_of(7, 30000, 30500, 5, 120);

	exact = true;
	cached.around_before = 3;
	cached.around_pages = 16;
	folio.order = 3;
	add_disk_fault();
	add(&folio);
	add(&cached);
	read_pages(7, 25000, 26000, 6, 0, 2); /* by read(2) */
	finish();
	CHECK_ORDER(100, 99, 0, 1, 120);
	ck_assert_uint_eq(figures.around, 0);
	ck_assert_uint_eq(pages[0].fault_ns, 8000 / 3 + 1); /* its request read 99 and 120, too */
}

TEST(test_absent_pages_of_the_window_are_not_needed)
{
	struct explained fault = fault_of(7, 5000, 6000, 5, 2);

	read_pages(7, 1000, 2000, 5, 2, 1); /* by read(2) */
	read_pages(7, 9000, 9900, 6, 0, 1);
	read_pages(7, 5500, 7000, 5, 3, 1); /* within the fault, but complete after it */
	fault.around_before = 2;
	fault.around_pages = 16;
	add(&fault);
	finish();
	CHECK_ORDER(2, 0);
	ck_assert_uint_eq(pages[1].inode, 6);
}

TEST(test_a_page_that_no_request_read_counts_as_cached_with_its_window)
{
	struct explained fault = fault_of(7, 5000, 6000, 5, 2);

	fault.around_before = 1;
	fault.around_pages = 3;
	add(&fault);
	add(&fault);
	finish();
	CHECK_ORDER(1, 2, 3);
	ck_assert_uint_eq(figures.cached, 1);
}

TEST(test_reads_outside_of_faults_are_needed_and_have_their_own_time)
{
	struct explained fault = fault_of(7, 5000, 6000, 9, 0);

	add(&fault);
	read_pages(8, 5500, 5900, 5, 40, 3); /* another thread */
	read_pages(7, 6001, 6201, 5, 60, 2);
	read_pages(7, 4000, 4100, 5, 20, 1);
	read_pages(7, 5500, 5600, 5, 80, 1); /* the fault's read-ahead: not needed */
	finish();
	CHECK_ORDER(20, 0, 40, 41, 42, 60, 61);
	ck_assert_uint_eq(pages[0].read_ns, 100);
	ck_assert_uint_eq(pages[2].read_ns, 134); /* 400 / 3, and the rest */
	ck_assert_uint_eq(pages[5].read_ns, 100);
	ck_assert_uint_eq(figures.read_ns, 700);
	ck_assert_uint_eq(figures.fault_ns, 0);
}

TEST(test_a_fault_before_the_last_of_its_thread_still_owns_its_requests)
{
	struct explained first = fault_of(7, 1000, 2000, 5, 0),
			 last = fault_of(7, 3000, 4000, 5, 1);

	add(&last);
	add(&first);
	read_pages(7, 1500, 1900, 5, 0, 8);
	finish();
	CHECK_ORDER(0, 1);
}

TEST(test_pages_are_ordered_by_their_first_use)
{
	struct explained fault;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		fault = fault_of(1, 1000 - 10 * i, 1005 - 10 * i, 5, i);
		add(&fault);
		fault.start_ns += 5000; /* a later use */
		fault.end_ns += 5000;
		add(&fault);
	}
	finish();
	CHECK_ORDER(9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

TEST(test_unsolved_faults_writes_and_memory_are_not_needed)
{
	struct explained fault = fault_of(1, 1, 2, 5, 0);
	struct pfstat_block block = request(1, 10, 20, 5, 7, 1);

	fault.solved = false;
	add(&fault);
	fault.solved = true;
	fault.inode = 0;
	add(&fault);
	block.event.flags |= PFSTAT_BLOCK_WRITE;
	ck_assert_int_eq(needed_pages_add_block(needed, &block), 0);
	block.event.flags = 0;
	ck_assert_int_eq(needed_pages_add_block(needed, &block), 0);
	block.event.flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_ERROR;
	ck_assert_int_eq(needed_pages_add_block(needed, &block), 0);
	finish();
	ck_assert_uint_eq(nr, 0);
}

TEST(test_faults_before_the_program_is_executed_do_not_count)
{
	struct explained fault = fault_of(1, 100, 200, 5, 1);

	fault.class = FAULT_DISK;
	add(&fault);
	read_pages(1, 110, 150, 5, 0, 2); /* by this fault */
	read_pages(1, 250, 280, 9, 3, 1); /* the program's file */
	needed_pages_start(needed, 300);
	fault = fault_of(1, 300, 400, 6, 2);
	add(&fault);
	finish();
	CHECK_ORDER(3, 2);
	ck_assert_uint_eq(figures.fault_ns, 0);
}

TEST(test_a_large_folio_is_needed_as_a_whole_if_it_was_read)
{
	struct explained fault = fault_of(1, 100, 200, 5, 70);

	read_pages(1, 110, 150, 5, 64, 16);
	fault.order = 4;
	fault.class = FAULT_DISK;
	add(&fault);
	finish();
	ck_assert_uint_eq(nr, 16);
	ck_assert_uint_eq(pages[0].pgoff, 64);
}

TEST(test_hostile_items_are_refused_or_cost_little)
{
	struct explained fault = fault_of(1, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX);
	struct pfstat_block block = request(1, 50, 10, 5, UINT64_MAX - 1, 4);
	int err = 0;

	fault.class = FAULT_DISK;
	fault.around_before = UINT16_MAX;
	fault.around_pages = UINT16_MAX;
	fault.order = UINT8_MAX;
	fault.request = request(9, 9, 9, 5, UINT64_MAX, 1U << 18);
	add(&fault);
	ck_assert_int_eq(needed_pages_add_block(needed, &block), 0);
	finish();
	ck_assert_uint_ge(nr, 1);
	block.bytes = UINT32_MAX;
	block.file_bytes = UINT32_MAX;
	while (!err)
		err = needed_pages_add_block(needed, &block);
	ck_assert_int_eq(err, -E2BIG);
}

FIXTURE(setup, teardown);

// SPDX-License-Identifier: GPL-2.0-only
/* Waits for a handler of userfaultfd: until it has read the fault, and from then on. */
#include <string.h>

#include "analyze/handlers.h"
#include "runner.h"

#define PAGE 4096ULL

static struct handlers handlers;

static void begin(void)
{
	handlers = (struct handlers){ .page_bytes = PAGE };
}

static void add_read(uint64_t ns, uint32_t tid, uint64_t address)
{
	const struct pfstat_userfault read = {
		.event = { PFSTAT_EVENT_USERFAULT, sizeof(read), 0, 70, tid, ns },
		.address = address,
		.target = 50,
		.comm = "restore",
	};

	ck_assert_int_eq(handlers_add_read(&handlers, &read), 0);
}

static void add_wait(uint32_t pid, uint64_t start_ns, uint64_t from_ns, uint64_t to_ns,
		     uint64_t address, uint32_t waker)
{
	static struct explained fault;

	fault = (struct explained){ .pid = pid, .start_ns = start_ns, .address = address };
	fault.parts_ns[PART_HANDLER] = to_ns - from_ns;
	fault.spans[0] = (struct explain_span){
		.from_ns = from_ns,
		.to_ns = to_ns,
		.part = PART_HANDLER,
		.wait = 1,
		.waker = waker,
	};
	fault.nr_spans = 1;
	handlers_add_fault(&handlers, &fault);
}

static struct handler_row row_of(unsigned int index)
{
	struct handlers_figures figures;

	handlers_figures(&handlers, &figures);
	ck_assert_uint_lt(index, figures.nr);
	return figures.rows[index];
}

TEST(test_one_handler_thread_makes_the_second_fault_queue)
{
	struct handler_row row;

	begin();
	add_read(110, 71, 5 * PAGE);
	add_read(200, 71, 6 * PAGE);
	add_wait(50, 90, 100, 190, 5 * PAGE + 8, 71);
	add_wait(50, 90, 100, 290, 6 * PAGE, 71);
	row = row_of(0);
	ck_assert_str_eq(row.name, "restore");
	ck_assert_uint_eq(row.pid, 70);
	ck_assert_uint_eq(row.threads, 1);
	ck_assert_uint_eq(row.reads, 2);
	ck_assert_uint_eq(row.waits, 2);
	ck_assert_uint_eq(row.queue_ns, 10 + 100);
	ck_assert_uint_eq(row.work_ns, 80 + 90);
	ck_assert_uint_eq(row.total_ns, 90 + 190);
	ck_assert_uint_eq(row.max_ns, 190);
	ck_assert_uint_eq(row.unread, 0);
	handlers_exit(&handlers);
}

TEST(test_a_fault_that_is_read_before_its_thread_sleeps_does_not_queue)
{
	begin();
	add_read(95, 71, 5 * PAGE);
	add_wait(50, 90, 100, 190, 5 * PAGE, 71);
	ck_assert_uint_eq(row_of(0).queue_ns, 0);
	ck_assert_uint_eq(row_of(0).work_ns, 90);
	handlers_exit(&handlers);
}

TEST(test_a_fault_that_is_read_while_its_thread_is_preempted_does_not_queue)
{
	struct explained fault = {
		.pid = 50,
		.start_ns = 90,
		.address = 5 * PAGE,
		.nr_spans = 4,
		.spans = {
			{ .from_ns = 95, .to_ns = 100, .part = PART_RUNQUEUE },
			{ .from_ns = 100, .to_ns = 190, .part = PART_HANDLER, .wait = 1, .waker = 71 },
			{ .from_ns = 195, .to_ns = 200, .part = PART_RUNQUEUE },
			{ .from_ns = 200, .to_ns = 230, .part = PART_HANDLER, .wait = 1, .waker = 71 },
		},
	};

	fault.parts_ns[PART_HANDLER] = 120;
	begin();
	add_read(97, 71, 5 * PAGE);
	handlers_add_fault(&handlers, &fault);
	ck_assert_uint_eq(row_of(0).work_ns, 90);
	/* The first wait's read is not also the second's. */
	ck_assert_uint_eq(row_of(0).unread_ns, 30);
	handlers_exit(&handlers);
}

TEST(test_the_first_read_of_a_page_counts_for_all_threads_that_wait_for_it)
{
	begin();
	add_read(110, 71, 5 * PAGE);
	add_read(120, 72, 5 * PAGE);
	add_wait(50, 100, 100, 150, 5 * PAGE, 72);
	ck_assert_uint_eq(row_of(0).queue_ns, 10);
	ck_assert_uint_eq(row_of(0).threads, 2);
	handlers_exit(&handlers);
}

TEST(test_reads_of_another_page_process_or_time_do_not_count)
{
	struct handler_row row;

	begin();
	add_read(80, 71, 5 * PAGE);  /* an earlier fault on the page */
	add_read(110, 71, 6 * PAGE); /* another page */
	add_read(190, 71, 5 * PAGE); /* after the wait */
	add_wait(50, 90, 100, 190, 5 * PAGE, 71);
	add_wait(51, 90, 100, 180, 6 * PAGE, 71);
	row = row_of(0);
	ck_assert_uint_eq(row.pid, 70); /* the waker is known */
	ck_assert_uint_eq(row.unread, 2);
	ck_assert_uint_eq(row.unread_ns, 90 + 80);
	ck_assert_uint_eq(row.queue_ns + row.work_ns, 0);
	handlers_exit(&handlers);
}

TEST(test_a_waker_that_never_read_is_an_unknown_handler)
{
	begin();
	add_wait(50, 90, 100, 190, 5 * PAGE, 9);
	add_wait(50, 90, 100, 190, 5 * PAGE, 0);
	ck_assert_uint_eq(row_of(0).pid, 0);
	ck_assert_uint_eq(row_of(0).waits, 2);
	ck_assert_uint_eq(row_of(0).unread_ns, 180);
	handlers_exit(&handlers);
}

TEST(test_handlers_beyond_the_limit_are_unknown)
{
	struct handlers_figures figures;
	unsigned int i;

	begin();
	for (i = 1; i <= HANDLERS_MAX + 3; i++) {
		const struct pfstat_userfault read = {
			.event = { PFSTAT_EVENT_USERFAULT, sizeof(read), 0, i, i, 100 * i },
			.address = i * PAGE,
			.target = 50,
			.comm = "many",
		};

		ck_assert_int_eq(handlers_add_read(&handlers, &read), 0);
		add_wait(50, 100 * i - 10, 100 * i - 10, 100 * i + 10, i * PAGE, i);
	}
	handlers_figures(&handlers, &figures);
	ck_assert_uint_eq(figures.nr, HANDLERS_MAX);
	ck_assert_uint_eq(figures.rows[0].pid, 0);
	ck_assert_uint_eq(figures.rows[0].total_ns, 4 * 20);
	handlers_exit(&handlers);
}

TEST(test_the_ring_of_reads_forgets_the_oldest)
{
	uint64_t i;

	begin();
	for (i = 0; i <= HANDLERS_READS; i++)
		add_read(1000 + i, 71, i * PAGE);
	add_wait(50, 900, 900, 9000, 0, 71); /* its read is forgotten */
	add_wait(50, 900, 900, 9000, 1 * PAGE, 71);
	ck_assert_uint_eq(row_of(0).unread, 1);
	ck_assert_uint_eq(row_of(0).queue_ns, 101);
	handlers_exit(&handlers);
}

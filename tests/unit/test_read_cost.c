// SPDX-License-Identifier: GPL-2.0-only
/* The time of predicted faults, from recorded ones. */
#include <math.h>

#include "analyze/prediction/prediction.h"
#include "runner.h"

#define US 1000

static struct cached_file file;

static void assert_near(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) < 1, "%f, not %f", value, expected);
}

static struct fault_work work(enum fault_class class, uint64_t page, uint64_t read_pages)
{
	return (struct fault_work){
		.class = class,
		.file = &file,
		.page = page,
		.first = page + 1,
		.window = read_pages,
		.read_pages = read_pages,
		.mapped_pages = 1,
	};
}

static struct read_cost cost;
static struct read_clock recorded, clock_;

static void learn(const struct fault_work *work, uint64_t ns, uint64_t cpu_ns)
{
	static uint64_t start_ns;
	const struct access_time time = { .start_ns = start_ns += 1000 * US,
					  .ns = ns,
					  .cpu_ns = cpu_ns,
					  .major = work->class == FAULT_DISK };

	read_cost_learn(&cost, &recorded, work, &time);
}

/* Reads of 1 to 40 pages: 100 us and 2 us a page, of which the CPU has 5 us and 1 us a page. */
static void learn_device(void)
{
	struct fault_work read, minor = work(FAULT_LONG, 1000, 0);
	uint64_t pages;

	cost = (struct read_cost){ 0 };
	recorded = clock_ = (struct read_clock){ 0 };
	for (pages = 1; pages <= 40; pages++) {
		learn(&minor, 2 * US, 2 * US);
		read = work(FAULT_DISK, 1000 * pages, pages);
		learn(&read, (100 + 2 * pages) * US, (5 + pages) * US);
	}
}

TEST(test_line_has_no_error_on_a_line)
{
	struct cost_line line = { 0 };
	unsigned int i;

	for (i = 1; i <= 10; i++)
		cost_line_add(&line, i, 50 + 3 * i);
	assert_near(cost_line_error(&line, 20, 2000), 0);
}

TEST(test_error_grows_away_from_the_recorded_sizes)
{
	struct cost_line line = { 0 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		cost_line_add(&line, 20 + i % 10, 300 + 3 * (i % 10) + (i % 2 ? 30 : -30));
	ck_assert(cost_line_error(&line, 100, 2400) < 0.1 * 100 * 312);
	ck_assert(cost_line_error(&line, 100, 100) > 2 * cost_line_error(&line, 100, 2400));
}

TEST(test_time_of_other_sizes_follows_the_line)
{
	const struct fault_work read = work(FAULT_DISK, 0, 500);
	const struct fault_work minor = work(FAULT_LONG, 3000, 0);

	learn_device();
	read_clock_take(&clock_, &cost, &read);
	assert_near(clock_.total_ns, 1100 * US);
	read_clock_take(&clock_, &cost, &minor);
	assert_near(clock_.total_ns, 1102 * US);
	assert_near(read_clock_error(&clock_, &cost), 0);
}

TEST(test_fault_waits_for_a_page_in_flight)
{
	const struct fault_work mark = work(FAULT_READAHEAD, 9, 10);
	const struct fault_work minor = work(FAULT_LONG, 12, 0);
	const struct access_time times[] = { { .start_ns = 100 * US, .ns = 10 * US },
					     { .start_ns = 150 * US, .ns = 10 * US } };

	learn_device();
	cost.overhead_ns = 0;
	read_clock_pass(&clock_, &cost, &times[0]);
	read_clock_take(&clock_, &cost, &mark);
	assert_near(clock_.total_ns, 15 * US);
	assert_near(read_clock_rest(&clock_, &file, 12), 105 * US);
	assert_near(read_clock_rest(&clock_, &file, 20), 0);
	/* The program itself takes 40 us until the next fault. */
	read_clock_pass(&clock_, &cost, &times[1]);
	read_clock_take(&clock_, &cost, &minor);
	assert_near(clock_.total_ns, (15 + 65 + 2) * US);
}

TEST(test_wait_for_another_read_is_not_the_cost_of_a_minor_fault)
{
	struct fault_work mark, minor;

	learn_device();
	mark = work(FAULT_READAHEAD, 9, 10);
	learn(&mark, 15 * US, ACCESS_NS_UNKNOWN);
	minor = work(FAULT_LONG, 12, 0);
	recorded.flights[0].ready_ns += 2000 * US;
	learn(&minor, 90 * US, ACCESS_NS_UNKNOWN);
	assert_near(cost.minor_ns, 2 * US);
}

static void learn_one_size(unsigned int reads)
{
	const struct fault_work read = work(FAULT_DISK, 0, 32), minor = work(FAULT_LONG, 1000, 0);

	cost = (struct read_cost){ 0 };
	recorded = (struct read_clock){ 0 };
	learn(&minor, 2 * US, 2 * US);
	while (reads--)
		learn(&read, 162 * US, 34 * US);
}

TEST(test_reads_of_one_size_give_a_range_for_others)
{
	learn_one_size(10);
	ck_assert(read_cost_is_range(&cost));
	assert_near(read_cost_major(&cost, 32, false), 162 * US);
	assert_near(read_cost_major(&cost, 32, true), 162 * US);
	assert_near(read_cost_major(&cost, 8, false), (10 + 32) * US);
	assert_near(read_cost_major(&cost, 8, true), (10 + 128) * US);
	assert_near(read_cost_major(&cost, 64, false), (66 + 128) * US);
	assert_near(read_cost_major(&cost, 64, true), (66 + 256) * US);
}

TEST(test_one_read_gives_a_wide_range)
{
	learn_one_size(1);
	assert_near(read_cost_major(&cost, 32, false), 34 * US);
	assert_near(read_cost_major(&cost, 32, true), (34 + 256) * US);
}

TEST(test_reads_of_many_sizes_give_no_range)
{
	learn_device();
	ck_assert(!read_cost_is_range(&cost));
	assert_near(read_cost_major(&cost, 500, true), 1100 * US);
}

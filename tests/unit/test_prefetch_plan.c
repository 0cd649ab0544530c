// SPDX-License-Identifier: GPL-2.0-only
/* The extents of a prefetch list: which pages, in which order, and what each saves. */
#include <string.h>

#include "random.h"
#include "runner.h"
#include "apps/prefetch/prefetch.h"

static struct prefetch_plan plan;

static void use(uint32_t run, uint32_t rank, uint32_t file, uint64_t pgoff, uint64_t ns)
{
	const struct prefetch_use added = {
		.pgoff = pgoff,
		.fault_ns = ns,
		.file = file,
		.run = run,
		.rank = rank,
	};

	ck_assert_int_eq(prefetch_plan_add(&plan, &added), 0);
}

static void make(unsigned int runs, unsigned int min_runs)
{
	ck_assert_int_eq(prefetch_plan_make(&plan, runs, min_runs), 0);
}

static void check(size_t index, uint32_t file, uint64_t pgoff, uint64_t pages)
{
	ck_assert_uint_lt(index, plan.nr_extents);
	ck_assert_uint_eq(plan.extents[index].file, file);
	ck_assert_uint_eq(plan.extents[index].pgoff, pgoff);
	ck_assert_uint_eq(plan.extents[index].pages, pages);
}

static void teardown(void)
{
	prefetch_plan_exit(&plan);
}

TEST(test_pages_that_follow_each_other_become_one_extent_at_the_first_use)
{
	use(0, 0, 1, 50, 0);
	use(0, 1, 0, 12, 0);
	use(0, 2, 0, 10, 0);
	use(0, 3, 0, 11, 0);
	use(0, 4, 0, 14, 0);
	make(1, 1);
	ck_assert_uint_eq(plan.nr_extents, 3);
	check(0, 1, 50, 1);
	check(1, 0, 10, 3);
	check(2, 0, 14, 1);
}

TEST(test_an_extent_ends_at_each_mebibyte)
{
	uint64_t page;

	for (page = 250; page < 520; page++)
		use(0, 1000 - page, 0, page, 1);
	make(1, 1);
	ck_assert_uint_eq(plan.nr_extents, 3);
	check(0, 0, 512, 8);
	check(1, 0, 256, 256);
	check(2, 0, 250, 6);
}

TEST(test_pages_of_too_few_recordings_are_left_out)
{
	use(0, 0, 0, 1, 0);
	use(1, 0, 0, 1, 0);
	use(2, 0, 0, 2, 0);
	make(3, 2);
	ck_assert_uint_eq(plan.nr_extents, 1);
	check(0, 0, 1, 1);
	ck_assert_uint_eq(plan.pages_seen, 2);
}

TEST(test_the_order_is_that_of_the_median_rank)
{
	/* Page 10 is first in one recording, and late in the two others. */
	use(0, 0, 0, 10, 0);
	use(1, 90, 0, 10, 0);
	use(2, 80, 0, 10, 0);
	use(0, 5, 0, 20, 0);
	use(1, 5, 0, 20, 0);
	use(2, 99, 0, 20, 0);
	use(0, 40, 0, 30, 0);
	use(1, 43, 0, 30, 0); /* in two: 41.5 */
	make(3, 2);
	check(0, 0, 20, 1);
	check(1, 0, 30, 1);
	ck_assert_uint_eq(plan.extents[1].rank, 83);
	check(2, 0, 10, 1);
}

/* The pages from run 0, in shuffled order. */
static void add_shuffled(uint64_t seed, uint32_t runs)
{
	struct prefetch_use uses[300], swap;
	uint64_t state = 1;
	unsigned int i, j;

	for (i = 0; i < 300; i++)
		uses[i] = (struct prefetch_use){
			.pgoff = random_next(&state) % 100,
			.file = random_next(&state) % 5,
			.rank = random_next(&state) % 300,
			.fault_ns = random_next(&state) % 10000,
			.run = i % runs,
		};
	for (i = 299; i; i--) {
		j = random_next(&seed) % (i + 1);
		swap = uses[i];
		uses[i] = uses[j];
		uses[j] = swap;
	}
	for (i = 0; i < 300; i++)
		ck_assert_int_eq(prefetch_plan_add(&plan, &uses[i]), 0);
}

/* The padding in an extent may differ. */
static void check_equal(const struct prefetch_extent *a, const struct prefetch_extent *b)
{
	ck_assert_uint_eq(a->pgoff, b->pgoff);
	ck_assert_uint_eq(a->pages, b->pages);
	ck_assert_uint_eq(a->rank, b->rank);
	ck_assert_uint_eq(a->fault_ns, b->fault_ns);
	ck_assert_uint_eq(a->read_ns, b->read_ns);
	ck_assert_uint_eq(a->file, b->file);
	ck_assert_int_eq(a->kept, b->kept);
}

TEST(test_the_list_does_not_depend_on_the_order_of_the_input)
{
	struct prefetch_plan first;
	uint64_t seed;
	size_t i;

	add_shuffled(1, 3);
	make(3, 1);
	first = plan;
	for (seed = 2; seed < 10; seed++) {
		plan = (struct prefetch_plan){ 0 };
		add_shuffled(seed, 3);
		make(3, 1);
		ck_assert_uint_eq(plan.nr_extents, first.nr_extents);
		for (i = 0; i < first.nr_extents; i++)
			check_equal(&plan.extents[i], &first.extents[i]);
		prefetch_plan_exit(&plan);
	}
	plan = first;
}

static void add_three_extents(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++)
		use(0, i, 0, i, 10); /* 100 ns in 10 pages */
	use(0, 10, 1, 0, 500);
	for (i = 0; i < 5; i++)
		use(0, 11 + i, 2, i, 80); /* 400 ns in 5 pages */
	make(1, 1);
	ck_assert_uint_eq(plan.nr_extents, 3);
}

TEST(test_the_curve_begins_with_the_extents_that_save_most_for_their_size)
{
	static const unsigned int percents[] = { 0, 50, 51, 90, 91, 100 };
	static const uint64_t pages[] = { 0, 1, 6, 6, 16, 16 };
	struct prefetch_sum sums[6];
	unsigned int i;

	add_three_extents();
	ck_assert_int_eq(prefetch_plan_curve(&plan, percents, 6, sums), 0);
	for (i = 0; i < 6; i++)
		ck_assert_uint_eq(sums[i].pages, pages[i]);
	ck_assert_uint_eq(sums[5].fault_ns, 1000);
	ck_assert_uint_eq(sums[2].extents, 2);
}

TEST(test_a_cut_keeps_the_best_extents_and_the_order)
{
	struct prefetch_sum kept, cut;

	add_three_extents();
	ck_assert_int_eq(prefetch_plan_cut(&plan, 6), 0);
	kept = prefetch_plan_sum(&plan, true);
	cut = prefetch_plan_sum(&plan, false);
	ck_assert(!plan.extents[0].kept && plan.extents[1].kept && plan.extents[2].kept);
	ck_assert_uint_eq(kept.pages, 6);
	ck_assert_uint_eq(kept.fault_ns, 900);
	ck_assert_uint_eq(cut.pages, 10);
	/* An extent too large to fit leaves space for the next. */
	ck_assert_int_eq(prefetch_plan_cut(&plan, 14), 0);
	kept = prefetch_plan_sum(&plan, true);
	ck_assert_uint_eq(kept.pages, 6);
	ck_assert_int_eq(prefetch_plan_cut(&plan, 11), 0);
	ck_assert_uint_eq(prefetch_plan_sum(&plan, true).pages, 6);
	ck_assert_int_eq(prefetch_plan_cut(&plan, 16), 0);
	ck_assert_uint_eq(prefetch_plan_sum(&plan, true).pages, 16);
	ck_assert_int_eq(prefetch_plan_cut(&plan, 0), 0);
	ck_assert_uint_eq(prefetch_plan_sum(&plan, true).pages, 0);
}

TEST(test_the_time_is_the_mean_over_all_recordings)
{
	use(0, 0, 0, 1, 900);
	use(1, 0, 0, 1, 600);
	make(3, 1); /* the third one did not need the page */
	ck_assert_uint_eq(plan.extents[0].fault_ns, 500);
}

TEST(test_no_page_makes_an_empty_plan)
{
	static const unsigned int percents[] = { 100 };
	struct prefetch_sum sum;

	make(1, 1);
	ck_assert_uint_eq(plan.nr_extents, 0);
	ck_assert_int_eq(prefetch_plan_cut(&plan, 1), 0);
	ck_assert_int_eq(prefetch_plan_curve(&plan, percents, 1, &sum), 0);
	ck_assert_uint_eq(sum.pages, 0);
}

FIXTURE(NULL, teardown);

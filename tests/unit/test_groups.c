// SPDX-License-Identifier: GPL-2.0-only
/* Fault sums by key, with a bounded number of groups. */
#include <errno.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/groups/groups.h"

static struct groups *groups;

static struct cell *add(const struct group_key *key, uint64_t whole_ns, bool major)
{
	struct explained fault = {
		.class = FAULT_ANON,
		.start_ns = 100,
		.end_ns = 100 + whole_ns,
		.major = major,
		.nr_spans = 1,
	};
	struct cell *made;

	fault.parts_ns[PART_DEVICE] = whole_ns / 2;
	fault.parts_ns[PART_CPU_BEFORE] = whole_ns - whole_ns / 2;
	ck_assert_int_eq(groups_add(groups, key, &fault, &made), 0);
	return made;
}

TEST(test_groups_sum_counts_and_times)
{
	const struct group_key key = { .inode = 5, .dev = 1 }, other = { .inode = 6, .dev = 1 };
	const struct cell *cell;

	groups = groups_new(GROUPS_MAX);
	ck_assert_ptr_null(groups_find(groups, &key));
	ck_assert_ptr_nonnull(add(&key, 100, true));
	ck_assert_ptr_nonnull(add(&other, 7, false));
	ck_assert_ptr_null(add(&key, 300, false)); /* the group exists already */
	ck_assert_ptr_null(add(&key, 200, true));
	ck_assert_uint_eq(groups_count(groups), 2);
	ck_assert_ptr_null(groups_others(groups));
	cell = groups_find(groups, &key);
	ck_assert_uint_eq(cell->faults, 3);
	ck_assert_uint_eq(cell->major, 2);
	ck_assert_uint_eq(cell->total_ns, 600);
	ck_assert_uint_eq(cell->max_ns, 300);
	ck_assert_uint_eq(cell->parts_ns[PART_DEVICE], 300);
	ck_assert_uint_eq(cell->parts_ns[PART_CPU_BEFORE], 300);
	ck_assert_uint_eq(cell->classes[FAULT_ANON], 3);
	ck_assert_uint_eq(cell->classes[FAULT_SWAP], 0);
	groups_free(groups);
}

static void add_read(const struct group_key *key, uint64_t page, uint32_t bytes)
{
	struct explained fault = {
		.class = FAULT_DISK,
		.start_ns = 100,
		.end_ns = 101,
		.pgoff = page,
		.request = { .event.size = bytes ? sizeof(fault.request) : 0, .bytes = bytes },
	};
	struct cell *made;

	ck_assert_int_eq(groups_add(groups, key, &fault, &made), 0);
}

TEST(test_reads_of_next_pages_are_counted_in_four_places)
{
	static const uint64_t pages[] = { 0, 1, 100, 2, 101, 200, 300, 3, 104, 400, 500, 301 };
	const struct group_key key = { .inode = 5, .dev = 1 };
	const struct cell *cell;
	size_t i;

	groups = groups_new(GROUPS_MAX);
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		add_read(&key, pages[i], i ? 4096 : 0);
	cell = groups_find(groups, &key);
	ck_assert_uint_eq(cell->classes[FAULT_DISK], 12);
	ck_assert_uint_eq(cell->reads.next, 4); /* 1, 2, 101 and 3. 300 was forgotten */
	ck_assert_uint_eq(cell->reads.requests, 11);
	ck_assert_uint_eq(cell->reads.bytes, 11 * 4096);
	groups_free(groups);
}

/*
 * A key that differs in one field is another group. All fields but `path` and `pid` have a low and
 * a high half.
 */
TEST(test_every_field_of_the_key_counts)
{
	static const struct group_key keys[] = {
		{ 0 },
		{ .address = 1 },
		{ .address = 1ULL << 40 },
		{ .end = 1 },
		{ .end = 1ULL << 40 },
		{ .inode = 1 },
		{ .dev = 1 },
		{ .inode = 1ULL << 40 },
		{ .dev = 1 << 20 },
		{ .pid = 1 },
		{ .tid = 1 },
		{ .path = 1 },
	};
	const size_t nr = sizeof(keys) / sizeof(keys[0]);
	size_t i;

	groups = groups_new(GROUPS_MAX);
	for (i = 0; i < nr; i++)
		ck_assert_ptr_nonnull(add(&keys[i], i + 1, false));
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(groups_find(groups, &keys[i])->total_ns, i + 1);
	ck_assert_uint_eq(groups_count(groups), nr);
	groups_free(groups);
}

TEST(test_keys_with_equal_hashes_are_separate_groups)
{
	/* The hash is the exclusive or of the fields, so both keys have the same hash. */
	const struct group_key a = { .inode = 1 }, b = { .address = 1 << 20 },
			       c = { .end = 1 << 19 };

	groups = groups_new(GROUPS_MAX);
	add(&a, 10, false);
	add(&b, 20, false);
	add(&c, 30, false);
	add(&a, 1, false);
	add(&b, 2, false);
	ck_assert_uint_eq(groups_find(groups, &a)->total_ns, 11);
	ck_assert_uint_eq(groups_find(groups, &b)->total_ns, 22);
	ck_assert_uint_eq(groups_find(groups, &c)->total_ns, 30);
	ck_assert_uint_eq(groups_count(groups), 3);
	groups_free(groups);
}

static int sum_up(void *context, struct cell *cell)
{
	uint64_t *sums = context;

	sums[0] += cell->faults;
	sums[1] += cell->total_ns;
	return 0;
}

#define SMALL_MAX 64U
#define NR_KEYS	  1000U
#define NR_ORDERS 6

/* For each key, since the start and since the key's row was made. */
static uint64_t true_ns[NR_KEYS], row_ns[NR_KEYS];

static void add_counted(uint32_t number, uint64_t ns)
{
	const struct group_key key = { .tid = 1 + number };

	if (add(&key, ns, false))
		row_ns[number] = 0;
	row_ns[number] += ns;
	true_ns[number] += ns;
}

/* The order in which groups arrive, and what each fault costs. */
static void add_in_order(int order, uint32_t i, uint64_t random)
{
	const bool resident = i < SMALL_MAX / 2, drop = i % 40 == 39;

	if (order == 0) /* each once, then ten of them */
		add_counted(i < NR_KEYS ? i : i % 10, 1 + random % 100);
	else if (order == 1) /* the costliest last */
		add_counted(i * (uint64_t)NR_KEYS / 20000, i);
	else if (order == 2) /* the costliest first */
		add_counted(i * (uint64_t)NR_KEYS / 20000, 20000 - i);
	else if (order == 3) /* half the table is full of costly ones, and one comes drop by drop */
		add_counted(resident ? i :
			    drop     ? NR_KEYS - 1 :
				       SMALL_MAX + random % 900,
			    resident ? 20000 :
			    drop     ? 100 :
				       1);
	else if (order == 4) /* no time at all */
		add_counted(random % NR_KEYS, 0);
	else /* random, small numbers more often */
		add_counted(random % NR_KEYS * (random >> 32 & 0xffff) >> 16, random >> 50);
}

static void check_order(int order)
{
	uint64_t sums[2] = { 0 }, state = 1, total_ns = 0;
	struct groups_folded folded;
	const struct cell *cell;
	uint32_t i;

	memset(true_ns, 0, sizeof(true_ns));
	groups = groups_new(SMALL_MAX);
	for (i = 0; i < 20000; i++)
		add_in_order(order, i, random_next(&state));
	for (i = 0; i < NR_KEYS; i++)
		total_ns += true_ns[i];
	groups_folded(groups, &folded);
	ck_assert_uint_gt(folded.groups, 0);
	ck_assert_uint_le(folded.max_ns, 2 * total_ns / SMALL_MAX);
	for (i = 0; i < NR_KEYS; i++) {
		cell = groups_find(groups, &(struct group_key){ .tid = 1 + i });
		ck_assert_uint_le(true_ns[i] - (cell ? cell->total_ns : 0),
				  cell ? cell->floor_ns : folded.max_ns);
		if (cell)
			ck_assert_uint_eq(cell->total_ns, row_ns[i]);
	}
	groups_visit(groups, sum_up, sums);
	ck_assert_uint_eq(sums[0] + groups_others(groups)->faults, 20000);
	ck_assert_uint_eq(sums[1] + groups_others(groups)->total_ns, total_ns);
	ck_assert_uint_le(groups_count(groups), SMALL_MAX);
	groups_free(groups);
}

TEST(test_each_group_above_the_share_has_a_row_in_any_order)
{
	int order;

	for (order = 0; order < NR_ORDERS; order++)
		check_order(order);
}

TEST(test_costly_newcomer_gets_a_row_in_a_full_table)
{
	const struct group_key hot = { .tid = 1 << 20 };
	uint32_t i;

	groups = groups_new(GROUPS_MAX);
	for (i = 0; i < GROUPS_MAX + 1000; i++)
		add(&(struct group_key){ .tid = 1 + i }, 1000, false);
	ck_assert_ptr_nonnull(add(&hot, 1000000, false));
	for (i = 0; i < 3 * GROUPS_MAX; i++)
		add(&(struct group_key){ .pid = 2, .tid = 1 + i }, 1000, false);
	ck_assert_uint_eq(groups_find(groups, &hot)->total_ns, 1000000);
	groups_free(groups);
}

/* An exited thread gets no more faults. */
TEST(test_closed_groups_are_folded_before_live_ones)
{
	uint32_t i;

	groups = groups_new(SMALL_MAX);
	for (i = 0; i < SMALL_MAX; i++)
		add(&(struct group_key){ .tid = 1 + i }, 100 - i, false);
	for (i = 0; i < SMALL_MAX; i += 2)
		ck_assert_int_eq(groups_close(groups, &(struct group_key){ .tid = 1 + i }), 0);
	add(&(struct group_key){ .tid = 1 + SMALL_MAX }, 1, false);
	for (i = 1; i < SMALL_MAX; i += 2)
		ck_assert_ptr_nonnull(groups_find(groups, &(struct group_key){ .tid = 1 + i }));
	ck_assert_uint_eq(groups_count(groups), SMALL_MAX - SMALL_MAX / 4 + 1);
	ck_assert_uint_eq(groups_others(groups)->faults, SMALL_MAX / 4);
	groups_free(groups);
}

static int stop(void *context, struct cell *cell)
{
	(void)cell;
	return ++*(int *)context == 2 ? -ECANCELED : 0;
}

TEST(test_a_visit_may_stop_early)
{
	int visited = 0;
	uint32_t i;

	groups = groups_new(GROUPS_MAX);
	for (i = 0; i < 5; i++)
		add(&(struct group_key){ .tid = i }, 1, false);
	ck_assert_int_eq(groups_visit(groups, stop, &visited), -ECANCELED);
	ck_assert_int_eq(visited, 2);
	groups_free(groups);
	groups_free(NULL);
}

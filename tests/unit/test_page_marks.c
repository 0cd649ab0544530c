// SPDX-License-Identifier: GPL-2.0-only
/* Runs of marks equal an array with one mark per page. */
#include "random.h"
#include "runner.h"
#include "user/analyze/pages/page_chunks.h"

#define ALL 64U

static struct page_marks marks;
static uint16_t expected[ALL];

static void set(uint32_t at, uint32_t nr, uint16_t mark)
{
	uint32_t i;

	ck_assert_int_eq(page_marks_set(&marks, at, nr, ALL, mark), 0);
	for (i = at; i < at + nr; i++)
		expected[i] = mark;
}

static void check_equal(void)
{
	uint32_t at, length, i, runs = 0;
	uint16_t mark;

	for (at = 0; at < ALL; at += length, runs++) {
		length = page_marks_run(&marks, at, ALL - at, &mark);
		ck_assert_uint_gt(length, 0);
		for (i = at; i < at + length; i++)
			ck_assert_uint_eq(expected[i], mark);
		ck_assert(at + length == ALL || expected[at + length] != mark);
	}
	ck_assert(!marks.nr || marks.nr == runs);
	ck_assert_uint_le(marks.nr, marks.capacity);
}

static uint16_t without_3(const void *context, uint16_t mark)
{
	return mark == *(const uint16_t *)context ? 1 : mark;
}

TEST(test_runs_equal_a_mark_for_each_page)
{
	const uint16_t three = 3;
	uint64_t state = 1, random;
	uint32_t at, i, page;

	memset(expected, 0, sizeof(expected));
	check_equal();
	for (i = 0; i < 20000; i++) {
		random = random_next(&state);
		at = random % ALL;
		set(at, (random >> 8) % (ALL - at + 1), (random >> 20) % 4);
		if (i % 50 == 0) {
			page_marks_change(&marks, without_3, &three);
			for (page = 0; page < ALL; page++)
				expected[page] = expected[page] == 3 ? 1 : expected[page];
		}
		check_equal();
	}
	page_marks_exit(&marks);
}

TEST(test_chunk_with_equal_marks_takes_one_run)
{
	memset(expected, 0, sizeof(expected));
	set(3, 10, 0);
	ck_assert_uint_eq(page_marks_bytes(&marks), 0);
	set(0, ALL, 7);
	ck_assert_uint_eq(marks.nr, 1);
	set(5, 1, 8);
	ck_assert_uint_eq(marks.nr, 3);
	set(5, 1, 7);
	ck_assert_uint_eq(marks.nr, 1);
	check_equal();
	page_marks_exit(&marks);
}

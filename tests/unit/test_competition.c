// SPDX-License-Identifier: GPL-2.0-only
/*
 * The competition study: size parsing, counts from the kernel's files, the matrix of swapped pages.
 */
#include <stdio.h>
#include <string.h>

#include "bench/pressure/compete_options.h"
#include "bench/pressure/competition.h"
#include "runner.h"

TEST(test_a_size_has_a_unit_and_a_ratio_does_not)
{
	struct compete_options options = { 0 };

	ck_assert_int_eq(compete_options_parse("96M", &options), 0);
	ck_assert_uint_eq(options.bytes, 96 << 20);
	ck_assert(!options.sequential);
	ck_assert_int_eq(compete_options_parse("1.5:sequential", &options), 0);
	ck_assert_uint_eq(options.bytes, 0);
	ck_assert_double_eq(options.ratio, 1.5);
	ck_assert(options.sequential);
	ck_assert_int_eq(compete_options_parse("2:random", &options), 0);
	ck_assert_double_eq(options.ratio, 2);
	ck_assert(!options.sequential);
}

TEST(test_malformed_competitors_are_refused)
{
	static const char *const wrong[] = {
		"",
		":random",
		"0",
		"0M",
		"-1",
		"1e3",
		"0x2",
		"inf",
		"nan",
		"1..5",
		"5%",
		"96m",
		"1.5M",
		"3K",
		"1001",
		"96M:",
		"96M:backwards",
		"M",
		".",
		"99999999999G",
		"123456789012345678901234567890123",
	};
	struct compete_options options;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(compete_options_parse(wrong[i], &options), "'%s' was taken",
			      wrong[i]);
}

static void read_text(const char *text, enum competition_file which, uint64_t *counts)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");

	competition_read(file, which, counts);
	fclose(file);
}

TEST(test_counts_in_kernel_files_are_found_by_name)
{
	uint64_t before[NR_COMPETITION_FIGURES], after[NR_COMPETITION_FIGURES];
	struct competition_side side;

	competition_side_init(&side);
	read_text("anon 5\npgmajfault 7\npgmajfault_other 9\n", COMPETITION_MEMORY_STAT, before);
	read_text("pswpin 10\npswpout 20\n", COMPETITION_VMSTAT, before);
	competition_read(NULL, COMPETITION_MEMORY_EVENTS, before);
	read_text("pgmajfault 17\npgscan 3\n", COMPETITION_MEMORY_STAT, after);
	read_text("pswpin 14\npswpout 20\n", COMPETITION_VMSTAT, after);
	competition_read(NULL, COMPETITION_MEMORY_EVENTS, after);
	competition_between(before, after, &side);
	ck_assert_uint_eq(side.figures[COMPETITION_GROUP_MAJFLT], 10);
	ck_assert_uint_eq(side.figures[COMPETITION_PSWPIN], 4);
	ck_assert_uint_eq(side.figures[COMPETITION_PSWPOUT], 0);
	/* A count that was missing before, or is always missing, is unknown, not 0. */
	ck_assert_uint_eq(side.figures[COMPETITION_SCANNED], COUNT_NA);
	ck_assert_uint_eq(side.figures[COMPETITION_LIMIT_HITS], COUNT_NA);
	ck_assert_uint_eq(side.figures[COMPETITION_MAJFLT], COUNT_NA);
}

TEST(test_every_figure_has_a_name_and_a_source)
{
	const struct competition_name *name;

	for (name = competition_names; name < competition_names + NR_COMPETITION_FIGURES; name++) {
		ck_assert_ptr_nonnull(name->key);
		ck_assert_ptr_nonnull(name->name);
		ck_assert_ptr_nonnull(name->source);
		ck_assert(!name->file == !name->line);
	}
}

TEST(test_matrix_of_roles_adds_up_to_all_pages)
{
	static const pid_t competitors[] = { 20, 21 };
	struct swap_row rows[] = {
		{ .pair = { 10, 10 }, .evictor_name = "pfdrive", .pages = 1 },
		{ .pair = { 20, 10 }, .evictor_name = "competitor1", .pages = 2 },
		{ .pair = { 21, 20 }, .evictor_name = "competitor2", .pages = 4 },
		{ .pair = { 60, 21 }, .evictor_name = "kswapd0", .pages = 8 },
		{ .pair = { 70, 71 }, .evictor_name = "bash", .pages = 16 },
		{ .pair = { 72, 71 }, .evictor_name = "", .pages = 32 },
		{ .pair = { 20, 0 }, .evictor_name = "competitor1", .pages = 64 },
	};
	const struct run_counters counters = {
		.swap = { .evicted = 200, .read = 130, .not_seen = 3 },
		.swap_rows = rows,
		.nr_swap_rows = sizeof(rows) / sizeof(rows[0]),
	};
	struct swap_matrix matrix;
	char buffer[32];

	swap_matrix_make(&matrix, &counters, 10, competitors, 2);
	ck_assert_uint_eq(matrix.pages[SWAP_RUN][SWAP_RUN], 1);
	ck_assert_uint_eq(matrix.pages[SWAP_COMPETITOR][SWAP_RUN], 2);
	ck_assert_uint_eq(matrix.pages[SWAP_COMPETITOR + 1][SWAP_COMPETITOR], 4);
	ck_assert_uint_eq(matrix.pages[SWAP_KSWAPD][SWAP_COMPETITOR + 1], 8);
	ck_assert_uint_eq(matrix.pages[SWAP_OTHERS][SWAP_OTHERS], 48);
	ck_assert_uint_eq(matrix.pages[SWAP_COMPETITOR][SWAP_SEVERAL], 64);
	ck_assert_uint_eq(swap_matrix_sum(&matrix) + matrix.not_seen, matrix.read);
	ck_assert_str_eq(swap_role_name(SWAP_COMPETITOR + 1, buffer, sizeof(buffer)),
			 "competitor 2");
	ck_assert(swap_role_owns(&matrix, SWAP_COMPETITOR + 1));
	ck_assert(!swap_role_owns(&matrix, SWAP_COMPETITOR + 2));
	ck_assert(!swap_role_owns(&matrix, SWAP_KSWAPD) && swap_role_evicts(&matrix, SWAP_KSWAPD));
	ck_assert(!swap_role_evicts(&matrix, SWAP_SEVERAL));
}

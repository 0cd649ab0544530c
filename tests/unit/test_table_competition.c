// SPDX-License-Identifier: GPL-2.0-only
/* Results of a competition as table and as JSON: unknown values are not 0, and sums are printed. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pressure/competition.h"
#include "bench/pressure/json_competition.h"
#include "runner.h"
#include "user/print/text/table.h"

static struct competition competitions[2];
static struct report reports[2];
static struct view views[2];
static char *text;

static void make(void)
{
	struct competition *competition;
	size_t i;

	setlocale(LC_CTYPE, "C.UTF-8");
	for (i = 0; i < 2; i++) {
		competition = &competitions[i];
		*competition = (struct competition){
			.bytes = 12 << 20,
			.random = true,
			.nr = 1,
			.limit = 16 << 20,
			.swap_bytes = 128 << 20,
			.have_matrix = true,
			.competitors = { { .minflt = 11, .majflt = 500 + i, .accesses = 9000 } },
			.matrix = { .nr = 1, .read = 10, .not_seen = 3, .evicted = 20 },
		};
		competition_side_init(&competition->alone);
		competition_side_init(&competition->with);
		competition->alone.figures[COMPETITION_MAJFLT] = 40;
		competition->with.figures[COMPETITION_MAJFLT] = 100 + 20 * i;
		competition->with.figures[COMPETITION_ELAPSED] = 1500000;
		competition->alone.faults[FAULT_SWAP] = 0;
		competition->with.faults[FAULT_SWAP] = 70;
		competition->with.major[FAULT_SWAP] = 60;
		competition->matrix.pages[SWAP_RUN][SWAP_COMPETITOR] = 2;
		competition->matrix.pages[SWAP_COMPETITOR][SWAP_SEVERAL] = 5;
		reports[i].extras.study = &competition->study;
		views[i].run = &reports[i];
	}
}

static void print(size_t nr)
{
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	fputc('\n', out); /* so all lines begin alike */
	ck_assert_int_eq(table_competition(out, views, nr), 0);
	fclose(out);
}

/* The words on the line with this beginning, separated by single spaces. */
static void check_line(const char *begin, const char *expected)
{
	char words[256] = "", start[64], *word, *copy, *end;
	const char *line;

	snprintf(start, sizeof(start), "\n%s", begin);
	line = strstr(text, start);
	ck_assert_msg(line, "no line '%s' in\n%s", begin, text);
	copy = strndup(line + 1, strcspn(line + 1, "\n"));
	for (word = strtok_r(copy, " ", &end); word; word = strtok_r(NULL, " ", &end)) {
		if (words[0])
			strcat(words, " ");
		strcat(words, word);
	}
	ck_assert_str_eq(words, expected);
	free(copy);
}

TEST(test_table_of_one_run_has_all_figures)
{
	make();
	print(1);
	check_line("Competition:", "Competition: 1 × 12.0 MiB, pages at random, every eighth "
				   "access a store; all under a 16.0 MiB limit;");
	check_line("accesses, ms", "accesses, ms n/a 1.50 the clock");
	check_line("majflt  ", "majflt 40 100 getrusage(2), the run's thread");
	check_line("pswpin", "pswpin n/a n/a /proc/vmstat, the machine");
	check_line("swap    ", "swap 0 n/a 70 60");
	check_line("competitor 1  ", "competitor 1 500 11 9000");
	check_line("the run  ", "the run 0 2 0 0 2");
	check_line("Read from swap",
		   "Read from swap: 10 pages; the eviction of 3 of them was not seen, for example "
		   "before the run");
}

TEST(test_table_of_two_runs_has_means_and_deviations)
{
	make();
	print(2);
	check_line("majflt  ", "majflt 40.0 ± 0.0 110.0 ± 14.1 getrusage(2), the run's thread");
	check_line("competitor 1  ", "competitor 1 500.5 ± 0.7 11.0 ± 0.0 9000.0 ± 0.0");
	check_line("pswpin", "pswpin n/a n/a /proc/vmstat, the machine");
}

TEST(test_matrix_needs_its_hooks)
{
	make();
	competitions[0].have_matrix = false;
	competitions[0].limit = COUNT_NA;
	print(1);
	ck_assert_ptr_nonnull(strstr(text, "Pages swapped out and read again: n/a"));
	ck_assert_ptr_nonnull(strstr(text, "NO LIMIT (--unsafe)"));
	ck_assert_ptr_null(strstr(text, "Read from swap"));
}

TEST(test_json_adds_up_and_unknown_values_are_null)
{
	json_t *json, *side, *swapped;

	make();
	json = json_competition(reports[0].extras.study);
	ck_assert_ptr_nonnull(json);
	side = json_object_get(json_object_get(json, "with"), "figures");
	ck_assert_uint_eq(json_object_size(side), NR_COMPETITION_FIGURES);
	ck_assert_int_eq(json_integer_value(json_object_get(side, "majflt")), 100);
	ck_assert(json_is_null(json_object_get(side, "pswpin")));
	swapped = json_object_get(json, "swapped");
	ck_assert_uint_eq(json_object_size(json_object_get(swapped, "evicted_by")), 4);
	swapped = json_object_get(json_object_get(swapped, "evicted_by"), "competitor 1");
	ck_assert_int_eq(json_integer_value(json_object_get(swapped, "several")), 5);
	ck_assert_ptr_null(json_object_get(swapped, "kswapd"));
	json_decref(json);
	competitions[0].have_matrix = false;
	json = json_competition(reports[0].extras.study);
	ck_assert(json_is_null(json_object_get(json, "swapped")));
	json_decref(json);
}

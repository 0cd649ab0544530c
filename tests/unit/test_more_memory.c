// SPDX-License-Identifier: GPL-2.0-only
/* How the text and the verdict report the curve of more memory, with and without swap-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_verdict.h"
#include "user/print/text/table.h"

/* 1 MiB more avoids a part of the faults, 2 MiB all. */
static void curve_begin(struct sample *s, uint64_t faults, uint64_t swap_ins)
{
	struct evictions_figures *evictions = &s->report.pages.evictions;

	sample_begin(s);
	evictions->curve.figures = (struct memory_curve_figures){
		.faults = faults, .total_ns = faults * 90000, .one_of = 1, .most_out = 512
	};
	evictions->curve.points[0] = (struct memory_curve_point){ .pages = 256,
								  .least = { 0.5, 0.5 },
								  .most = { 0.75, 0.75 } };
	evictions->curve.points[1] =
		(struct memory_curve_point){ .pages = 512, .least = { 1, 1 }, .most = { 1, 1 } };
	evictions->curve.nr_points = 2;
	evictions->swaps.faults = swap_ins;
	evictions->swaps.pages = 2 * swap_ins;
	add_class(s, FAULT_SWAP, faults, PART_CPU_BEFORE, faults * 90000);
	s->report.faults.classes[FAULT_SWAP].major = swap_ins;
}

static void table_has(const struct sample *s, const char *text, bool has)
{
	size_t size = 0;
	char *printed = NULL;
	FILE *out = open_memstream(&printed, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(table_more_memory(out, &s->report), 0);
	fclose(out);
	ck_assert_msg(!!strstr(printed, text) == has, "'%s' in: %s", text, printed);
	free(printed);
}

static void remedy_has(struct sample *s, const char *text, bool has)
{
	judge(s);
	ck_assert_msg(!!strstr(cause_of(s, "swap")->remedy, text) == has, "'%s' in: %s", text,
		      cause_of(s, "swap")->remedy);
}

TEST(test_table_counts_the_swap_ins_among_the_faults)
{
	struct sample s;

	curve_begin(&s, 1000, 400);
	table_has(&s, "of 1000 faults on reclaimed pages in 90 ms, 400 of them swap-ins\n", true);
	table_has(&s, "not in this table", false);
	s.report.pages.evictions.swaps.unknown = 2;
	table_has(&s,
		  "2 swap-ins are not in this table: the page left before the recording or "
		  "by MADV_PAGEOUT, or processes share it since a fork.\n",
		  true);
	curve_begin(&s, 1000, 0);
	table_has(&s, "swap-in", false);
}

TEST(test_table_of_an_old_recording_states_that_it_has_no_swap_ins)
{
	static const char line[] = "Swap-ins are not in this table: it was not recorded which "
				   "pages were swapped out.\n";
	struct sample s;

	curve_begin(&s, 1000, 0);
	s.report.bpf.hooks &= ~(1U << HOOK_SWAP_OUT);
	table_has(&s, line, false);
	s.report.faults.classes[FAULT_SWAP].major = 1;
	table_has(&s, line, true);
}

TEST(test_remedy_of_swap_names_the_memory_that_avoids_the_swap_ins)
{
	struct sample s;

	curve_begin(&s, 1000, 1000);
	remedy_has(&s,
		   "raise the limit: 1 MiB more avoid 50 to 75 % of these faults, 2 MiB all; or "
		   "use less memory.",
		   true);
	s.report.pages.evictions.curve.points[0] = s.report.pages.evictions.curve.points[1];
	remedy_has(&s, "raise the limit: 2 MiB more avoid these faults; or", true);
	s.report.pages.evictions.swaps.by_others = 1000;
	remedy_has(&s, "raise the limit: at least 2 MiB more avoid these faults; or", true);
}

TEST(test_remedy_states_that_pfdrive_may_be_in_the_limited_cgroup)
{
	static const char note[] =
		"If pfdrive ran in the same cgroup, its memory is a part of that.";
	struct sample s;

	curve_begin(&s, 1000, 1000);
	strcpy(s.report.environment.command, "./server");
	remedy_has(&s, note, false); /* the limit is the memory of the machine */
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 1;
	remedy_has(&s, note, true);
	s.report.environment.command[0] = 0; /* it was attached */
	remedy_has(&s, note, false);
}

/* CPUs keep up to 64 charged pages each: 3 of 4 may have them when the fourth meets the limit. */
TEST(test_all_faults_also_need_memory_for_the_pages_that_cpus_charge_ahead)
{
	struct sample s;

	curve_begin(&s, 1000, 1000);
	s.report.environment.cpus = 4;
	remedy_has(&s, ", 2 MiB all; or", true);
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 1;
	remedy_has(&s, ": 1 MiB more avoid 50 to 75 % of these faults, 2.75 MiB all; or", true);
	table_has(&s, "2.8 MiB", true);
}

/* 512 pages out, of which 128 were counted: 3 * sqrt(128) of these, 4 pages each, are 136 pages. */
TEST(test_all_faults_also_need_memory_for_the_error_of_a_sample)
{
	struct sample s;

	curve_begin(&s, 1000, 1000);
	s.report.pages.evictions.curve.figures.one_of = 4;
	remedy_has(&s, ", 2.54 MiB all; or", true);
}

TEST(test_memory_for_all_faults_is_rounded_up)
{
	struct sample s;

	curve_begin(&s, 1000, 1000);
	s.report.pages.evictions.curve.points[1].pages = 2561;
	remedy_has(&s, ", 10.1 MiB all; or", true);
	s.report.pages.evictions.curve.points[1].pages = 316417;
	remedy_has(&s, ", 1237 MiB all; or", true);
}

TEST(test_remedy_of_swap_states_that_faults_on_files_are_among_them)
{
	struct sample s;

	curve_begin(&s, 1000, 900);
	remedy_has(&s, "50 to 75 % of the faults on reclaimed pages, 2 MiB all; or", true);
}

TEST(test_remedy_of_swap_names_no_memory_if_the_curve_lacks_swap_ins)
{
	struct sample s;

	curve_begin(&s, 1000, 1000);
	s.report.pages.evictions.swaps.unknown = 100;
	remedy_has(&s, "MiB", false);
	remedy_has(&s, "raise the limit or use less memory.", true);
	curve_begin(&s, 99, 99);
	add_class(&s, FAULT_SWAP, 0, PART_CPU_BEFORE, 500 * MS);
	remedy_has(&s, "MiB", false);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several counters count the same faults: each difference has a reason or is reported as
 * unexplained.
 */
#include <string.h>

#include "runner.h"
#include "user/analyze/accounts/ledger.h"

static struct run_counters counters;
static struct summary_figures figures;
static struct ledger ledger;

static __u64 *returns(enum pfstat_fault_kind kind, enum pfstat_fault_origin origin,
		      enum pfstat_fault_outcome outcome)
{
	return &counters.faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)].count;
}

/*
 * 100 hooked faults, 10 of them major, 50 anonymous, 5 copies, 7 by get_user_pages. All counts
 * agree.
 */
static void open_books(void)
{
	memset(&figures, 0, sizeof(figures));
	memset(&counters, 0, sizeof(counters));
	counters.have_bpf = true;
	counters.hooks = 1U << HOOK_FAULT;
	*returns(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MINOR) = 88;
	*returns(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_KERNEL, PFSTAT_OUTCOME_MINOR) = 2;
	*returns(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MAJOR) = 10;
	*returns(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_RETRY) = 10;
	*returns(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MINOR) = 43;
	*returns(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_GUP, PFSTAT_OUTCOME_MINOR) = 7;
	*returns(PFSTAT_FAULT_COW, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MINOR) = 5;
	*returns(PFSTAT_FAULT_FILE, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_ERROR) = 3;
	figures.faults = 100;
	figures.major = 10;
	figures.retried = 10;
	figures.classes[PFSTAT_CLASS_PASS].count = 20;
	figures.sequels = 4;
	counters.calls = 134;
	counters.lost = 0;
	counters.usage.minflt = 145;
	counters.usage.majflt = 10;
	counters.task_minor = 145;
	counters.task_major = 10;
	counters.perf_minor = 138;
	counters.perf_major = 10;
	counters.perf_faults = 151;
}

static const struct ledger_difference *find(const char *left, const char *right)
{
	size_t i;

	for (i = 0; i < ledger.nr_differences; i++)
		if (!strcmp(ledger.differences[i].left, left) &&
		    !strcmp(ledger.differences[i].right, right))
			return &ledger.differences[i];
	ck_abort_msg("no difference %s - %s", left, right);
	return NULL;
}

static int64_t reason(const struct ledger_difference *difference, const char *name)
{
	size_t i;

	for (i = 0; i < difference->nr_reasons; i++)
		if (strstr(difference->reasons[i].name, name))
			return difference->reasons[i].amount;
	return 0;
}

TEST(test_differences_of_a_complete_run_have_reasons)
{
	const struct ledger_difference *difference;
	size_t i, r;

	open_books();
	ledger_make(&ledger, &counters, &figures);
	ck_assert_uint_eq(ledger.unexplained, 0);
	for (i = 0; i < ledger.nr_differences; i++) {
		int64_t sum = ledger.differences[i].unexplained;

		ck_assert(ledger.differences[i].known);
		for (r = 0; r < ledger.differences[i].nr_reasons; r++)
			sum += ledger.differences[i].reasons[r].amount;
		ck_assert_int_eq(sum, ledger.differences[i].amount);
	}
	difference = find("wrapper calls", "logical faults");
	ck_assert_int_eq(difference->amount, 34);
	ck_assert_int_eq(reason(difference, "retried"), 10);
	ck_assert_int_eq(reason(difference, "passes"), 20);
	ck_assert_int_eq(reason(difference, "page_mkwrite"), 4);
	difference = find("minflt + majflt", "logical faults");
	ck_assert_int_eq(difference->amount, 55);
	ck_assert_int_eq(reason(difference, "anonymous"), 50);
	ck_assert_int_eq(reason(difference, "copy on write"), 5);
	difference = find("handle_mm_fault() minor", "minor-faults");
	ck_assert_int_eq(reason(difference, "get_user_pages"), 7);
	difference = find("page-faults", "minor-faults + major-faults");
	ck_assert_int_eq(reason(difference, "error"), 3);
}

TEST(test_difference_without_a_reason_is_unexplained)
{
	open_books();
	counters.usage.minflt += 2;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("minflt", "handle_mm_fault() minor")->unexplained, 2);
	/* The sum is larger by the same number. */
	ck_assert_int_eq(find("minflt + majflt", "logical faults")->unexplained, 2);
	ck_assert_uint_eq(ledger.unexplained, 4);
	counters.usage.minflt -= 4;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("minflt", "handle_mm_fault() minor")->unexplained, -2);
	ck_assert_uint_eq(ledger.unexplained, 4);
}

TEST(test_lost_records_hide_faults_but_no_more_than_were_lost)
{
	open_books();
	counters.lost = 3;
	counters.calls += 0;
	figures.faults -= 5; /* two more than lost records can explain */
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(reason(find("handle_mm_fault() minor, hooked", "logical faults, minor"),
				"lost"),
			 3);
	ck_assert_int_eq(find("handle_mm_fault() minor, hooked", "logical faults, minor")
				 ->unexplained,
			 2);
}

TEST(test_unfinished_chains_explain_missing_faults)
{
	open_books();
	figures.faults -= 1;
	figures.unfinished = 1;
	figures.retried += 0;
	counters.calls -= 1;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(reason(find("handle_mm_fault() minor, hooked", "logical faults, minor"),
				"mapped in the meantime"),
			 1);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

TEST(test_unknown_counts_are_not_compared)
{
	open_books();
	counters.perf_minor = COUNT_NA;
	counters.perf_major = COUNT_NA;
	counters.perf_faults = COUNT_NA;
	counters.usage.minflt = COUNT_NA;
	counters.task_minor = COUNT_NA;
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("page-faults", "minor-faults + major-faults")->known);
	ck_assert(!find("minflt", "handle_mm_fault() minor")->known);
	ck_assert(!find("min_flt", "handle_mm_fault() minor")->known);
	ck_assert(find("maj_flt", "handle_mm_fault() major")->known);
	ck_assert(!find("minflt + majflt", "logical faults")->known);
	ck_assert(find("majflt", "handle_mm_fault() major")->known);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

TEST(test_task_counters_reveal_skipped_programs)
{
	open_books();
	counters.task_minor += 3;
	counters.task_major -= 1;
	counters.edges = true; /* the same faults on both sides, so the edges explain nothing */
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("min_flt", "handle_mm_fault() minor")->unexplained, 3);
	ck_assert_int_eq(find("maj_flt", "handle_mm_fault() major")->unexplained, -1);
	ck_assert_uint_eq(ledger.unexplained, 4);
}

TEST(test_skipped_programs_explain_at_most_their_number)
{
	const char *const name = "skipped";

	open_books();
	counters.events_skipped = 4;
	counters.task_minor += 3;
	counters.task_major -= 5;
	figures.faults += 2; /* recorded by the module, but not by eBPF */
	counters.calls += 2;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(reason(find("min_flt", "handle_mm_fault() minor"), name), 3);
	ck_assert_int_eq(reason(find("maj_flt", "handle_mm_fault() major"), name), -4);
	ck_assert_int_eq(find("maj_flt", "handle_mm_fault() major")->unexplained, -1);
	ck_assert_int_eq(reason(find("handle_mm_fault() minor, hooked", "logical faults, minor"),
				name),
			 -2);
	ck_assert_int_eq(reason(find("minflt + majflt", "logical faults"), name), -2);
	ck_assert_uint_eq(ledger.unexplained, 1);
	/* Skipped eBPF programs do not affect the module's own counts. */
	counters.calls += 1;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("wrapper calls", "logical faults")->unexplained, 1);
}

TEST(test_without_ebpf_only_the_drivers_loop_is_compared)
{
	open_books();
	counters.have_bpf = false;
	counters.usage.minflt = 91;
	counters.usage.majflt = 10;
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("minflt", "logical faults, minor")->known);
	counters.hooked_only = true;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("minflt", "logical faults, minor")->unexplained, 1);
	ck_assert_int_eq(find("majflt", "logical faults, major")->unexplained, 0);
	ck_assert_uint_eq(ledger.unexplained, 1);
}

TEST(test_running_threads_explain_differences_at_the_edges)
{
	open_books();
	counters.edges = true;
	counters.usage.minflt += 2;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(reason(find("minflt", "handle_mm_fault() minor"), "edges"), 2);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

TEST(test_edges_do_not_explain_a_lost_call)
{
	open_books();
	counters.edges = true;
	counters.calls += 1; /* the same calls on both sides, so the edges explain nothing */
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("wrapper calls", "logical faults")->unexplained, 1);
	ck_assert_uint_eq(ledger.unexplained, 1);
}

TEST(test_faults_are_unknown_without_their_hook)
{
	size_t i;

	open_books();
	counters.hooks = 0;
	ledger_make(&ledger, &counters, &figures);
	for (i = 0; i < ledger.nr_counts; i++)
		if (!strcmp(ledger.counts[i].source, "eBPF"))
			ck_assert_uint_eq(ledger.counts[i].value, COUNT_NA);
	ck_assert(!find("minflt", "logical faults, minor")->known);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

TEST(test_exceptions_without_a_fault_are_unexplained)
{
	open_books();
	counters.perf_faults += 6; /* accesses to bad addresses */
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("page-faults", "minor-faults + major-faults")->unexplained, 6);
	ck_assert_uint_eq(ledger.unexplained, 6);
}

TEST(test_unknown_number_of_losses_explains_nothing)
{
	open_books();
	counters.lost = COUNT_NA;
	figures.faults -= 5;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("handle_mm_fault() minor, hooked", "logical faults, minor")
				 ->unexplained,
			 5);
	ck_assert(!find("wrapper calls", "logical faults")->known);
	ck_assert_int_eq(find("wrapper calls", "logical faults")->unexplained, 0);
}

TEST(test_unknown_reason_leaves_the_difference_unknown)
{
	open_books();
	*returns(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_GUP, PFSTAT_OUTCOME_MINOR) = COUNT_NA;
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("minflt + majflt", "logical faults")->known);
	ck_assert_uint_eq(find("minflt + majflt", "logical faults")->nr_reasons, 0);
	ck_assert(!find("minflt", "handle_mm_fault() minor")->known);
	ck_assert(find("majflt", "handle_mm_fault() major")->known);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

TEST(test_unknown_counts_give_an_empty_ledger)
{
	size_t i;

	memset(&figures, 0, sizeof(figures));
	run_counters_init(&counters);
	ledger_make(&ledger, &counters, &figures);
	for (i = 0; i < ledger.nr_differences; i++)
		ck_assert(!ledger.differences[i].known);
	counters.have_bpf = true;
	counters.hooks = 1U << HOOK_FAULT;
	ledger_make(&ledger, &counters, &figures);
	for (i = 0; i < ledger.nr_differences; i++)
		ck_assert(!ledger.differences[i].known);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

/* 59 faults, and 2 pages of arguments that execve(2) wrote. */
static void open_books_of_perf(void)
{
	memset(&figures, 0, sizeof(figures));
	memset(&counters, 0, sizeof(counters));
	counters.have_bpf = true;
	counters.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
	*returns(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MINOR) = 59;
	counters.perf_minor = 59;
	counters.perf_faults = 59;
	counters.perf_exec_pages = 2;
	counters.usage.minflt = 61;
}

TEST(test_perf_explains_only_the_arguments_of_programs)
{
	open_books_of_perf();
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(reason(find("minflt", "minor-faults"), "arguments"), 2);
	ck_assert_uint_eq(ledger.unexplained, 0);
	counters.usage.minflt += 1000; /* get_user_pages(), or another loss */
	counters.usage.majflt += 1;
	ledger_make(&ledger, &counters, &figures);
	ck_assert_int_eq(find("minflt", "minor-faults")->unexplained, 1000);
	ck_assert_uint_eq(ledger.unexplained, 1001);
}

TEST(test_counts_are_not_compared_if_perf_did_not_see_all)
{
	open_books_of_perf();
	counters.usage.minflt = 47685;
	counters.perf_ended = 1;
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("minflt", "minor-faults")->known);
	ck_assert(!find("majflt", "major-faults")->known);
	ck_assert(find("minor-faults", "faults, minor")->known);
	counters.perf_ended = COUNT_NA; /* an older recording */
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("minflt", "minor-faults")->known);
	counters.perf_ended = 0;
	counters.perf_user_only = true;
	ledger_make(&ledger, &counters, &figures);
	ck_assert(!find("minflt", "minor-faults")->known);
	ck_assert_uint_eq(ledger.unexplained, 0);
}

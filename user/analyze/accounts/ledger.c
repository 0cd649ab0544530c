// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel defines these identities. mm_account_fault() in mm/memory.c ignores a
 * handle_mm_fault() return that is a retry or an error. Any other return adds one to the task's
 * min_flt or maj_flt, which eBPF reads in the task and getrusage(2) adds up. It also adds one to
 * perf's minor-faults or major-faults, but not for get_user_pages(), which has no registers.
 * do_user_addr_fault() in arch/x86/mm/fault.c adds one to perf's page-faults for each exception,
 * regardless of the outcome.
 */
#include <stdlib.h>

#include "analyze/accounts/ledger.h"
#include "model/fault_class.h"

struct sides {
	const struct run_counters *counters;
	const struct summary_figures *figures;
	bool have_mm; /* the module or eBPF counted handle_mm_fault() */
};

static uint64_t returns(const struct sides *sides, enum pfstat_fault_kind kind,
			enum pfstat_fault_origin origin, enum pfstat_fault_outcome outcome)
{
	return sides->counters->faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)].count;
}

static uint64_t returns_of_kind(const struct sides *sides, enum pfstat_fault_kind kind,
				enum pfstat_fault_outcome outcome)
{
	return run_counters_returns(sides->counters, kind, outcome);
}

static uint64_t returns_of_origin(const struct sides *sides, enum pfstat_fault_origin origin,
				  enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		sum = count_sum(sum, returns(sides, kind, origin, outcome));
	return sum;
}

static uint64_t all_returns(const struct sides *sides, enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;

	if (!sides->have_mm)
		return COUNT_NA;
	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		sum = count_sum(sum, returns_of_kind(sides, kind, outcome));
	return sum;
}

static void add_count(struct ledger *ledger, const char *name, const char *source, uint64_t value)
{
	ledger->counts[ledger->nr_counts++] = (struct ledger_count){ name, source, value };
}

static struct ledger_difference *ledger_begin(struct ledger *ledger, const char *left,
					      uint64_t left_value, const char *right,
					      uint64_t right_value)
{
	struct ledger_difference *difference = &ledger->differences[ledger->nr_differences++];

	*difference = (struct ledger_difference){
		.left = left,
		.right = right,
		.known = left_value != COUNT_NA && right_value != COUNT_NA,
	};
	if (difference->known)
		difference->amount = left_value - right_value;
	difference->unexplained = difference->amount;
	return difference;
}

static void note(struct ledger_difference *difference, const char *name, int64_t amount)
{
	if (!amount)
		return;
	difference->reasons[difference->nr_reasons++] = (struct ledger_reason){ name, amount };
	difference->unexplained -= amount;
}

/* If a reason is not known, the difference is neither explained nor unexplained. */
static void add_reason(struct ledger_difference *difference, const char *name, uint64_t amount)
{
	if (amount == COUNT_NA) {
		difference->known = false;
		difference->nr_reasons = 0;
		difference->amount = 0;
		difference->unexplained = 0;
	}
	if (difference->known)
		note(difference, name, amount);
}

/* Adds a reason known only as an upper bound. It absorbs the rest up to the bound. */
static void add_bound(struct ledger_difference *difference, const char *name, uint64_t bound)
{
	const int64_t left = difference->unexplained;

	/* An unknown bound explains nothing. */
	if (left <= 0 || bound == COUNT_NA)
		return;
	note(difference, name, (uint64_t)left < bound ? left : (int64_t)bound);
}

/* Each skipped eBPF program may have missed a return, of any kind. */
static void add_left_out(struct ledger_difference *difference, const struct sides *sides)
{
	const uint64_t bound = sides->counters->events_skipped;
	const int64_t left = difference->unexplained;

	if (bound == COUNT_NA || !sides->have_mm)
		return;
	note(difference, "eBPF programs that the kernel skipped",
	     (uint64_t)llabs(left) < bound ? left :
	     left < 0			   ? -(int64_t)bound :
					     (int64_t)bound);
}

static void end(struct ledger *ledger, struct ledger_difference *difference)
{
	ledger->unexplained += llabs(difference->unexplained);
}

/* Ends a comparison between two counts that do not start and stop at the same moment. */
static void end_at_edges(struct ledger *ledger, struct ledger_difference *difference,
			 const struct sides *sides)
{
	add_left_out(difference, sides);
	if (sides->counters->edges && difference->unexplained)
		note(difference, "at the edges: the program ran while watching began and ended",
		     difference->unexplained);
	end(ledger, difference);
}

/* wrapper calls = logical faults + calls that completed none. Both sides count the same calls */
static void compare_calls(struct ledger *ledger, const struct sides *sides)
{
	const struct summary_figures *figures = sides->figures;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "wrapper calls", sides->counters->calls, "logical faults",
				  figures->faults);
	add_reason(difference, "calls that the kernel retried", figures->retried);
	add_reason(difference, "passes on to ->fault", figures->classes[PFSTAT_CLASS_PASS].count);
	add_reason(difference, "page_mkwrite as a part of a fault", figures->sequels);
	add_reason(difference, "errors", figures->classes[PFSTAT_CLASS_ERROR].count);
	add_reason(difference, "records lost", sides->counters->lost);
	end(ledger, difference);
}

static void add_unseen(struct ledger_difference *difference, const struct sides *sides)
{
	add_bound(difference, "records lost", sides->counters->lost);
	add_bound(difference, "chains without a further call: mapped in the meantime",
		  sides->figures->unfinished);
}

/* Compares the module's logical faults with the kernel's returns for hooked files. */
static void compare_hooked(struct ledger *ledger, const struct sides *sides)
{
	const struct summary_figures *figures = sides->figures;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "handle_mm_fault() minor, hooked",
				  returns_of_kind(sides, PFSTAT_FAULT_HOOKED, PFSTAT_OUTCOME_MINOR),
				  "logical faults, minor", figures->faults - figures->major);
	add_unseen(difference, sides);
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "handle_mm_fault() major, hooked",
				  returns_of_kind(sides, PFSTAT_FAULT_HOOKED, PFSTAT_OUTCOME_MAJOR),
				  "logical faults, major", figures->major);
	add_unseen(difference, sides);
	end_at_edges(ledger, difference, sides);
}

static void compare_rusage(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "minflt", counters->usage.minflt,
				  "handle_mm_fault() minor",
				  all_returns(sides, PFSTAT_OUTCOME_MINOR));
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "majflt", counters->usage.majflt,
				  "handle_mm_fault() major",
				  all_returns(sides, PFSTAT_OUTCOME_MAJOR));
	end_at_edges(ledger, difference, sides);
}

/*
 * Compares the tasks' counts at eBPF's last look. Both sides count the same faults, so the
 * edges cannot differ.
 */
static void compare_tasks(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "min_flt", counters->task_minor,
				  "handle_mm_fault() minor",
				  all_returns(sides, PFSTAT_OUTCOME_MINOR));
	add_left_out(difference, sides);
	end(ledger, difference);
	difference = ledger_begin(ledger, "maj_flt", counters->task_major,
				  "handle_mm_fault() major",
				  all_returns(sides, PFSTAT_OUTCOME_MAJOR));
	add_left_out(difference, sides);
	end(ledger, difference);
}

/* Attributes the faults not recorded by the module, by kind. */
static void compare_kinds(struct ledger *ledger, const struct sides *sides)
{
	struct ledger_difference *difference;
	enum pfstat_fault_kind kind;

	difference = ledger_begin(ledger, "minflt + majflt",
				  count_sum(sides->counters->usage.minflt,
					    sides->counters->usage.majflt),
				  "logical faults", sides->figures->faults);
	for (kind = PFSTAT_FAULT_HOOKED + 1; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		add_reason(difference, fault_classes[fault_class_of_kind(kind)].reason,
			   count_sum(returns_of_kind(sides, kind, PFSTAT_OUTCOME_MINOR),
				     returns_of_kind(sides, kind, PFSTAT_OUTCOME_MAJOR)));
	add_unseen(difference, sides);
	end_at_edges(ledger, difference, sides);
}

static void compare_perf(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "handle_mm_fault() minor",
				  all_returns(sides, PFSTAT_OUTCOME_MINOR), "minor-faults",
				  counters->perf_minor);
	add_reason(difference, "get_user_pages() (populate, direct I/O, …)",
		   returns_of_origin(sides, PFSTAT_ORIGIN_GUP, PFSTAT_OUTCOME_MINOR));
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "handle_mm_fault() major",
				  all_returns(sides, PFSTAT_OUTCOME_MAJOR), "major-faults",
				  counters->perf_major);
	add_reason(difference, "get_user_pages() (populate, direct I/O, …)",
		   returns_of_origin(sides, PFSTAT_ORIGIN_GUP, PFSTAT_OUTCOME_MAJOR));
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "page-faults", counters->perf_faults,
				  "minor-faults + major-faults",
				  count_sum(counters->perf_minor, counters->perf_major));
	add_reason(difference, "ended in an error",
		   count_sum(returns_of_origin(sides, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_ERROR),
			     returns_of_origin(sides, PFSTAT_ORIGIN_KERNEL, PFSTAT_OUTCOME_ERROR)));
	/* A few return VM_FAULT_SIGSEGV: they are among the errors. */
	add_bound(difference, "SIGSEGV: no mapping, or no right to it",
		  counters->counts[PFSTAT_COUNT_SEGV]);
	end_at_edges(ledger, difference, sides);
}

/* Compares without eBPF, which is only valid if the module records all faults. */
static void compare_directly(struct ledger *ledger, const struct sides *sides)
{
	const struct summary_figures *figures = sides->figures;
	const struct run_counters *counters = sides->counters;
	const uint64_t minor = counters->hooked_only ? counters->usage.minflt : COUNT_NA;
	const uint64_t major = counters->hooked_only ? counters->usage.majflt : COUNT_NA;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "minflt", minor, "logical faults, minor",
				  figures->faults - figures->major);
	add_unseen(difference, sides);
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "majflt", major, "logical faults, major", figures->major);
	add_unseen(difference, sides);
	end_at_edges(ledger, difference, sides);
}

static void list_counts(struct ledger *ledger, const struct sides *sides)
{
	const struct summary_figures *figures = sides->figures;
	const struct run_counters *counters = sides->counters;
	const char *counter = counters->module_faults ? "module" : "eBPF";

	add_count(ledger, "wrapper calls", "module", counters->calls);
	add_count(ledger, "logical faults", "module", figures->faults);
	add_count(ledger, "logical faults, minor", "module", figures->faults - figures->major);
	add_count(ledger, "logical faults, major", "module", figures->major);
	add_count(ledger, "handle_mm_fault() minor", counter,
		  all_returns(sides, PFSTAT_OUTCOME_MINOR));
	add_count(ledger, "handle_mm_fault() major", counter,
		  all_returns(sides, PFSTAT_OUTCOME_MAJOR));
	add_count(ledger, "min_flt", "task", counters->task_minor);
	add_count(ledger, "maj_flt", "task", counters->task_major);
	add_count(ledger, "minflt", "getrusage", counters->usage.minflt);
	add_count(ledger, "majflt", "getrusage", counters->usage.majflt);
	add_count(ledger, "page-faults", "perf", counters->perf_faults);
	add_count(ledger, "minor-faults", "perf", counters->perf_minor);
	add_count(ledger, "major-faults", "perf", counters->perf_major);
}

static void list_counts_of_perf(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;

	add_count(ledger, "faults, minor", "pfdrive", all_returns(sides, PFSTAT_OUTCOME_MINOR));
	add_count(ledger, "faults, major", "pfdrive", all_returns(sides, PFSTAT_OUTCOME_MAJOR));
	add_count(ledger, "faults, failed", "pfdrive", all_returns(sides, PFSTAT_OUTCOME_ERROR));
	add_count(ledger, "page-faults", "perf", counters->perf_faults);
	add_count(ledger, "minor-faults", "perf", counters->perf_minor);
	add_count(ledger, "major-faults", "perf", counters->perf_major);
	add_count(ledger, "minflt", "getrusage", counters->usage.minflt);
	add_count(ledger, "majflt", "getrusage", counters->usage.majflt);
}

/* The kernel's event counts are exact, even if samples were lost. */
static void compare_samples(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;
	const uint64_t lost =
		count_sum(counters->counts[PFSTAT_COUNT_EVENTS_LOST], counters->perf_unpaired);
	const char *const partial = "of threads that began while pfdrive attached";
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "minor-faults", counters->perf_minor, "faults, minor",
				  all_returns(sides, PFSTAT_OUTCOME_MINOR));
	add_bound(difference, "samples lost, or joined to no other", lost);
	add_bound(difference, partial, counters->perf_partial);
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "major-faults", counters->perf_major, "faults, major",
				  all_returns(sides, PFSTAT_OUTCOME_MAJOR));
	add_bound(difference, "samples lost, or joined to no other", lost);
	add_bound(difference, partial, counters->perf_partial);
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "page-faults", counters->perf_faults,
				  "minor-faults + major-faults",
				  count_sum(counters->perf_minor, counters->perf_major));
	add_reason(difference, "failed: a signal followed",
		   all_returns(sides, PFSTAT_OUTCOME_ERROR));
	add_bound(difference, "failed, and samples were lost", lost);
	end_at_edges(ledger, difference, sides);
}

/*
 * perf has no event for get_user_pages(), and sees no system calls. Only an exec shows how many
 * faults it takes there. If the events did not cover the whole run, the rest has no bound, and the
 * counts are not comparable.
 */
static void compare_unsampled(struct ledger *ledger, const struct sides *sides)
{
	const struct run_counters *counters = sides->counters;
	const bool covered = !counters->perf_user_only && !counters->perf_ended;
	struct ledger_difference *difference;

	difference = ledger_begin(ledger, "minflt", covered ? counters->usage.minflt : COUNT_NA,
				  "minor-faults", counters->perf_minor);
	add_bound(difference, "execve(2) wrote a program's arguments", counters->perf_exec_pages);
	end_at_edges(ledger, difference, sides);
	difference = ledger_begin(ledger, "majflt", covered ? counters->usage.majflt : COUNT_NA,
				  "major-faults", counters->perf_major);
	end_at_edges(ledger, difference, sides);
}

void ledger_make(struct ledger *ledger, const struct run_counters *counters,
		 const struct summary_figures *figures)
{
	const struct sides sides = {
		.counters = counters,
		.figures = figures,
		/* Either all are known, or none. */
		.have_mm = counters->have_bpf && counters->hooks & 1U << HOOK_FAULT &&
			   counters->faults[0].count != COUNT_NA,
	};

	*ledger = (struct ledger){ 0 };
	if (sides.have_mm && counters->hooks & 1U << HOOK_PERF) {
		list_counts_of_perf(ledger, &sides);
		compare_samples(ledger, &sides);
		compare_unsampled(ledger, &sides);
		return;
	}
	list_counts(ledger, &sides);
	compare_calls(ledger, &sides);
	if (!sides.have_mm) {
		compare_directly(ledger, &sides);
		return;
	}
	compare_hooked(ledger, &sides);
	compare_tasks(ledger, &sides);
	compare_rusage(ledger, &sides);
	compare_kinds(ledger, &sides);
	compare_perf(ledger, &sides);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares the counts of the same faults from several sources, and attributes each difference to
 * named causes (get_user_pages, files not hooked, copy on write, lost records, ...). The rest is
 * reported as unexplained.
 */
#ifndef PFSTAT_USER_LEDGER_H
#define PFSTAT_USER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/summary.h"
#include "model/counters.h"

struct ledger_count {
	const char *name;   /* "wrapper calls", "logical faults", "minflt", … */
	const char *source; /* counted by "module", "eBPF", "task", "getrusage" or "perf" */
	uint64_t value;	    /* COUNT_NA: n/a */
};

#define LEDGER_MAX_REASONS 9

struct ledger_reason {
	const char *name; /* "kernel-mode faults" */
	int64_t amount;
};

/* Invariant: left - right = the sum of all reason amounts + unexplained. */
struct ledger_difference {
	const char *left, *right; /* count names, or names for sums of counts */
	int64_t amount;
	bool known; /* false: one side is n/a */
	struct ledger_reason reasons[LEDGER_MAX_REASONS];
	size_t nr_reasons;
	int64_t unexplained;
};

#define LEDGER_MAX_COUNTS      16
#define LEDGER_MAX_DIFFERENCES 12

struct ledger {
	struct ledger_count counts[LEDGER_MAX_COUNTS];
	size_t nr_counts;
	struct ledger_difference differences[LEDGER_MAX_DIFFERENCES];
	size_t nr_differences;
	uint64_t unexplained; /* sum of the absolute amounts */
};

void ledger_make(struct ledger *ledger, const struct run_counters *counters,
		 const struct summary_figures *figures);

#endif

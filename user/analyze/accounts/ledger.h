/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same faults as counted in several places, side by side, and a name for
 * every difference: kernel-mode fault, get_user_pages, not hooked, copy on write,
 * swapped, solved meanwhile, unfinished, lost, left out. What is left over is unexplained.
 */
#ifndef PFSTAT_USER_LEDGER_H
#define PFSTAT_USER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/summary.h"
#include "model/counters.h"

struct ledger_count {
	const char *name;   /* "wrapper calls", "logical faults", "minflt", … */
	const char *source; /* who counted: "module", "eBPF", "getrusage", "perf" */
	uint64_t value;	    /* COUNT_NA: n/a */
};

#define LEDGER_MAX_REASONS 9

struct ledger_reason {
	const char *name; /* "kernel-mode faults" */
	int64_t amount;
};

/* left - right = the reasons' amounts + unexplained */
struct ledger_difference {
	const char *left, *right; /* names of counts, or sums of them as text */
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

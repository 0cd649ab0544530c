/* SPDX-License-Identifier: GPL-2.0-only */
/* What was measured, predicted and seen: one row an operation and point. */
#ifndef PFSTAT_USER_BENCH_RESULTS_H
#define PFSTAT_USER_BENCH_RESULTS_H

#include <stdint.h>
#include <stdio.h>

#include "bench/bench_folder.h"
#include "bench/core/operation.h"
#include "bench/bench_machine.h"
#include "util/statistics.h"

/* A figure beside the measured one. */
struct bench_figure {
	double value;			/* NAN: n/a, and why says why not; "": nobody gave one */
	char formula[256];		/* "": none */
	bool given;			/* by the user */
	char why[BENCH_WHY];
};

/* The same operations once more, watched by eBPF and the module. */
struct bench_seen {
	char missing[BENCH_WHY];	/* "": it was watched */
	uint64_t operations;
	struct bench_counts counts;
	uint64_t lost;			/* events and records that found no room */
	/* The kernel's own times of the faults in it. */
	const char *kernel_source;	/* "module" or "eBPF"; NULL: none */
	uint64_t kernel_faults;
	double kernel_ns;		/* of one of them */
	double watched_ns;		/* an operation, while it was watched */
	/* Of the faults, that ended under mmap_lock; NAN: n/a, or VMAs have no own lock. */
	double mmap_lock_share;
};

struct bench_row {
	const struct bench_operation *operation;
	size_t point;
	char point_name[32];		/* "": it has only one */
	char name[FORMULA_NAME];	/* operation, or operation:point */
	char missing[BENCH_WHY];	/* "": it was measured */
	/* In the operation's unit, what is subtracted is subtracted; else NAN. */
	struct statistics figures;
	double half_width;		/* with that of what is subtracted */
	double cycles;			/* of an operation, of the TSC; NAN: n/a */
	double subtracted_ns;		/* NAN: nothing */
	uint64_t operations;		/* in a run */
	uint64_t all_operations;	/* in all runs, and what getrusage(2) counted in them */
	struct bench_counts usage;
	uint64_t elapsed_ns;		/* of all runs */
	struct bench_figure hardware, predicted;
	struct bench_seen seen;
	char noise[BENCH_WHY];		/* not "": do not trust it, and why */
	char contradiction[BENCH_WHY];	/* not "": the kernel saw something else */
};

struct bench_results {
	struct bench_machine machine;
	struct bench_machine_state state;
	struct bench_options options;
	struct bench_folder files, nfs;	/* what the folders of --directory and --nfs are on */
	struct bench_row *rows;
	size_t nr;
	char not_watched[BENCH_WHY];	/* why no row was watched; "": they were */
};

static inline bool bench_row_measured(const struct bench_row *row)
{
	return !row->missing[0];
}

/* NULL: there is none of that name. */
struct bench_row *bench_results_find(const struct bench_results *results, const char *name);
const char *bench_unit_name(enum bench_unit unit);
void bench_results_free(struct bench_results *results);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pfdrive bench results: one row for each operation and point, with measured values, predicted
 * values and kernel counts. Everything printed is either stored here or computed by a function in
 * this header.
 */
#ifndef PFSTAT_USER_BENCH_RESULTS_H
#define PFSTAT_USER_BENCH_RESULTS_H

#include <stdint.h>
#include <stdio.h>

#include "bench/suite/bench_folder.h"
#include "bench/suite/bench_machine.h"
#include "bench/suite/core/operation.h"
#include "util/statistics.h"
#include "util/why.h"

/* A value to compare with the measured one. */
struct bench_figure {
	double value;	   /* NAN if n/a, then why holds the reason, if any */
	char formula[256]; /* "": none */
	bool given;	   /* by the user, with --predict */
	struct why why;
};

/* One more run with the same operations, watched by eBPF and a fault source. */
struct bench_seen {
	struct why missing; /* "": it was watched */
	uint64_t operations;
	struct bench_counts counts;
	uint64_t lost; /* dropped events and records */
	/* The kernel's own fault times in the watched run. */
	const char *kernel_source; /* "module" or "eBPF", or NULL if none */
	uint64_t kernel_faults;
	double kernel_ns;  /* per fault */
	double watched_ns; /* per operation, in the watched run */
	/* Share of faults that ended under mmap_lock. NAN: n/a, or no per-VMA locks. */
	double mmap_lock_share;
};

struct bench_row {
	const struct bench_operation *operation;
	size_t point;
	char point_name[32];	 /* "": the operation has only one */
	char name[FORMULA_NAME]; /* operation, or operation:point */
	struct why missing;	 /* "": it was measured */
	/* In the operation's unit, after the subtraction. */
	struct statistics figures;
	double half_width;	   /* includes the subtracted row's half width */
	double cycles;		   /* TSC cycles per operation, or NAN if n/a */
	double subtracted_ns;	   /* NAN: nothing */
	uint64_t operations;	   /* in a run */
	uint64_t all_operations;   /* in all runs */
	struct bench_counts usage; /* getrusage(2) counts in all runs */
	uint64_t elapsed_ns;	   /* over all runs */
	struct bench_figure hardware, predicted;
	struct bench_seen seen;
	struct why noise;	  /* not "": why the row cannot be trusted */
	struct why contradiction; /* not "": how the kernel contradicts the claim */
};

struct bench_results {
	struct bench_machine machine;
	struct bench_machine_state state;
	struct bench_options options;
	struct bench_folder files, nfs; /* the --directory and --nfs folders */
	struct bench_row *rows;
	size_t nr;
	struct why not_watched; /* why no row was watched, or "" if they were */
};

/* Noisy rows. The points in memory.latency are counted apart. */
struct bench_noise {
	size_t rows, points;
	size_t all_rows, all_points;
};

/* How to read a row in the "scale" family: the row's figure is wall time divided by all faults. */
struct bench_scaling {
	double faults_per_s; /* by all threads */
	double thread_ns;    /* per fault, in one thread */
};

static inline bool bench_row_measured(const struct bench_row *row)
{
	return !row->missing.text[0];
}

/* Measured in separate runs, not derived from other rows. */
static inline bool bench_row_repeated(const struct bench_row *row)
{
	return bench_row_measured(row) && !row->operation->derived_from;
}

static inline bool bench_row_watched(const struct bench_row *row)
{
	return row->seen.operations && !row->seen.missing.text[0];
}

/* "contradicted", "noisy" or "". */
const char *bench_row_mark(const struct bench_row *row);
/* NAN: the event was not counted. */
double bench_results_per_operation(const struct bench_counts *counts, enum bench_event event,
				   uint64_t operations);
struct bench_scaling bench_row_scaling(const struct bench_row *row);
struct bench_noise bench_results_noise(const struct bench_results *results);

/* NULL: no row has this name. */
struct bench_row *bench_results_find(const struct bench_results *results, const char *name);
void bench_results_free(struct bench_results *results);

#endif

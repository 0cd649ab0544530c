/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two sides of one or several runs each: how much time all faults took and how much was read,
 * and by class of fault the total time, how many faults, how many of them major, how long one
 * took, and how long each part of it. Pure.
 *
 * A row is a change if the interval of its relative difference (batches.h) excludes 0, and the
 * difference is at least the threshold. More rows would give more changes by chance. So each
 * interval is wider (Bonferroni: O. J. Dunn, "Multiple Comparisons Among Means", Journal of the
 * American Statistical Association 56(293), 1961): with the requested confidence *all* of them
 * hold the truth, and equal programs are seldom called changed in any row.
 */
#ifndef PFSTAT_USER_COMPARISON_H
#define PFSTAT_USER_COMPARISON_H

#include "analyze/fault/explain.h"
#include "analyze/stats/batches.h"

/* Fewer faults than that are not judged: a few equal times would look certain. */
#define COMPARISON_FEW	    10
#define COMPARISON_MAX_RUNS 64 /* on each side */

enum comparison_measure {
	COMPARISON_TOTAL,  /* time of all faults, ns */
	COMPARISON_READ,   /* bytes read */
	COMPARISON_FAULTS, /* their number */
	COMPARISON_MAJOR,
	COMPARISON_TIME, /* mean, ns */
};

enum comparison_verdict {
	COMPARISON_SAME,
	COMPARISON_CHANGE,
	COMPARISON_TOO_FEW, /* see COMPARISON_FEW */
	COMPARISON_UNKNOWN, /* one of the runs does not know the part, or the class */
};

#define COMPARISON_VERDICT_NAMES { "same", "change", "too few", "n/a" }

struct comparison_row {
	const char *class;
	enum comparison_measure measure;
	enum part part;	      /* of a time; NR_PARTS: the whole */
	struct estimate a, b; /* value NAN: n/a */
	enum comparison_verdict verdict;
	/* Only of rows that are the same or a change. */
	struct interval interval;
};

/* All and each class: total, counts, the whole, and the parts; the bytes of all. */
#define COMPARISON_MAX_ROWS ((NR_FAULT_CLASSES + 1) * (1 + 2 + 1 + NR_PARTS) + 1)

struct comparison {
	struct comparison_row rows[COMPARISON_MAX_ROWS];
	size_t nr;
	size_t nr_judged;  /* rows that have an interval */
	double confidence; /* of the interval of a row */
	bool change;	   /* in any row */
};

/* One run, as far as one row group needs it. */
struct comparison_run {
	const struct fault_batches *faults;
	const struct read_batches *reads; /* NULL: these rows have none */
	double seconds;			  /* 0: see estimate_sum() */
};

struct comparison_side {
	struct comparison_run runs[COMPARISON_MAX_RUNS];
	size_t nr;
};

/* "total", "read", "faults", "major", "whole", or the part's name. */
const char *comparison_measure_name(const struct comparison_row *row);
/* "ns", "bytes", "faults"; if rates are compared "ns/s" and so on for all but mean times. */
const char *comparison_unit(const struct comparison_row *row, bool rates);

/*
 * Rows for a class that occurs in one run at least. known: 1 << enum part of what
 * all runs know.
 */
void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known);

/* n/a for a class that occurs in a run, and that another could not have seen. */
void comparison_add_unknown(struct comparison *comparison, const char *class);

/*
 * confidence: that all intervals hold, together, between 0 and 1. threshold: relative.
 * Without rows nothing is changed.
 */
void comparison_judge(struct comparison *comparison, double confidence, double threshold);

/* The total time of all faults; NULL: there is no such row. */
const struct comparison_row *comparison_total(const struct comparison *comparison);

#endif

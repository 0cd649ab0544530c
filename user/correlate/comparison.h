/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs, side by side: by class of fault how many, how many of them major, how
 * long they took, and how long each part of that. Pure.
 *
 * A row is a change when the interval of its relative difference (bootstrap.h)
 * does not hold 0, and the difference is at least the threshold. The more rows
 * there are, the more would be that by chance; so the intervals are taken wider
 * (Bonferroni: O. J. Dunn, "Multiple Comparisons Among Means", Journal of the
 * American Statistical Association 56(293), 1961), so that with the asked confidence
 * *all* of them hold the truth, and two runs of the same seldom differ in any.
 */
#ifndef PFSTAT_USER_COMPARISON_H
#define PFSTAT_USER_COMPARISON_H

#include <signal.h>

#include "bootstrap.h"
#include "explain.h"

/* Faults of one class, or of all, in one run. */
struct comparison_side {
	uint64_t count;
	uint64_t major;
	/* NR_PARTS: the whole. Looked at again by comparison_judge(). */
	struct bootstrap_times times[NR_PARTS + 1];
};

enum comparison_measure {
	COMPARISON_FAULTS,	/* their number */
	COMPARISON_MAJOR,
	COMPARISON_TIME,	/* mean, ns */
};

enum comparison_verdict {
	COMPARISON_SAME,
	COMPARISON_CHANGE,
	COMPARISON_FEW,		/* fewer than BOOTSTRAP_FEW: nothing can be said */
	COMPARISON_UNKNOWN,	/* one of the runs does not know the part, or the class */
};

#define COMPARISON_VERDICT_NAMES { "same", "change", "too few", "n/a" }

struct comparison_row {
	const char *class;
	enum comparison_measure measure;
	enum part part;			/* of a time; NR_PARTS: the whole */
	double a, b;			/* NAN: n/a */
	enum comparison_verdict verdict;
	/* Only of those that are the same or a change; relative, may be INFINITY. */
	struct bootstrap_interval interval;
	const struct bootstrap_times *times_a, *times_b;
};

/* Classes, and all as one; each with its counts, the whole, and the parts. */
#define COMPARISON_MAX_ROWS ((NR_FAULT_CLASSES + 1) * (2 + 1 + NR_PARTS))

struct comparison {
	struct comparison_row rows[COMPARISON_MAX_ROWS];
	size_t nr;
	size_t nr_judged;	/* rows that have an interval */
	struct bootstrap how;	/* with which intervals of a row were made */
	bool change;		/* in any row */
};

/* "faults", "major", "whole", or the part's name. */
const char *comparison_measure_name(const struct comparison_row *row);

/*
 * Rows for a class that occurs in one run at least. known: 1 << enum part of what
 * both runs know. Both sides must stay until comparison_judge().
 */
void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known);

/* n/a for a class that occurs in a run, and that the other could not have seen. */
void comparison_add_unknown(struct comparison *comparison, const char *class);

/*
 * confidence: that all intervals hold, together, between 0 and 1. threshold: relative.
 * Zero comparison->nr is no change. 0, -ENOMEM, or -EINTR: *stop is no longer 0.
 */
int comparison_judge(struct comparison *comparison, double confidence, double threshold,
		     uint64_t seed, const volatile sig_atomic_t *stop);

#endif

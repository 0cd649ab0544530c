/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares two sides of one or several runs each: the total time of all faults and the bytes
 * read, and for each class of fault the total time, the number of faults and of major faults,
 * the mean time of a fault, and that of each part. Pure.
 *
 * A row is a change if the interval of its relative difference (run_mean.h) excludes 0, and the
 * difference is at least the threshold. More rows would give more changes by chance. So the rows
 * share the permitted probability of an error: nine tenths of it are for the total time of all
 * faults, which is the question that users have, and the others share the rest. Rows that differ
 * pass their share on to those that remain (S. Holm, "A Simple Sequentially Rejective Multiple
 * Test Procedure", Scandinavian Journal of Statistics 6(2), 1979, with weights), so the other rows
 * have all of it once the total differs. With the requested confidence *no* row of equal programs
 * shows a change, however the rows depend on each other.
 */
#ifndef PFSTAT_USER_COMPARISON_H
#define PFSTAT_USER_COMPARISON_H

#include "analyze/fault/explain.h"
#include "compare/run_mean.h"

/* Fewer faults are not judged: a few equal times would look certain. */
#define COMPARISON_FEW	    10
#define COMPARISON_MAX_RUNS 64 /* on each side */

enum comparison_measure {
	COMPARISON_TOTAL,  /* time of all faults, ns */
	COMPARISON_READ,   /* bytes read */
	COMPARISON_FAULTS, /* number of faults */
	COMPARISON_MAJOR,
	COMPARISON_TIME, /* mean, ns */
};

enum comparison_verdict {
	COMPARISON_SAME,
	COMPARISON_CHANGE,
	COMPARISON_TOO_FEW,    /* see COMPARISON_FEW */
	COMPARISON_UNKNOWN,    /* not known in one of the runs: the part or the class */
	COMPARISON_NOT_JUDGED, /* one run a side does not show how much runs vary */
	COMPARISON_INCOMPLETE, /* a run lost too much */
};

#define COMPARISON_VERDICT_NAMES { "same", "change", "too few", "n/a", "not judged", "incomplete" }

struct comparison_row {
	const char *class;
	enum comparison_measure measure;
	enum part part;	      /* for a time; NR_PARTS: the whole */
	struct run_mean a, b; /* value NAN: n/a */
	enum comparison_verdict verdict;
	/* For the verdicts same and change; the difference also for not judged. */
	struct interval interval;
	double confidence; /* of the interval; 0: not judged */
};

/* All and each class: total, two counts, the whole, and the parts; and the bytes read. */
#define COMPARISON_MAX_ROWS ((NR_FAULT_CLASSES + 1) * (1 + 2 + 1 + NR_PARTS) + 1)

struct comparison {
	struct comparison_row rows[COMPARISON_MAX_ROWS];
	size_t nr;
	bool several;	  /* there are several runs on a side */
	size_t nr_judged; /* rows that have an interval */
	bool change;	  /* true if any row changed */
	bool not_judged;  /* no row is judged, because there is one run on each side */
	bool incomplete;  /* no row is judged, because a run lost too much */
	double lost;	  /* the share that losses add to the threshold */
};

/* The data of one run for one group of rows. */
struct comparison_run {
	const struct fault_batches *faults;
	const struct read_batches *reads; /* NULL: these rows have none */
	double seconds;			  /* 0: see batches_estimate_sum() */
};

struct comparison_side {
	struct comparison_run runs[COMPARISON_MAX_RUNS];
	size_t nr;
};

/* "total", "read", "faults", "major", "whole", or the part's name. */
const char *comparison_measure_name(const struct comparison_row *row);
/* "ns", "bytes", "faults"; for rates "ns/s" and so on, except for mean times. */
const char *comparison_unit(const struct comparison_row *row, bool rates);

/* The times of the faults mean the same in all runs. */
#define COMPARISON_WHOLE (1U << NR_PARTS)

/*
 * Adds the rows of a class that occurs in at least one run.
 * @known: 1 << enum part of the parts that all runs know, and COMPARISON_WHOLE
 */
void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known);

/* Adds rows with n/a for a class that occurs in one run but that another could not observe. */
void comparison_add_unknown(struct comparison *comparison, const char *class);

struct comparison_rules {
	double confidence; /* probability that no row of equal programs changes, from 0 to 1 */
	double threshold;  /* least relative difference of a change */
	/*
	 * Judge one run on each side, too. The variation between runs is not known then. The
	 * caller guarantees that it is below the threshold.
	 */
	bool single;
	/*
	 * The largest share of a run's faults and events that was lost on either side; INFINITY:
	 * not known. Above the threshold nothing is judged. Below it, a difference must exceed the
	 * threshold by what is lost.
	 */
	double lost[2];
};

/* Without rows there is no change. */
void comparison_judge(struct comparison *comparison, const struct comparison_rules *rules);

/* Returns the row of the total time of all faults; NULL: none. */
const struct comparison_row *comparison_total(const struct comparison *comparison);

#endif

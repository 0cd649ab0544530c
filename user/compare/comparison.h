/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares two sides with one or several runs each: the total time of all faults and the bytes
 * read, and for each fault class the total time, the number of faults and major faults, and the
 * mean times per fault and per part. Pure.
 *
 * A row is a change if the relative difference has an interval (run_mean.h) excluding 0, and the
 * difference is at least the threshold. More rows would give more changes by chance. So the rows
 * share the permitted error probability: nine tenths are for the total time of all faults, which is
 * the question users have, and the others share the rest. Differing rows pass their share on to the
 * remaining ones (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
 * Journal of Statistics 6(2), 1979, with weights), so the other rows have all of it once the total
 * differs. With the requested confidence *no* row shows a change for equal programs, however the
 * rows depend on each other.
 */
#ifndef PFSTAT_USER_COMPARISON_H
#define PFSTAT_USER_COMPARISON_H

#include "analyze/fault/explain.h"
#include "compare/run_mean.h"

/* Fewer faults are not judged: a few equal times would look certain. */
#define COMPARISON_FEW	    10
#define COMPARISON_MAX_RUNS 64 /* on each side */

enum comparison_measure {
	COMPARISON_TOTAL,  /* time in all faults, ns */
	COMPARISON_READ,   /* bytes read */
	COMPARISON_FAULTS, /* number of faults */
	COMPARISON_MAJOR,
	COMPARISON_TIME, /* mean, ns */
};

enum comparison_verdict {
	COMPARISON_SAME,
	COMPARISON_CHANGE,
	COMPARISON_TOO_FEW,    /* see COMPARISON_FEW, or the interval has no end */
	COMPARISON_UNKNOWN,    /* not known in one run: the part or the class */
	COMPARISON_NOT_JUDGED, /* one run a side does not show how much runs vary */
	COMPARISON_INCOMPLETE, /* a run lost too much */
};

#define COMPARISON_VERDICT_NAMES { "same", "change", "too few", "n/a", "not judged", "incomplete" }

struct comparison_row {
	const char *class;
	enum comparison_measure measure;
	enum part part;	      /* for a time, NR_PARTS for the whole */
	struct run_mean a, b; /* value NAN: n/a */
	enum comparison_verdict verdict;
	/* For the verdicts same and change. The difference also for not judged. */
	struct interval interval;
	double confidence; /* for the interval, 0 if not judged */
};

/* All and each class: total, two counts, the whole, and the parts. Also the bytes read. */
#define COMPARISON_MAX_ROWS ((NR_FAULT_CLASSES + 1) * (1 + 2 + 1 + NR_PARTS) + 1)

struct comparison {
	struct comparison_row rows[COMPARISON_MAX_ROWS];
	size_t nr;
	size_t runs[2];	  /* on each side */
	size_t nr_judged; /* rows with an interval */
	bool change;	  /* true if any row changed */
	bool not_judged;  /* no row is judged, because there is one run on each side */
	bool incomplete;  /* no row is judged, because a run lost too much */
	double lost;	  /* the share added to the threshold by losses */
};

/* One run's data for one group of rows. */
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
/* "ns", "bytes", "faults", or for rates "ns/s" and so on, except for mean times. */
const char *comparison_unit(const struct comparison_row *row, bool rates);

/* Fault times mean the same in all runs. */
#define COMPARISON_WHOLE (1U << NR_PARTS)

/*
 * Adds the rows for a class that occurs in at least one run.
 * @known: 1 << enum part for the parts that all runs know, and COMPARISON_WHOLE
 */
void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known);

/* Adds rows with n/a for a class that occurs in one run but another could not observe. */
void comparison_add_unknown(struct comparison *comparison, const char *class);

struct comparison_rules {
	double confidence; /* probability of no changed row for equal programs, 0 to 1 */
	double threshold;  /* smallest relative difference for a change */
	/*
	 * Judge one run on each side, too. The variation between runs is not known then. The
	 * caller guarantees that it is below the threshold.
	 */
	bool single;
	/*
	 * The largest lost share of a run's faults and events on either side. INFINITY: not known.
	 * Above the threshold nothing is judged. Below it, a difference must exceed the threshold
	 * by the lost share.
	 */
	double lost[2];
};

/* Without rows there is no change. */
void comparison_judge(struct comparison *comparison, const struct comparison_rules *rules);

/* Returns the row with the total time of all faults, or NULL. */
const struct comparison_row *comparison_total(const struct comparison *comparison);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two sides of recordings and their differences: means over the runs, which recordings can be
 * compared, and the judged rows, as input for the printers.
 */
#ifndef PFSTAT_APPS_COMPARE_H
#define PFSTAT_APPS_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "util/subcommand.h"

/*
 * Estimates how much a run's figure varies by chance, although the faults come in bursts.
 *
 * A class's faults are cut into 16 to 32 batches, once by number of faults and once by time. A
 * burst shorter than a batch moves a batch's sum, so the variation between batches includes it
 * (method of batch means: A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis"). Each batch
 * is compared only with a neighbour (J. von Neumann, "Distribution of the Ratio of the Mean Square
 * Successive Difference to the Variance", The Annals of Mathematical Statistics 12(4), 1941),
 * because a program's phases occur in every run and are not chance.
 *
 * Batches become longer as faults arrive, so memory is bounded. Pure.
 */

#define BATCHES_MAX 32

/* A batch's sums. BATCH_TIME + enum part is the time in a part, + NR_PARTS the whole. */
enum batch_sum { BATCH_FAULTS, BATCH_MAJOR, BATCH_TIME };
#define NR_BATCH_SUMS (BATCH_TIME + NR_PARTS + 1)

struct batches {
	uint64_t sums[BATCHES_MAX][NR_BATCH_SUMS];
	size_t nr;
	uint64_t length; /* in a full batch, in faults or ns */
};

/* Faults in one class, or in all, in one run. All zero means empty. */
struct fault_batches {
	uint64_t sums[NR_BATCH_SUMS]; /* over the run, exact */
	double squares[NR_PARTS + 1]; /* sums of squared fault times */
	struct batches by_number, by_time;
};

/* @start_ns: start of the run, the same for each fault */
void fault_batches_add(struct fault_batches *batches, const struct explained *fault,
		       uint64_t start_ns);
/* Ends the run. A watched program without faults still has batches in time. */
void fault_batches_end(struct fault_batches *batches, uint64_t start_ns, uint64_t end_ns);

/* Bytes in read requests. */
struct read_batches {
	uint64_t requests, bytes;
	double squares;		/* sum of the squared request bytes */
	struct batches by_time; /* in BATCH_TIME */
};

void read_batches_add(struct read_batches *batches, uint64_t bytes, uint64_t ns, uint64_t start_ns);
void read_batches_end(struct read_batches *batches, uint64_t start_ns, uint64_t end_ns);

/* A figure, and the variance over runs of the same kind. */
struct estimate {
	double value; /* NAN: n/a */
	double variance;
	double freedom; /* the variance's degrees of freedom, at least 1 */
	/*
	 * What one fault or request more adds to the value: 1, or the sum of the squares over the
	 * sum. The few large ones count, not the many small ones beside them.
	 */
	double grain;
};

/* Mean fault time. */
struct estimate batches_estimate_mean(const struct fault_batches *batches, enum part part);
/*
 * A sum over the run, or the rate per second. seconds is 0 for a program running to its end. Then
 * the number of faults is taken as a Poisson number. Otherwise the program was watched for this
 * long, so variation in time also varies the rate.
 */
struct estimate batches_estimate_sum(const struct fault_batches *batches, enum batch_sum sum,
				     double seconds);
struct estimate batches_estimate_reads(const struct read_batches *batches, double seconds);

/* Relative: 0.1 is 10 % more. May be INFINITY. */
struct interval {
	double difference; /* for the figures themselves, without their variance */
	double low, high;
};

/* b / a - 1, or 0 if they are equal. */
double batches_interval_relative(double a, double b);

/*
 * The interval of b relative to a: E. C. Fieller, "Some Problems in Interval Estimation", Journal
 * of the Royal Statistical Society B 16(2), 1954. The interval includes 0 exactly if a two-sided
 * test finds no difference. @confidence: between 0 and 1.
 */
struct interval batches_interval(const struct estimate *a, const struct estimate *b,
				 double confidence);

/*
 * A figure's mean over one side's runs, and the interval for the ratio between two sides.
 *
 * What differs between runs (disk load, CPU frequency) mostly multiplies a figure, by a factor that
 * differs from run to run. So deviations are relative to the side's mean, and the ratio of the
 * means is judged by its logarithm.
 *
 * With as many runs on side A as on side B, the variance is pooled, with nA + nB - 2 degrees of
 * freedom (Student, "The Probable Error of a Mean", Biometrika 6(1), 1908; R. A. Fisher,
 * "Applications of 'Student's' Distribution", Metron 5, 1925). Two runs a side have two degrees of
 * freedom this way. If one side varies more, the error is small: the standard error does not depend
 * on pooling then, only the degrees of freedom do.
 *
 * With different numbers of runs, pooling would judge the side with few runs by the variation of
 * the other side. So each side has a separate variance. From 5 runs on each side, the degrees of
 * freedom are Welch's (B. L. Welch, "The Generalization of 'Student's' Problem when Several
 * Different Population Variances are Involved", Biometrika 34, 1947). With fewer runs these are
 * often too many, and Student's quantile is the mean of both sides' quantiles, weighted with the
 * variances (W. G. Cochran, G. M. Cox, "Experimental Designs", 1957).
 *
 * One run shows no variation. It is assumed to vary as the runs of the other side.
 *
 * Runs may agree by chance if a figure comes from few faults. So each run also varies by a grain:
 * one fault more or less.
 *
 * The variation within the runs is not used. It is no upper bound (phases and fault kinds found in
 * every run are not chance), and no helpful lower bound: two runs cannot show whether this
 * variation or the variation between runs is larger. Pure.
 */

struct run_mean {
	double value;	     /* mean over the runs, NAN if n/a */
	double squares;	     /* the runs' summed squared deviations, relative to value */
	double grain;	     /* for one run, see struct estimate */
	size_t nr;	     /* runs with the figure */
	struct estimate one; /* the run, if there is only one */
};

/* Skips n/a runs. */
struct run_mean run_mean_of(const struct estimate *runs, size_t nr);

/* Returns the degrees of freedom, or 0 if each side has one run or none. */
size_t run_mean_freedom(const struct run_mean *a, const struct run_mean *b);

/*
 * The interval for b relative to a. It excludes 0 exactly if a two-sided test finds a difference.
 * With one run on each side, the interval shows the variation within the runs, see
 * batches_interval().
 */
struct interval run_mean_interval(const struct run_mean *a, const struct run_mean *b,
				  double confidence);

/*
 * Compares two sides with one or several runs each: the total time of all faults and the bytes
 * read, and for each fault class the total time, the number of faults and major faults, and the
 * mean times per fault and per part. Pure.
 *
 * A row is a change if the relative difference has an interval (see above) excluding 0, and the
 * difference is at least the threshold. More rows would give more changes by chance. So the rows
 * share the permitted error probability: nine tenths are for the total time of all faults, which is
 * the question users have, and the others share the rest. Differing rows pass their share on to the
 * remaining ones (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
 * Journal of Statistics 6(2), 1979, with weights), so the other rows have all of it once the total
 * differs. With the requested confidence *no* row shows a change for equal programs, however the
 * rows depend on each other.
 */

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

struct compare_run {
	const char *file;
	uint64_t faults;
	uint64_t records, events;	    /* that the recording has */
	double seconds;			    /* duration of the recording, 0 if n/a */
	uint64_t lost_records, lost_events; /* COUNT_NA: n/a */
	const char *damage;		    /* one clause, or NULL */
};

struct compare_side {
	const struct compare_run *runs;
	size_t nr;
};

struct compare_report {
	struct compare_side a, b;
	const struct comparison *comparison; /* judged */
	double confidence, threshold;	     /* in percent */
	/* print rates per second of recording instead of sums */
	bool rates;
	const json_t *differences; /* compare_heads() result */
};

extern const struct subcommand compare_command;

/*
 * What a recording can know, from the recorded events. Only what all recordings know is compared.
 * Pure.
 */

struct comparable {
	uint32_t hooks; /* 1 << enum bpf_hook */
	bool have_bpf;	/* eBPF or perf events */
	bool has_spans; /* see recording_has_spans() */
};

/* False: for faults with calls, only call time is known. */
bool comparable_is_whole(struct comparable seen);
/* 1 << enum part for each part it can know. */
unsigned int comparable_parts(struct comparable seen);
/* 1 << enum fault_class for each class it distinguishes. */
unsigned int comparable_classes(struct comparable seen);

/*
 * The largest lost share in a run's records, or in its events. INFINITY if a recording is cut or
 * damaged, because it lacks an unknown share.
 */
double comparable_lost_share(const struct compare_side *side);

/* Compares recording heads: kernel, machine, command, options, instruments. */

/*
 * Returns an array of {"key", "a": [texts], "b": [texts]}, one object for each key whose value is
 * not the same in all heads. The object holds the distinct values on both sides ("n/a" if the key
 * is missing). Keys that differ in equal runs too are left out: start time, process numbers, and
 * the command line, which contains the output name. NULL: no memory.
 */
json_t *compare_heads(const json_t *const *a, size_t nr_a, const json_t *const *b, size_t nr_b);

#endif

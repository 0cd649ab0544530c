/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef PFSTAT_USER_BATCHES_H
#define PFSTAT_USER_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"

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

#endif

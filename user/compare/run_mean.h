/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef PFSTAT_USER_RUN_MEAN_H
#define PFSTAT_USER_RUN_MEAN_H

#include <stddef.h>

#include "analyze/batches.h"

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

#endif

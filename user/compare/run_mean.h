/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mean of a figure over the runs of one side, and the interval of the ratio of two sides.
 *
 * What differs between runs (the load of the disk, the frequency of the CPU) mostly multiplies a
 * figure, by a factor that differs from run to run as much on side A as on side B. So the variance
 * of the relative deviations is pooled over both sides, with nA + nB - 2 degrees of freedom
 * (Student, "The Probable Error of a Mean", Biometrika 6(1), 1908; R. A. Fisher, "Applications of
 * 'Student's' Distribution", Metron 5, 1925), and the ratio is judged by its logarithm. Two runs
 * a side have two degrees of freedom that way. A variance for each side would leave one.
 *
 * Runs may agree by chance if a figure is made of few faults. So each run also varies by its
 * grain: one fault more or less.
 *
 * The variation within the runs is not used. It is no upper bound (phases and kinds of faults that
 * occur in every run are not chance), and no lower bound that would help: whether it or the
 * variation between runs is larger cannot be known from two runs. Pure.
 */
#ifndef PFSTAT_USER_RUN_MEAN_H
#define PFSTAT_USER_RUN_MEAN_H

#include <stddef.h>

#include "analyze/batches.h"

struct run_mean {
	double value;	     /* mean of the runs; NAN: n/a */
	double squares;	     /* sum of the squared deviations of the runs, relative to value */
	double grain;	     /* of one run, see struct estimate */
	size_t nr;	     /* runs that have the figure */
	struct estimate one; /* the run, if there is only one */
};

/* Runs that are n/a are left out. */
struct run_mean run_mean_of(const struct estimate *runs, size_t nr);

/* The degrees of freedom; 0: there is one run on each side, or none. */
size_t run_mean_freedom(const struct run_mean *a, const struct run_mean *b);

/*
 * The interval of b relative to a. It excludes 0 exactly if a two-sided test finds a difference.
 * With one run on each side it is that of the variation within the runs, see batches_interval().
 */
struct interval run_mean_interval(const struct run_mean *a, const struct run_mean *b,
				  double confidence);

#endif

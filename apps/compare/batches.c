// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts a run's faults and reads into batches, and estimates figures and their variance from them.
 * cmd_compare.c adds the faults and reads, and comparison.c uses them. Sums over the run are
 * exact, and there are never more than BATCHES_MAX batches.
 */
#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "util/statistics.h"

#define FREEDOM_MAX 200 /* Student's distribution is practically normal there */

/* Merges neighbouring pairs, to make room for batches twice as long. */
static void batches_merge(struct batches *batches)
{
	const size_t nr = (batches->nr + 1) / 2;
	unsigned int sum;
	size_t i;

	for (i = 0; i < nr; i++)
		for (sum = 0; sum < NR_BATCH_SUMS; sum++)
			batches->sums[i][sum] =
				batches->sums[2 * i][sum] +
				(2 * i + 1 < batches->nr ? batches->sums[2 * i + 1][sum] : 0);
	memset(batches->sums[nr], 0, (BATCHES_MAX - nr) * sizeof(batches->sums[0]));
	batches->nr = nr;
	batches->length *= 2;
}

/* Returns the batch for the next fault. */
static uint64_t *batch_by_number(struct batches *batches)
{
	batches->length = batches->length ?: 1;
	if (!batches->nr || batches->sums[batches->nr - 1][BATCH_FAULTS] == batches->length) {
		if (batches->nr == BATCHES_MAX)
			batches_merge(batches);
		/* Merging turns 32 full batches into 16 full ones. */
		batches->nr++;
	}
	return batches->sums[batches->nr - 1];
}

static void batches_reach(struct batches *batches, uint64_t ns)
{
	batches->length = batches->length ?: 1000;
	while (ns / batches->length >= BATCHES_MAX)
		batches_merge(batches);
}

/* @ns: time since the start of the run */
static uint64_t *batch_by_time(struct batches *batches, uint64_t ns)
{
	size_t at;

	batches_reach(batches, ns);
	at = ns / batches->length;
	if (at >= batches->nr)
		batches->nr = at + 1;
	return batches->sums[at];
}

static uint64_t since(uint64_t start_ns, uint64_t ns)
{
	return ns > start_ns ? ns - start_ns : 0;
}

static void squares_add(double *squares, const struct explained *fault)
{
	const double whole = fault->end_ns - fault->start_ns;
	enum part part;

	for (part = 0; part < NR_PARTS; part++)
		squares[part] += (double)fault->parts_ns[part] * fault->parts_ns[part];
	squares[NR_PARTS] += whole * whole;
}

static void sums_add(uint64_t *sums, const struct explained *fault)
{
	enum part part;

	sums[BATCH_FAULTS]++;
	sums[BATCH_MAJOR] += fault->major;
	for (part = 0; part < NR_PARTS; part++)
		sums[BATCH_TIME + part] += fault->parts_ns[part];
	sums[BATCH_TIME + NR_PARTS] += fault->end_ns - fault->start_ns;
}

void fault_batches_add(struct fault_batches *batches, const struct explained *fault,
		       uint64_t start_ns)
{
	sums_add(batches->sums, fault);
	squares_add(batches->squares, fault);
	sums_add(batch_by_number(&batches->by_number), fault);
	sums_add(batch_by_time(&batches->by_time, since(start_ns, fault->end_ns)), fault);
}

/* Keeps only batches within the watched time. */
static void batches_end(struct batches *batches, uint64_t ns)
{
	batches_reach(batches, ns);
	batches->nr = ns / batches->length;
}

void fault_batches_end(struct fault_batches *batches, uint64_t start_ns, uint64_t end_ns)
{
	batches_end(&batches->by_time, since(start_ns, end_ns));
}

void read_batches_add(struct read_batches *batches, uint64_t bytes, uint64_t ns, uint64_t start_ns)
{
	batches->requests++;
	batches->bytes += bytes;
	batches->squares += (double)bytes * bytes;
	batch_by_time(&batches->by_time, since(start_ns, ns))[BATCH_TIME] += bytes;
}

void read_batches_end(struct read_batches *batches, uint64_t start_ns, uint64_t end_ns)
{
	batches_end(&batches->by_time, since(start_ns, end_ns));
}

/* Degrees of freedom for the mean square successive difference over nr numbers. */
static double freedom_of(size_t nr)
{
	return fmax(1, 2.0 * (nr - 1) * (nr - 1) / (3.0 * nr - 4));
}

static double grain_of(const struct fault_batches *batches, enum part part)
{
	const uint64_t sum = batches->sums[BATCH_TIME + part];

	return sum ? batches->squares[part] / sum : 0;
}

struct estimate batches_estimate_mean(const struct fault_batches *batches, enum part part)
{
	const enum batch_sum sum = BATCH_TIME + part;
	const struct batches *by_number = &batches->by_number;
	const double count = batches->sums[BATCH_FAULTS];
	const uint64_t *one, *two;
	double squares = 0, step;
	size_t i;

	if (!batches->sums[BATCH_FAULTS])
		return (struct estimate){ .value = NAN, .freedom = 1 };
	for (i = 0; i + 1 < by_number->nr; i++) {
		one = by_number->sums[i];
		two = by_number->sums[i + 1];
		step = (double)two[sum] / two[BATCH_FAULTS] - (double)one[sum] / one[BATCH_FAULTS];
		/* The last batch may be shorter than the others. */
		squares += step * step / (1.0 / one[BATCH_FAULTS] + 1.0 / two[BATCH_FAULTS]);
	}
	return (struct estimate){
		.value = batches->sums[sum] / count,
		.variance = i ? squares / i / count : 0,
		.freedom = i ? freedom_of(i + 1) : 1,
		.grain = grain_of(batches, part) / count,
	};
}

/* Variance of the sum over all batches, from the steps between them. 0: too few batches. */
static double variance_in_time(const struct batches *batches, enum batch_sum sum)
{
	double squares = 0, step;
	size_t i;

	for (i = 0; i + 1 < batches->nr; i++) {
		step = (double)batches->sums[i + 1][sum] - (double)batches->sums[i][sum];
		squares += step * step / 2;
	}
	return i ? squares / i * batches->nr : 0;
}

/* Takes the steps in time into account, and divides by the time unless seconds is 0. */
static struct estimate batches_per_second(struct estimate total, const struct batches *by_time,
					  enum batch_sum sum, double seconds)
{
	const double covered_s = by_time->nr * (double)by_time->length / 1e9;
	double variance;

	if (seconds <= 0)
		return total;
	variance = covered_s > 0 ? variance_in_time(by_time, sum) * seconds / covered_s : 0;
	if (variance > total.variance) {
		total.variance = variance;
		total.freedom = freedom_of(by_time->nr);
	}
	total.value /= seconds;
	total.grain /= seconds;
	total.variance /= seconds * seconds;
	return total;
}

struct estimate batches_estimate_sum(const struct fault_batches *batches, enum batch_sum sum,
				     double seconds)
{
	const double value = batches->sums[sum], count = batches->sums[BATCH_FAULTS];
	struct estimate mean, total = { value, value, FREEDOM_MAX, 1 };

	if (sum >= BATCH_TIME)
		total.grain = grain_of(batches, sum - BATCH_TIME);
	if (sum >= BATCH_TIME && count > 0) {
		/* Both the number of faults and their durations vary by chance. */
		mean = batches_estimate_mean(batches, sum - BATCH_TIME);
		total.variance = count * count * mean.variance + count * mean.value * mean.value;
		total.freedom = mean.freedom;
	}
	return batches_per_second(total, &batches->by_time, sum, seconds);
}

struct estimate batches_estimate_reads(const struct read_batches *batches, double seconds)
{
	const struct estimate total = {
		.value = batches->bytes,
		.variance = batches->squares,
		.freedom = FREEDOM_MAX,
		.grain = batches->bytes ? batches->squares / batches->bytes : 0,
	};

	return batches_per_second(total, &batches->by_time, BATCH_TIME, seconds);
}

static double square(double x)
{
	return x * x;
}

double batches_interval_relative(double a, double b)
{
	return a == b ? 0 : b / a - 1;
}

/* B. L. Welch, "The Generalization of Student's Problem", Biometrika 34, 1947. */
static double student_of(const struct estimate *a, const struct estimate *b, double confidence)
{
	const double sum = a->variance + b->variance;
	double freedom;

	if (sum <= 0)
		return 0;
	freedom = sum * sum / (square(a->variance) / a->freedom + square(b->variance) / b->freedom);
	return student_quantile((1 + confidence) / 2, fmin(fmax(freedom, 1), FREEDOM_MAX));
}

struct interval batches_interval(const struct estimate *a, const struct estimate *b,
				 double confidence)
{
	const double t = student_of(a, b, confidence);
	/* Positive if the value differs from 0 with the given confidence. */
	const double p = square(a->value) - square(t) * a->variance;
	const double q = square(b->value) - square(t) * b->variance;
	const double product = a->value * b->value;
	struct interval interval = {
		.difference = batches_interval_relative(a->value, b->value),
		.low = -1,
		.high = INFINITY,
	};
	double root;

	if (a->value == 0 && a->variance == 0) {
		/* a has no fault at all: the ratio is unbounded, or nothing is certain. */
		if (b->value == 0)
			interval.high = 0;
		if (b->value == 0 || q > 0)
			interval.low = interval.difference;
		return interval;
	}
	/* The ratios r with (b - r a)^2 = t^2 (Var b + r^2 Var a). */
	root = sqrt(fmax(product * product - p * q, 0));
	if (p > 0) {
		interval.low = fmax((product - root) / p, 0) - 1;
		interval.high = (product + root) / p - 1;
	} else if (q > 0) {
		interval.low = q / (product + root) - 1;
	}
	return interval;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bootstrap.h"
#include "poisson.h"

/*
 * More buckets than that are put together with neighbours less than 2 % away. That
 * many, each of 0.05 % at least, are spread so far that no spread is lost by it.
 */
#define MANY_BUCKETS 256
#define NEIGHBOUR 1.02

struct weight {
	double value;
	double count;
	struct poisson poisson;
};

/* One run, ready to be drawn from. */
struct urn {
	struct weight *weights;
	size_t nr;
	double scale;	/* from the mean of the rounded times to that of the exact ones */
};

double bootstrap_relative(double a, double b)
{
	return a == b ? 0 : b / a - 1;
}

uint64_t bootstrap_count(const struct bootstrap_times *times)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < times->nr; i++)
		count += times->several[i]->count;
	return count;
}

double bootstrap_mean(const struct bootstrap_times *times)
{
	return (double)times->total_ns / bootstrap_count(times);
}

static size_t nr_buckets(const struct bootstrap_times *times)
{
	struct quantile_bucket bucket;
	unsigned int cursor;
	size_t i, nr = 0;

	for (i = 0; i < times->nr; i++)
		for (cursor = 0; quantile_next(times->several[i], &cursor, &bucket);)
			nr++;
	return nr;
}

static int by_value(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Puts times together that are as good as equal; the mean stays what it was. */
static void urn_thin(struct urn *urn)
{
	double first = -1, count;
	struct weight *kept, *weight;
	size_t i, nr = 0;

	qsort(urn->weights, urn->nr, sizeof(*urn->weights), by_value);
	for (i = 0; i < urn->nr; i++) {
		weight = &urn->weights[i];
		if (weight->value > first * NEIGHBOUR) {
			first = weight->value;
			urn->weights[nr++] = *weight;
			continue;
		}
		kept = &urn->weights[nr - 1];
		count = kept->count + weight->count;
		kept->value += (weight->value - kept->value) * weight->count / count;
		kept->count = count;
	}
	urn->nr = nr;
}

static void urn_fill(struct urn *urn, const struct bootstrap_times *times)
{
	struct quantile_bucket bucket;
	unsigned int cursor;
	size_t i;

	for (i = 0; i < times->nr; i++)
		for (cursor = 0; quantile_next(times->several[i], &cursor, &bucket);)
			urn->weights[urn->nr++] = (struct weight){
				.value = bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2.0,
				.count = bucket.count,
			};
}

static int urn_init(struct urn *urn, const struct bootstrap_times *times)
{
	double sum = 0;
	size_t i;

	*urn = (struct urn){ .weights = calloc(nr_buckets(times), sizeof(*urn->weights)) };
	if (!urn->weights)
		return -ENOMEM;
	urn_fill(urn, times);
	if (urn->nr > MANY_BUCKETS)
		urn_thin(urn);
	for (i = 0; i < urn->nr; i++) {
		urn->weights[i].poisson = poisson_begin(urn->weights[i].count);
		sum += urn->weights[i].count * urn->weights[i].value;
	}
	urn->scale = sum > 0 ? times->total_ns / sum : 0;
	return 0;
}

static double urn_draw(const struct urn *urn, struct random *random)
{
	double count, sum, drawn;
	size_t i;

	/* The mean of nothing drawn is none; a run of ten comes to that in 22000. */
	do {
		count = 0;
		sum = 0;
		for (i = 0; i < urn->nr; i++) {
			drawn = poisson_draw(&urn->weights[i].poisson, random);
			count += drawn;
			sum += drawn * urn->weights[i].value;
		}
	} while (count == 0);
	return urn->scale * sum / count;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void take_interval(const struct bootstrap *how, double *replicates,
			  struct bootstrap_interval *interval)
{
	const size_t outside = (1 - how->confidence) / 2 * how->replicates;

	qsort(replicates, how->replicates, sizeof(*replicates), by_size);
	interval->low = replicates[outside];
	interval->high = replicates[how->replicates - 1 - outside];
}

static int bootstrap_urns(const struct bootstrap *how, const struct urn *a, const struct urn *b,
			  struct bootstrap_interval *interval)
{
	struct random random = random_begin(how->seed, 0);
	double *replicates = calloc(how->replicates, sizeof(*replicates));
	double drawn;
	unsigned int i;

	if (!replicates)
		return -ENOMEM;
	for (i = 0; i < how->replicates; i++) {
		drawn = urn_draw(a, &random);
		replicates[i] = bootstrap_relative(drawn, urn_draw(b, &random));
	}
	take_interval(how, replicates, interval);
	free(replicates);
	return 0;
}

int bootstrap_means(const struct bootstrap *how, const struct bootstrap_times *a,
		    const struct bootstrap_times *b, struct bootstrap_interval *interval)
{
	struct urn urn_a = { 0 }, urn_b = { 0 };
	int err;

	interval->difference = bootstrap_relative(bootstrap_mean(a), bootstrap_mean(b));
	err = urn_init(&urn_a, a);
	if (!err)
		err = urn_init(&urn_b, b);
	if (!err)
		err = bootstrap_urns(how, &urn_a, &urn_b, interval);
	free(urn_a.weights);
	free(urn_b.weights);
	return err;
}

int bootstrap_counts(const struct bootstrap *how, uint64_t a, uint64_t b,
		     struct bootstrap_interval *interval)
{
	const struct poisson poisson_a = poisson_begin(a), poisson_b = poisson_begin(b);
	struct random random = random_begin(how->seed, 0);
	double *replicates = calloc(how->replicates, sizeof(*replicates));
	double drawn;
	unsigned int i;

	if (!replicates)
		return -ENOMEM;
	interval->difference = bootstrap_relative(a, b);
	for (i = 0; i < how->replicates; i++) {
		drawn = poisson_draw(&poisson_a, &random);
		replicates[i] = bootstrap_relative(drawn, poisson_draw(&poisson_b, &random));
	}
	take_interval(how, replicates, interval);
	free(replicates);
	return 0;
}

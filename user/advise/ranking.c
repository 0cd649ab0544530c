// SPDX-License-Identifier: GPL-2.0-only
/* Candidate means, intervals and order. No I/O, no clock. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "advise/ranking.h"
#include "util/statistics.h"

struct rounds {
	const struct repetition_figures *figures;
	size_t nr_candidates, nr;
	double *values; /* one a round */
};

static const struct repetition_figures *figures_of(const struct rounds *rounds, size_t round,
						   size_t candidate)
{
	return &rounds->figures[round * rounds->nr_candidates + candidate];
}

/* A member's mean over the rounds. NAN if a round does not know it. */
static double mean_of(const struct rounds *rounds, size_t candidate, size_t offset)
{
	const char *figures;
	double sum = 0;
	uint64_t value;
	size_t i;

	for (i = 0; i < rounds->nr; i++) {
		figures = (const char *)figures_of(rounds, i, candidate);
		value = *(const uint64_t *)(figures + offset);
		if (value == UINT64_MAX)
			return NAN;
		sum += value;
	}
	return sum / rounds->nr;
}

#define MEAN_OF(rounds, candidate, member) \
	mean_of(rounds, candidate, offsetof(struct repetition_figures, member))

static double elapsed_of(const struct rounds *rounds, size_t round, size_t candidate)
{
	return figures_of(rounds, round, candidate)->elapsed_ns;
}

/* The time a candidate saves over another one in the same round. */
static int trimmed_difference(struct trimmed_mean *trimmed, const struct rounds *rounds,
			      size_t candidate, size_t from)
{
	size_t i;

	for (i = 0; i < rounds->nr; i++)
		rounds->values[i] = elapsed_of(rounds, i, from) - elapsed_of(rounds, i, candidate);
	return statistics_trimmed(trimmed, rounds->values, rounds->nr);
}

static int trimmed_elapsed(double *elapsed_ns, const struct rounds *rounds, size_t candidate)
{
	struct trimmed_mean trimmed;
	size_t i;
	int err;

	for (i = 0; i < rounds->nr; i++)
		rounds->values[i] = elapsed_of(rounds, i, candidate);
	err = statistics_trimmed(&trimmed, rounds->values, rounds->nr);
	if (!err)
		*elapsed_ns = trimmed.mean;
	return err;
}

/* @family: number of intervals holding together */
static int ranking_take_saving(struct ranking_row *row, const struct rounds *rounds, size_t family)
{
	struct trimmed_mean saving;
	int err = trimmed_difference(&saving, rounds, row->candidate, 0);

	if (!err)
		err = trimmed_elapsed(&row->elapsed_ns, rounds, row->candidate);
	if (err)
		return err;
	row->saving_ns = saving.mean;
	row->half_width_ns = NAN;
	if (!row->candidate)
		row->half_width_ns = 0;
	else if (saving.freedom)
		row->half_width_ns =
			saving.standard_error *
			student_quantile(1 - (1 - RANKING_CONFIDENCE) / 2 / family, saving.freedom);
	return 0;
}

static void ranking_take_means(struct ranking_row *row, const struct rounds *rounds)
{
	const struct repetition_figures *figures;
	size_t i;

	row->fault_ns = MEAN_OF(rounds, row->candidate, fault_ns);
	row->minor = MEAN_OF(rounds, row->candidate, minor);
	row->major = MEAN_OF(rounds, row->candidate, major);
	row->read_bytes = MEAN_OF(rounds, row->candidate, read_bytes);
	for (i = 0; i < rounds->nr; i++) {
		figures = figures_of(rounds, i, row->candidate);
		row->refused += figures->refused;
		if (figures->refused)
			row->refused_errno = figures->refused_errno;
	}
}

/* Equal savings keep the candidate order, so simpler changes come first. */
static int ranking_by_saving(const void *a, const void *b)
{
	const struct ranking_row *left = a, *right = b;

	if (left->saving_ns != right->saving_ns)
		return left->saving_ns > right->saving_ns ? -1 : 1;
	return left->candidate < right->candidate ? -1 : left->candidate > right->candidate;
}

/* A bound, or a one-round mean, does not prove a saving. */
static size_t ranking_find_best(const struct ranking *ranking)
{
	size_t i;

	for (i = 0; i < ranking->nr; i++)
		if (ranking->rows[i].candidate && !ranking->rows[i].at_most &&
		    ranking->rows[i].saving_ns - ranking->rows[i].half_width_ns > 0)
			return i;
	return ranking->nr;
}

static size_t ranking_count(const bool *tried, size_t nr, size_t anchor)
{
	size_t i, count = 0;

	for (i = 1; i < nr; i++)
		count += tried[i] && i != anchor;
	return count ?: 1;
}

int ranking_make(struct ranking *ranking, const struct repetition_figures *figures,
		 size_t nr_candidates, size_t nr_rounds, const bool *tried, const bool *at_most,
		 size_t anchor, uint64_t recorded_ns)
{
	const size_t family = ranking_count(tried, nr_candidates, anchor);
	struct rounds rounds = { figures, nr_candidates, nr_rounds, NULL };
	struct trimmed_mean control; /* the control's saving over the recorded conditions */
	struct ranking_row *row;
	int err;
	size_t i;

	*ranking = (struct ranking){ 0 };
	ranking->rows = calloc(nr_candidates, sizeof(*ranking->rows));
	rounds.values = calloc(nr_rounds, sizeof(*rounds.values));
	err = ranking->rows && rounds.values ? 0 : -ENOMEM;
	if (!err)
		err = trimmed_elapsed(&ranking->anchor_ns, &rounds, anchor);
	if (!err)
		err = trimmed_difference(&control, &rounds, 0, anchor);
	for (i = 0; i < nr_candidates && !err; i++) {
		if (!tried[i] || (anchor && i == anchor))
			continue;
		row = &ranking->rows[ranking->nr++];
		row->candidate = i;
		row->at_most = at_most[i];
		err = ranking_take_saving(row, &rounds, family);
		ranking_take_means(row, &rounds);
		row->predicted_ns = recorded_ns - control.mean - row->saving_ns;
	}
	free(rounds.values);
	if (err)
		return err;
	qsort(ranking->rows, ranking->nr, sizeof(*ranking->rows), ranking_by_saving);
	ranking->best = ranking_find_best(ranking);
	return 0;
}

void ranking_exit(struct ranking *ranking)
{
	free(ranking->rows);
	*ranking = (struct ranking){ 0 };
}

// SPDX-License-Identifier: GPL-2.0-only
/* The policies that pfdrive advise compares, and their ranking. No I/O, no clock. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "advise/advise.h"
#include "system/kernel_settings.h"
#include "util/array.h"
#include "util/statistics.h"
#include "util/text.h"

/* The policy table, without policies already set on this machine. */

#define KIB 1024

static const struct {
	const char *name, *call;
	int advice;
} advices[] = {
	{ "normal", "MADV_NORMAL", MADV_NORMAL },
	{ "random", "MADV_RANDOM", MADV_RANDOM },
	{ "sequential", "MADV_SEQUENTIAL", MADV_SEQUENTIAL },
	{ "willneed", "MADV_WILLNEED", MADV_WILLNEED },
	{ "populate_read", "MADV_POPULATE_READ", MADV_POPULATE_READ },
};

static const uint64_t readahead_kib[] = { 0, 32, 128, 512, 2048 };
static const uint64_t around_kib[] = { 4, 16, 64, 256 };

static struct candidate candidate_new(void)
{
	return (struct candidate){ .advice = CANDIDATE_KEEP,
				   .readahead_bytes = CANDIDATE_KEEP,
				   .around_bytes = CANDIDATE_KEEP };
}

static struct candidate candidate_of_advice(size_t i)
{
	struct candidate candidate = candidate_new();

	snprintf(candidate.name, sizeof(candidate.name), "%s", advices[i].name);
	candidate.advice = advices[i].advice;
	candidate.maps_less = candidate.advice == MADV_RANDOM;
	return candidate;
}

static void candidate_name(struct candidate *candidate, const char *what, uint64_t bytes)
{
	char size[16];

	size_name(bytes, size, sizeof(size));
	snprintf(candidate->name, sizeof(candidate->name), "%s %s", what, size);
}

static struct candidate candidate_of_readahead(uint64_t bytes, uint64_t now)
{
	struct candidate candidate = candidate_new();

	candidate_name(&candidate, "read-ahead", bytes);
	candidate.readahead_bytes = bytes;
	candidate.maps_less = bytes < now || !now;
	return candidate;
}

static struct candidate candidate_of_around(uint64_t bytes, uint64_t now)
{
	struct candidate candidate = candidate_new();

	candidate_name(&candidate, "fault-around", bytes);
	candidate.around_bytes = bytes;
	candidate.maps_less = bytes < now || !now;
	return candidate;
}

size_t candidates_make(struct candidate *candidates, const struct candidate_settings *settings)
{
	size_t nr = 0, i;

	candidates[nr] = candidate_new();
	strcpy(candidates[nr++].name, "control");
	for (i = 0; i < ARRAY_SIZE(advices); i++)
		candidates[nr++] = candidate_of_advice(i);
	for (i = 0; i < ARRAY_SIZE(readahead_kib); i++)
		if (readahead_kib[i] * KIB != settings->readahead_bytes)
			candidates[nr++] = candidate_of_readahead(readahead_kib[i] * KIB,
								  settings->readahead_bytes);
	for (i = 0; i < ARRAY_SIZE(around_kib); i++)
		if (around_kib[i] * KIB != settings->around_bytes)
			candidates[nr++] =
				candidate_of_around(around_kib[i] * KIB, settings->around_bytes);
	return nr;
}

void candidate_remedy(const struct candidate *candidate, const char *file, const char *setting,
		      char *text, size_t size)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(advices); i++)
		if (candidate->advice == advices[i].advice)
			snprintf(text, size,
				 "call madvise(address, length, %s) after the mmap(2) of %s, and "
				 "remove other advice about it",
				 advices[i].call, file);
	if (candidate->readahead_bytes >= 0)
		snprintf(text, size,
			 "echo %" PRId64 " > %s before the program opens %s; this applies to all "
			 "files on the device",
			 candidate->readahead_bytes / KIB, setting, file);
	if (candidate->around_bytes >= 0)
		snprintf(text, size,
			 "echo %" PRId64 " > " FAULT_AROUND_SETTING
			 "; this applies to all programs on the machine",
			 candidate->around_bytes);
}

#define RANKING_CONFIDENCE 0.95

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

/* SPDX-License-Identifier: GPL-2.0-only */
/* Predictions: formulas of the operations, or of the user, evaluated over the results. */
#ifndef PFSTAT_USER_PREDICT_H
#define PFSTAT_USER_PREDICT_H

#include "bench/suite/bench_results.h"
#include "util/why.h"

struct prediction {
	char name[FORMULA_NAME]; /* of a row, or of an operation with all its rows */
	bool hardware;		 /* for NAME.hardware */
	char formula[sizeof(((struct bench_figure *)0)->formula)];
};

struct predictions {
	struct prediction *all;
	size_t nr;
};

/*
 * Reads lines NAME = FORMULA or NAME.hardware = FORMULA; # begins a comment. Returns 0 or a
 * negative errno; then why holds a clause with the line and the error.
 */
int predict_read(struct predictions *predictions, FILE *in, struct why *why);
void predict_free(struct predictions *predictions);

/*
 * Iterates over the predictions of points that a measured operation does not have; they may
 * exist on another machine or without --quick. NULL: no more.
 */
const struct prediction *predict_unmatched(const struct predictions *predictions,
					   const struct bench_results *results, size_t *next);

/* Fills hardware and predicted of every row. The user's formulas replace the operation's. */
void predict_rows(struct bench_results *results, const struct predictions *predictions);

#endif

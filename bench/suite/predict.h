/* SPDX-License-Identifier: GPL-2.0-only */
/* Predictions: formulas from the operations, or from the user, evaluated over the results. */
#ifndef PFSTAT_USER_PREDICT_H
#define PFSTAT_USER_PREDICT_H

#include "bench/suite/bench_results.h"
#include "util/why.h"

struct prediction {
	char name[FORMULA_NAME]; /* a row, or an operation with all its rows */
	bool hardware;		 /* for NAME.hardware */
	char formula[sizeof(((struct bench_figure *)0)->formula)];
};

struct predictions {
	struct prediction *all;
	size_t nr;
};

/*
 * Reads lines NAME = FORMULA or NAME.hardware = FORMULA. # starts a comment. Returns 0, or a
 * negative errno with a clause in why that names the line and the error.
 */
int predict_read(struct predictions *predictions, FILE *in, struct why *why);
void predict_free(struct predictions *predictions);

/*
 * Iterates over predictions for points that a measured operation does not have. These points may
 * exist on another machine or without --quick. NULL: no more.
 */
const struct prediction *predict_unmatched(const struct predictions *predictions,
					   const struct bench_results *results, size_t *next);

/* Fills hardware and predicted in every row. The user's formulas replace the operation's. */
void predict_rows(struct bench_results *results, const struct predictions *predictions);

#endif

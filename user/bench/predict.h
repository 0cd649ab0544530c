/* SPDX-License-Identifier: GPL-2.0-only */
/* What an operation should cost, from what others cost, or as the user thinks. */
#ifndef PFSTAT_USER_PREDICT_H
#define PFSTAT_USER_PREDICT_H

#include "bench/bench_results.h"

struct prediction {
	char name[FORMULA_NAME];	/* of a row, or of an operation: all its rows */
	bool hardware;			/* NAME.hardware */
	char formula[sizeof(((struct bench_figure *)0)->formula)];
};

struct predictions {
	struct prediction *all;
	size_t nr;
};

/*
 * The user's: lines NAME = FORMULA or NAME.hardware = FORMULA; # begins a comment. 0, or
 * a negative errno and in why a clause that says where and what.
 */
int predictions_read(struct predictions *predictions, FILE *in, char *why, size_t size);
void predictions_free(struct predictions *predictions);

/*
 * The next, from *next on, of a point that its operation, which is measured, does not have:
 * on another machine or without --quick there may be one. NULL: no more.
 */
const struct prediction *predictions_unmatched(const struct predictions *predictions,
							const struct bench_results *results,
								size_t *next);

/* Fills hardware and predicted of every row; the user's go before the operation's own. */
void predict_rows(struct bench_results *results, const struct predictions *predictions);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive what-if: the settings to predict, and why some cannot be predicted. */
#ifndef PFSTAT_APPS_WHAT_IF_H
#define PFSTAT_APPS_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/prediction/prediction.h"
#include "recorded_touches.h"
#include "util/subcommand.h"

/* Why a file is left out: --file names another one. */
#define WHAT_IF_OTHER_FILE "--file names another one"

/* The settings. */

#define WHAT_IF_VALUES 16 /* of one option */
#define WHAT_IF_ROWS   512

struct what_if_options {
	const char *recording;
	const char *file;		    /* NULL: all */
	const char *json;		    /* NULL: none */
	uint64_t readahead[WHAT_IF_VALUES]; /* in bytes */
	size_t nr_readahead;
	enum mapping_advice advice[MAPPING_NR_ADVICES];
	size_t nr_advice;
	uint64_t around[WHAT_IF_VALUES];
	size_t nr_around;
};

struct what_if_row {
	struct prediction_settings settings;
	const char *cannot;  /* the reason, one clause, or NULL if it is predicted */
	const char *no_time; /* the same for the time */
	struct fault_prediction prediction;
};

struct what_if {
	struct what_if_options options;
	struct recorded_touches touches;
	bool exact;		/* each access is in the recording */
	uint64_t faults, major; /* recorded, on the files not left out */
	uint64_t read_again;
	int64_t readahead_bytes; /* as recorded, -1: it differs between files, or is not known */
	uint64_t around_bytes;	 /* as recorded */
	bool around_known;
	struct read_cost cost;
	const char *no_time; /* why no time is predicted, one clause, or NULL */
	struct what_if_row rows[WHAT_IF_ROWS];
	size_t nr_rows;
	size_t best; /* nr_rows: none */
};

/* Returns STATUS_OK, or the exit status after a message or for a signal. */
int what_if_run(struct what_if *what_if);
void what_if_exit(struct what_if *what_if);

extern const struct subcommand what_if_command;

#endif

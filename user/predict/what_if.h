/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The faults that a recording would have had under other settings, and why some of these cannot be
 * predicted.
 */
#ifndef PFSTAT_USER_WHAT_IF_H
#define PFSTAT_USER_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/prediction/prediction.h"
#include "predict/recorded_touches.h"
#include "report/report.h"
#include "util/why.h"

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
	/* Why the caller leaves out a file, one clause, or NULL. The function NULL: it has no reasons. */
	const char *(*leave_out)(const void *context, const struct touched_file *file);
	const void *context;
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

/*
 * Reads the recording in the options, and chooses the files that the model can follow. Returns 0,
 * -EINTR after a signal, or another negative errno with a clause in why. Requires the exit, also
 * then.
 */
int what_if_open(struct what_if *what_if, struct why *why);
/*
 * Adds a row, at most WHAT_IF_ROWS. @window, @around: see struct prediction_settings, in pages. The
 * first row must have the recorded settings.
 */
void what_if_add(struct what_if *what_if, uint64_t window, enum mapping_advice advice,
		 uint64_t around);
/* Adds the recorded settings, and the rows that the options ask for. */
void what_if_add_settings(struct what_if *what_if);
/* Predicts all rows. Returns 0, -EINTR after a signal, or -ENOMEM. */
int what_if_predict(struct what_if *what_if);
void what_if_exit(struct what_if *what_if);

/*
 * Reads the recording again if the report's verdict has a cause whose remedy is a setting, and
 * fills report->predicted with what the model can follow. @file: NULL: all files
 * Returns 0, -EINTR after a signal, or -ENOMEM.
 */
int report_prediction_fill(struct report *report, const char *recording, const char *file);

#endif

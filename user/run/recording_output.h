/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that is written while it is made. All zero: none is wanted.
 *
 * The file has a temporary name until recording_output_go() gives it the name chosen by the user.
 * From then on no error removes the file. The TAIL holds the reason why the file is cut, or, if the
 * TAIL cannot be written, the file ends without TAIL after the last whole block.
 */
#ifndef PFSTAT_USER_RECORDING_OUTPUT_H
#define PFSTAT_USER_RECORDING_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "model/counters.h"
#include "model/item.h"
#include "report/report.h"
#include "workload/mapping.h"

struct recording_writer;
struct output;

struct recording_output {
	const char *path; /* as the user typed it */
	struct output *output;
	struct recording_writer *writer;
	FILE *again;		 /* reads the file from its start, once; NULL: it cannot be read */
	int err;		 /* the first: no item is written after it */
	uint64_t items;		 /* everything received, also after the error */
	int name_err;		 /* it has not got its name */
	bool going;		 /* recording_output_go() */
	uint64_t refused_events; /* received after the error */
};

/*
 * path: NULL if no recording is wanted. 0 or a negative errno, also in recording->err: then there
 * is no file, and nothing is recorded.
 */
int recording_output_begin(struct recording_output *recording, const char *path,
			   const struct report *report);
/*
 * Reports that recording->err ended the writing. Returns STATUS_FAILED.
 * @then: what is done without the recording, a clause after a semicolon, or ""
 */
int recording_output_report(const struct recording_output *recording, const char *then);
/* Adds this process's mapping, as an item without a time. */
int recording_output_map(item_sink sink, void *context, const struct mapping *mapping,
			 const char *path);
/* Adds this thread's name and this process's mappings, as items without a time. */
int recording_output_self(item_sink sink, void *context);
/*
 * The workload starts. An older file with this name is kept as PATH.old. An error is reported here,
 * and recording_output_end() returns it as exit status.
 */
void recording_output_go(struct recording_output *recording);
/* Returns 0, or the negative errno for the first item that could not be written. */
int recording_output_item(struct recording_output *recording, const struct item *item);
/*
 * Passes all items that came before the first error to sink: first from the file, then from memory
 * if they could not be written. Call it once, if recording->again is not NULL. Returns 0, the error
 * from sink, or a negative errno.
 */
int recording_output_replay(struct recording_output *recording, item_sink sink, void *context);
/*
 * Writes the code names (NULL if not known) and the counters, and closes the file. Without
 * recording_output_go() the file gets the final name here, so it is complete under this name.
 * Returns the exit status, after a message if the recording is incomplete.
 * @cut: why the recording is incomplete, as a clause, or NULL if it is complete
 */
int recording_output_end(struct recording_output *recording, const json_t *symbols,
			 const struct run_counters *counters, const char *cut);
/* Removes a recording whose workload has not begun. */
void recording_output_close(struct recording_output *recording);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that is written while it is made. All zero: none is wanted.
 *
 * Its file has a temporary name until recording_output_go() gives it the name that the user chose.
 * From then on no error removes it: its TAIL holds the reason why it is cut, or, if that cannot be
 * written, it ends without TAIL after the last whole block.
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
	uint64_t items;		 /* all that came, also after that error */
	int name_err;		 /* it has not got its name */
	bool going;		 /* recording_output_go() */
	uint64_t refused_events; /* that came after that error */
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
/* Adds the mapping of this process, as an item without a time. */
int recording_output_map(item_sink sink, void *context, const struct mapping *mapping,
			 const char *path);
/* Adds the name of this thread and the mappings of its process, as items without a time. */
int recording_output_self(item_sink sink, void *context);
/*
 * The workload begins. An older file of that name is kept as PATH.old. An error is reported here,
 * and is the exit status of recording_output_end().
 */
void recording_output_go(struct recording_output *recording);
/* 0, or the negative errno of the first item that could not be written. */
int recording_output_item(struct recording_output *recording, const struct item *item);
/*
 * Passes all items that came before the first error to sink, from the file, then from memory those
 * that could not be written. Once, if recording->again is not NULL. 0, the error of sink, or a
 * negative errno.
 */
int recording_output_replay(struct recording_output *recording, item_sink sink, void *context);
/*
 * Writes the names of the code (NULL: they are not known) and the counters, and closes the file.
 * Without recording_output_go() the file gets its name here, so that it is complete under its name.
 * Returns the exit status, after a message if the recording is incomplete.
 * @cut: reason why the recording is incomplete, as a clause; NULL: it is complete
 */
int recording_output_end(struct recording_output *recording, const json_t *symbols,
			 const struct run_counters *counters, const char *cut);
/* Removes a recording whose workload has not begun. */
void recording_output_close(struct recording_output *recording);

#endif

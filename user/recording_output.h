/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that is written while it is made. All zero: none is wanted. */
#ifndef PFSTAT_USER_RECORDING_OUTPUT_H
#define PFSTAT_USER_RECORDING_OUTPUT_H

#include <jansson.h>

#include "correlate/facts.h"
#include "engine/mapping.h"
#include "item.h"
#include "report/report.h"

struct recording_writer;
struct output;

struct recording_output {
	const char *path;
	struct output *output;
	struct recording_writer *writer;
	int err;	/* the first of an item's: nothing is written after it */
};

/* The exit status. */
int recording_output_begin(struct recording_output *recording, const char *path,
			   const struct report *report);
/* What is mapped where, under which name: before any item of it. 0 or a negative errno. */
int recording_output_map(struct recording_output *recording, const struct mapping *mapping,
			 const char *path);
/* 0, or the negative errno of the first that could not be written, which is told at the end. */
int recording_output_item(struct recording_output *recording, const struct item *item);
/* Writes the names of the code and the facts, and the file is there. The exit status. */
int recording_output_end(struct recording_output *recording, const json_t *symbols,
			 const struct facts *facts);
/* What is not ended leaves nothing. */
void recording_output_close(struct recording_output *recording);

#endif

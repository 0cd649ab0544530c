/* SPDX-License-Identifier: GPL-2.0-only */
/* One row for each logical fault, as CSV or as lines of JSON, written while a run is streamed. */
#ifndef PFSTAT_USER_FAULT_ROWS_H
#define PFSTAT_USER_FAULT_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/analysis.h"

struct fault_rows {
	FILE *out;
	const struct analysis *analysis; /* has the names */
	bool json;
	/* The last file: faults come in runs. */
	uint64_t inode;
	uint32_t dev, generation;
	char *file;
};

/* Prints the header of CSV. The caller still owns out and analysis. 0 or a negative errno. */
int fault_rows_begin(struct fault_rows *rows, FILE *out, const struct analysis *analysis,
		     bool json);
/* An explain_sink. */
int fault_rows_add(void *rows, const struct explained *fault);
/* Frees the memory of the rows, and checks the output. A zeroed struct has no effect. */
int fault_rows_end(struct fault_rows *rows);

#endif

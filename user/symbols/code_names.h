/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the faulting code: looked up once, and stored in the recording. */
#ifndef PFSTAT_USER_CODE_NAMES_H
#define PFSTAT_USER_CODE_NAMES_H

#include <jansson.h>

#include "analyze/analysis.h"

struct code_files;

/*
 * Looks up every code address in the files that were mapped, and names it in the analysis.
 * @files: NULL for this machine's files
 * @symbols: array of {path, offset, symbol} or {pid, address, symbol}, for the recording
 * @left_out: names not fitting there, too long, or with a non-UTF-8 path
 * Returns 0 or a negative errno.
 */
int code_names_find(struct analysis *analysis, const struct code_files *files, json_t **symbols,
		    uint64_t *left_out);
/* Applies a recording's names to the analysis. */
int code_names_take(struct analysis *analysis, const json_t *symbols);

#endif

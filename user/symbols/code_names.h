/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the code that faulted: found once, kept in a recording. */
#ifndef PFSTAT_USER_CODE_NAMES_H
#define PFSTAT_USER_CODE_NAMES_H

#include <jansson.h>

#include "analyze/analysis.h"

struct code_files;

/*
 * Looks every code address up in the files that were mapped (NULL: in those of this
 * machine), and names it in the analysis. *symbols: an array of {path, offset, symbol}, for
 * the recording; those without a symbol are not in it. *left_out: names that have no room
 * there, are too long, or of a path that is not UTF-8. 0 or a negative errno.
 */
int code_names_find(struct analysis *analysis, const struct code_files *files, json_t **symbols,
		    uint64_t *left_out);
/* Names what a recording's symbols name. */
int code_names_take(struct analysis *analysis, const json_t *symbols);

#endif

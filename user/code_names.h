/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the code that faulted: found once, kept in a recording. */
#ifndef PFSTAT_USER_CODE_NAMES_H
#define PFSTAT_USER_CODE_NAMES_H

#include <jansson.h>

#include "correlate/analysis.h"

/*
 * Looks every code address up in the files of this machine, and names it in the
 * analysis. *symbols: an array of {path, offset, symbol}, for the recording; those
 * without a symbol are not in it. 0 or a negative errno.
 */
int code_names_find(struct analysis *analysis, json_t **symbols);
/* Names what a recording's symbols name. */
int code_names_take(struct analysis *analysis, const json_t *symbols);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_ADVISE_PRINT_H
#define PFSTAT_USER_ADVISE_PRINT_H

#include <stdio.h>

#include "advise/advise.h"

/* Prints the ranking as a table. Returns 0 or a negative errno. */
int advise_print_table(FILE *out, const struct advise *advise);
/* The same as JSON, see Documentation/formats/json.rst. */
int advise_json_print(FILE *out, const struct advise *advise);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts file and thread names, which may hold any bytes, to JSON strings. If a name is not valid
 * UTF-8, each non-ASCII byte becomes a question mark. NULL if there is no memory.
 */
#ifndef PFSTAT_USER_JSON_TEXT_H
#define PFSTAT_USER_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

json_t *json_text_value(const char *bytes);
/* Prints the same with quotes, without control characters. Returns 0 or -ENOMEM. */
int json_text_print(FILE *out, const char *bytes);

#endif

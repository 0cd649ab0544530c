/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures and texts as JSON values; n/a is null. NULL: no memory. */
#ifndef PFSTAT_USER_JSON_VALUE_H
#define PFSTAT_USER_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *value_count(uint64_t count);
json_t *value_count_if(bool known, uint64_t count);
/* COUNT_NA is null. */
json_t *value_known(uint64_t fact);
/* JSON's integers are signed here; what needs 64 bits becomes a string of digits. */
json_t *value_wide(uint64_t number);
/* NULL and "" are null. What is not UTF-8 becomes U+FFFD. */
json_t *value_text(const char *text);

/* array with item in it; NULL when one of them is. */
json_t *value_appended(json_t *array, json_t *item);
/* object with member in it; likewise. */
json_t *value_with(json_t *object, const char *key, json_t *member);

/*
 * Writes it with a newline behind it, and releases it; on a terminal with escapes for
 * characters that it would obey. -ENOMEM, also for NULL, or -errno.
 */
int value_print(FILE *out, json_t *value);

#endif

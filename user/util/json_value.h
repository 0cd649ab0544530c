/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and texts as JSON values, where n/a is null. A NULL result means no memory. */
#ifndef PFSTAT_USER_JSON_VALUE_H
#define PFSTAT_USER_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *value_count(uint64_t count);
json_t *value_count_if(bool known, uint64_t count);
/* COUNT_NA becomes null. */
json_t *value_known(uint64_t fact);
/* jansson's integers are signed, so a 64-bit number becomes a string of digits. */
json_t *value_wide(uint64_t number);
/* NAN does not exist in JSON and becomes null. */
json_t *value_real(double value);
/* NULL and "" become null. Invalid UTF-8 becomes U+FFFD. */
json_t *value_text(const char *text);

/* Appends @item and returns @array, or NULL if either is NULL. */
json_t *value_appended(json_t *array, json_t *item);
/* Adds @member and returns @object, or NULL if either is NULL. */
json_t *value_with(json_t *object, const char *key, json_t *member);

struct value_member {
	const char *key;
	json_t *value;
};

/* An object with @members in their order, up to a NULL key, or NULL if a value is NULL. */
json_t *value_object(const struct value_member *members);

/*
 * Prints the value and a newline, and releases it. On a terminal, control characters are
 * escaped. Returns 0, -ENOMEM (also if @value is NULL) or -errno.
 */
int value_print(FILE *out, json_t *value);

#endif

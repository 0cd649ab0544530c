// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates and prints jansson values. An unavailable value is null. NULL (no memory) passes through
 * every function, so only the printer has to check for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/counters.h"
#include "util/json_value.h"
#include "util/text.h"

#define FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

json_t *value_count(uint64_t count)
{
	return json_integer(count);
}

json_t *value_count_if(bool known, uint64_t count)
{
	return known ? value_count(count) : json_null();
}

json_t *value_known(uint64_t fact)
{
	return value_count_if(fact != COUNT_NA, fact);
}

json_t *value_wide(uint64_t number)
{
	return number <= INT64_MAX ? value_count(number) : json_sprintf("%" PRIu64, number);
}

/*
 * Rounds to picoseconds: no clock resolves more, and more digits mislead. A value below 1 may be a
 * share and keeps all digits, so 0.0004 does not become 0.
 */
json_t *value_real(double value)
{
	if (!isfinite(value))
		return json_null();
	return json_real(fabs(value) < 1 ? value : round(value * 1000) / 1000);
}

json_t *value_appended(json_t *array, json_t *item)
{
	if (!json_array_append_new(array, item))
		return array;
	json_decref(array);
	return NULL;
}

json_t *value_with(json_t *object, const char *key, json_t *member)
{
	if (!json_object_set_new(object, key, member))
		return object;
	json_decref(object);
	return NULL;
}

json_t *value_object(const struct value_member *members)
{
	json_t *object = json_object();

	for (; members->key; members++)
		object = value_with(object, members->key, members->value);
	return object;
}

/* A file name may hold any bytes but JSON is UTF-8, so invalid bytes become U+FFFD. */
static json_t *replaced(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *valid = malloc(3 * strlen(text) + 1), *end = valid;
	json_t *string;
	size_t length;

	if (!valid)
		return NULL;
	while (*text) {
		length = utf8_character(text, strlen(text));
		end = length ? mempcpy(end, text, length) : mempcpy(end, replacement, 3);
		text += length ? length : 1;
	}
	string = json_stringn(valid, end - valid);
	free(valid);
	return string;
}

json_t *value_text(const char *text)
{
	json_t *string;

	if (!text || !*text)
		return json_null();
	string = json_string(text);
	return string ? string : replaced(text);
}

static int print_to_terminal(FILE *out, const json_t *value)
{
	char *text = json_dumps(value, FORMAT);

	if (!text)
		return -ENOMEM;
	utf8_print_json(out, text);
	free(text);
	return 0;
}

int value_print(FILE *out, json_t *value)
{
	int err = 0;

	if (!value)
		return -ENOMEM;
	errno = 0;
	if (isatty(fileno(out)))
		err = print_to_terminal(out, value);
	else if (json_dumpf(value, out, FORMAT))
		err = errno ? -errno : -EIO;
	errno = 0;
	if (!err && putc('\n', out) == EOF)
		err = errno ? -errno : -EIO;
	json_decref(value);
	return err;
}

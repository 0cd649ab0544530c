// SPDX-License-Identifier: GPL-2.0-only
/* Names with any bytes as JSON strings, for printers that write JSON one value at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/json_text.h"
#include "util/text.h"

static json_t *ascii_of(const char *bytes)
{
	char *ascii = strdup(bytes), *byte;
	json_t *string;

	if (!ascii)
		return NULL;
	for (byte = ascii; *byte; byte++)
		if (*byte & 0x80)
			*byte = '?';
	string = json_string(ascii);
	free(ascii);
	return string;
}

json_t *json_text_value(const char *bytes)
{
	json_t *string = json_string(bytes);

	return string ? string : ascii_of(bytes);
}

char *json_text_string(const char *bytes)
{
	json_t *string = json_text_value(bytes);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL, *safe = NULL;
	size_t length;
	FILE *out = text ? open_memstream(&safe, &length) : NULL;

	json_decref(string);
	if (out) {
		/* The output may go to a terminal, so control characters are escaped. */
		utf8_print_json(out, text);
		if (fclose(out)) {
			free(safe);
			safe = NULL;
		}
	}
	free(text);
	return safe;
}

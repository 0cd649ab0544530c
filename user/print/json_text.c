// SPDX-License-Identifier: GPL-2.0-only
/* Names with any bytes as JSON strings, for printers that write JSON one value at a time. */
#include <errno.h>
#include <stdbool.h>
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

/* True for most names: ASCII without control characters, and nothing to escape. */
static bool json_text_is_plain(const char *bytes)
{
	while (*bytes >= ' ' && *bytes < 0x7f && *bytes != '"' && *bytes != '\\')
		bytes++;
	return !*bytes;
}

static int print_escaped(FILE *out, const char *bytes)
{
	json_t *string = json_text_value(bytes);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	const int err = text ? 0 : -ENOMEM;

	json_decref(string);
	/* The output may go to a terminal, so control characters are escaped. */
	if (text)
		utf8_print_json(out, text);
	free(text);
	return err;
}

int json_text_print(FILE *out, const char *bytes)
{
	if (!json_text_is_plain(bytes))
		return print_escaped(out, bytes);
	putc_unlocked('"', out);
	fputs_unlocked(bytes, out);
	putc_unlocked('"', out);
	return 0;
}

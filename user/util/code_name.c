// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats a function and an offset for reports and recordings. The result is valid UTF-8 if
 * the name is, and fits into the symbol field of a recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/code_name.h"

/* A recording stores 255 bytes for a symbol and the offset. */
#define NAME_BYTES_MAX 220

/* Does not cut within a UTF-8 character. */
static int code_name_length(const char *name)
{
	size_t length = strnlen(name, NAME_BYTES_MAX);

	while (name[length] && length && (name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

char *code_name_print(const char *name, uint64_t offset)
{
	const int length = code_name_length(name);
	char *text;

	return asprintf(&text, "%.*s%s+0x%" PRIx64, length, name, name[length] ? "..." : "",
			offset) < 0 ?
		       NULL :
		       text;
}

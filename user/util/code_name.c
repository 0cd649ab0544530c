// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/code_name.h"

/* A recording has room for 255 bytes of a symbol and its offset. */
#define NAME_BYTES_MAX 220

/* Not in the middle of a character of UTF-8. */
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

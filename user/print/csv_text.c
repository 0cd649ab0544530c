// SPDX-License-Identifier: GPL-2.0-only
/* Prints text from recordings as CSV cells, in RFC 4180 format. */
#include <string.h>

#include "print/csv_text.h"

/*
 * Spreadsheets interpret a cell that begins with such a character as a formula, which may run
 * commands or send data away. An apostrophe makes the cell text.
 */
static const char *shield(const char *text)
{
	return *text && strchr("=+-@\t\r", *text) ? "'" : "";
}

void csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fprintf(out, "%s%s", shield(text), text);
		return;
	}
	fprintf(out, "\"%s", shield(text));
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

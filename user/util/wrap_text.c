// SPDX-License-Identifier: GPL-2.0-only
/* Wraps sentences for the verdict, in a report and in a live view. Width is in characters. */
#include <string.h>

#include "util/wrap_text.h"

#define INDENT "  "

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0, i;

	for (i = 0; i < bytes; i++)
		columns += (text[i] & 0xc0) != 0x80;
	return columns;
}

static size_t word_of(const char *text)
{
	size_t word = strcspn(text, " \n");

	if (!strncmp(text + word, " %", 2))
		word += 1 + strcspn(text + word + 1, " \n");
	return word;
}

static void wrap_line(FILE *out, const char *line, size_t length, size_t columns)
{
	const char *const end = line + length;
	size_t column = 0, word;

	while (line < end) {
		word = word_of(line);
		if (column && column + 1 + columns_of(line, word) > columns) {
			fputs("\n" INDENT, out);
			column = strlen(INDENT);
		} else if (column) {
			fputc(' ', out);
			column++;
		}
		fwrite(line, 1, word, out);
		column += columns_of(line, word);
		line += word + (line + word < end);
	}
	fputc('\n', out);
}

void wrap_text(FILE *out, const char *text, size_t columns)
{
	size_t length;

	for (; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		wrap_line(out, text, length, columns);
	}
}

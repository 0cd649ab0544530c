// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict as the first lines of a text report. report/verdict/ makes the sentences; here they
 * are wrapped to the width of a page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/text/table.h"
#include "util/table_grid.h"

#define INDENT "  "

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0, i;

	for (i = 0; i < bytes; i++)
		columns += (text[i] & 0xc0) != 0x80;
	return columns;
}

/* Prints words as long as they fit; a longer word has a line of its own. */
static void print_wrapped(FILE *out, const char *line, size_t length)
{
	const char *const end = line + length;
	size_t column = 0, word;

	while (line < end) {
		word = strcspn(line, " \n");
		if (!strncmp(line + word, " %", 2)) /* a number and its unit stay together */
			word += 1 + strcspn(line + word + 1, " \n");
		if (column && column + 1 + columns_of(line, word) > GRID_WIDTH) {
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

int table_verdict(FILE *out, const struct view *view)
{
	char *text = NULL, *line;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return -errno;
	verdict_print(memory, &view->verdict, view->run);
	if (fclose(memory)) {
		free(text);
		return -ENOMEM;
	}
	for (line = text; *line; line += strcspn(line, "\n") + 1)
		print_wrapped(out, line, strcspn(line, "\n"));
	free(text);
	return 0;
}

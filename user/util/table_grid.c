// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds a table cell by cell with libsmartcols, and prints it or passes it to a printer of
 * another format. The first error is kept and returned by grid_close(), so that callers
 * need not check each cell.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/table_grid.h"
#include "util/utf8.h"

static struct {
	grid_taker take;
	void *context;
} redirection;

void grid_redirect(grid_taker take, void *context)
{
	redirection.take = take;
	redirection.context = context;
}

void grid_open(struct grid *grid, const char *const *headings, size_t nr)
{
	size_t i;

	*grid = (struct grid){ .table = scols_new_table() };
	if (!grid->table) {
		grid->err = -ENOMEM;
		return;
	}
	/* The width of the reader's terminal is not known; nothing is ever truncated. */
	scols_table_set_termforce(grid->table, SCOLS_TERMFORCE_NEVER);
	scols_table_set_column_separator(grid->table, "  ");
	scols_table_enable_minout(grid->table, 1); /* no blanks at the end of a line */
	for (i = 0; i < nr; i++)
		if (!scols_table_new_column(grid->table, headings[i] + 1, 0,
					    *headings[i] == '>' ? SCOLS_FL_RIGHT : 0))
			grid->err = -ENOMEM;
}

void grid_row(struct grid *grid)
{
	grid->column = 0;
	if (grid->err)
		return;
	grid->line = scols_table_new_line(grid->table, NULL);
	if (!grid->line)
		grid->err = -ENOMEM;
}

void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		grid->err = -ENOMEM;
	}
	va_end(arguments);
	/* libsmartcols escapes control characters, but not these. */
	if (text)
		utf8_hide_bidi(text);
	if (!grid->err)
		grid->err = scols_line_refer_data(grid->line, grid->column++, text);
	else
		free(text);
}

const char *grid_text(struct grid *grid, size_t width, const char *text)
{
	const char *blank, *end = NULL;

	/* Other formats have no limit on the length of a line. */
	if (strlen(text) <= width || redirection.take)
		end = text + strlen(text);
	for (blank = strchr(text, ' '); blank && !end; blank = strchr(blank + 1, ' '))
		/* A word that is longer than the width is not broken. */
		if (strcspn(blank + 1, " ") + (blank + 1 - text) > width)
			end = blank;
	if (!end)
		end = text + strlen(text);
	grid_cell(grid, "%.*s", (int)(end - text), text);
	return *end ? end + 1 : end;
}

int grid_close(struct grid *grid, FILE *out)
{
	int err = grid->err;

	if (!err && redirection.take) {
		err = redirection.take(redirection.context, grid->table, out);
	} else if (!err) {
		scols_table_set_stream(grid->table, out);
		err = scols_print_table(grid->table);
	}
	scols_unref_table(grid->table);
	return err;
}

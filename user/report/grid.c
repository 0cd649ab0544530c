// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

static int add_column(struct libscols_table *table, const char *heading)
{
	const int flags = *heading == '>' ? SCOLS_FL_RIGHT : SCOLS_FL_WRAP;
	struct libscols_column *column = scols_table_new_column(table, heading + 1, 0, flags);
	int err;

	if (!column)
		return -ENOMEM;
	if (*heading == '>')
		return 0;
	/* Wrapped only where grid_text() put a line break, which is then no unsafe character. */
	err = scols_column_set_safechars(column, "\n");
	if (!err)
		err = scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
						scols_wrapnl_nextchunk, NULL);
	return err;
}

void grid_open(struct grid *grid, const char *const *headings, size_t nr)
{
	size_t i;

	*grid = (struct grid){ .table = scols_new_table() };
	if (!grid->table) {
		grid->err = -ENOMEM;
		return;
	}
	/* The width of who reads it is not known; nothing is ever cut. */
	scols_table_set_termforce(grid->table, SCOLS_TERMFORCE_NEVER);
	scols_table_set_column_separator(grid->table, "  ");
	for (i = 0; i < nr && !grid->err; i++)
		grid->err = add_column(grid->table, headings[i]);
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

static void add_cell(struct grid *grid, char *text)
{
	if (!grid->err && text)
		grid->err = scols_line_refer_data(grid->line, grid->column++, text);
	else
		free(text);
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
	add_cell(grid, text);
}

/* The last blank before `width`, or the first after it when a word is longer. */
static char *break_of(char *line, size_t width)
{
	char *blank, *last = NULL;

	for (blank = strchr(line, ' '); blank; blank = strchr(blank + 1, ' ')) {
		if ((size_t)(blank - line) > width)
			return last ? last : blank;
		last = blank;
	}
	return strlen(line) > width ? last : NULL;
}

void grid_text(struct grid *grid, size_t width, const char *text)
{
	char *copy = strdup(text), *line, *blank;

	if (!copy)
		grid->err = -ENOMEM;
	/* The text's own (a file's name may have any) would tear the table. */
	for (line = copy; line && (line = strchr(line, '\n')); line++)
		*line = '?';
	for (line = copy; line && strlen(line) > width; line = blank + 1) {
		blank = break_of(line, width);
		if (!blank)
			break;
		*blank = '\n';
	}
	add_cell(grid, copy);
}

int grid_close(struct grid *grid, FILE *out)
{
	int err = grid->err;

	if (!err) {
		scols_table_set_stream(grid->table, out);
		err = scols_print_table(grid->table);
	}
	scols_unref_table(grid->table);
	return err;
}

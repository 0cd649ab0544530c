// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds a table cell by cell, and prints it or passes it to a printer for another format. The
 * first error is kept and returned by grid_close(), so callers need not check each cell.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "util/grid.h"
#include "util/text.h"

#define GRID_GAP	2  /* columns between two cells, or 1 if the terminal is narrow */
#define GRID_LEAST_TEXT 16 /* columns for a text in several lines */

static size_t grid_columns; /* 0: not a terminal */

static struct {
	grid_taker take;
	void *context;
} redirection;

void grid_redirect(grid_taker take, void *context)
{
	redirection.take = take;
	redirection.context = context;
}

void grid_set_width(size_t columns)
{
	grid_columns = columns;
}

size_t grid_width(void)
{
	return grid_columns ?: GRID_WIDTH;
}

void grid_open(struct grid *grid, const char *const *headings, size_t nr)
{
	size_t i;

	*grid = (struct grid){ .headings = calloc(nr, sizeof(*grid->headings)), .nr_columns = nr };
	if (!grid->headings)
		grid->err = -ENOMEM;
	for (i = 0; !grid->err && i < nr; i++) {
		grid->headings[i] = strdup(headings[i]);
		if (!grid->headings[i])
			grid->err = -ENOMEM;
	}
}

static int grid_grow(struct grid *grid, size_t size)
{
	char **cells = realloc(grid->cells, size * sizeof(*cells));
	const char **titles;

	if (!cells)
		return -ENOMEM;
	grid->cells = cells;
	titles = realloc(grid->titles, size * sizeof(*titles));
	if (!titles)
		return -ENOMEM;
	grid->titles = titles;
	grid->size = size;
	return 0;
}

void grid_row(struct grid *grid)
{
	const size_t first = grid->nr_rows * grid->nr_columns, needed = first + grid->nr_columns;

	grid->column = 0;
	if (!grid->err && needed > grid->size)
		grid->err = grid_grow(grid, 2 * needed);
	if (grid->err)
		return;
	memset(grid->cells + first, 0, grid->nr_columns * sizeof(*grid->cells));
	memset(grid->titles + first, 0, grid->nr_columns * sizeof(*grid->titles));
	grid->nr_rows++;
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
	/* grid_print_line() escapes control characters, but not these. */
	if (text)
		utf8_hide_bidi(text);
	if (!grid->err && (!grid->nr_rows || grid->column == grid->nr_columns))
		grid->err = -EINVAL;
	if (grid->err)
		free(text);
	else
		grid->cells[(grid->nr_rows - 1) * grid->nr_columns + grid->column++] = text;
}

void grid_title(struct grid *grid, const char *title)
{
	if (!grid->err && grid->column)
		grid->titles[(grid->nr_rows - 1) * grid->nr_columns + grid->column - 1] = title;
}

const char *grid_text(struct grid *grid, size_t width, const char *text)
{
	const char *blank, *end = NULL;

	/* Other formats have no line length limit. */
	if (strlen(text) <= width || redirection.take)
		end = text + strlen(text);
	for (blank = strchr(text, ' '); blank && !end; blank = strchr(blank + 1, ' '))
		/* A word longer than the width is not broken. */
		if (strcspn(blank + 1, " ") + (blank + 1 - text) > width)
			end = blank;
	if (!end)
		end = text + strlen(text);
	grid_cell(grid, "%.*s", (int)(end - text), text);
	return *end ? end + 1 : end;
}

bool grid_is_right(const struct grid *grid, size_t column)
{
	return grid->headings[column][0] == '>';
}

const char *grid_heading(const struct grid *grid, size_t column)
{
	return grid->headings[column] + 1;
}

const char *grid_at(const struct grid *grid, size_t row, size_t column)
{
	return grid->cells[row * grid->nr_columns + column] ?: "";
}

const char *grid_title_at(const struct grid *grid, size_t row, size_t column)
{
	return grid->titles[row * grid->nr_columns + column];
}

/*
 * Returns the length of a printable character, or 0, and the width in columns. A system without
 * locale files knows only the width of ASCII characters. All others then count as 1.
 */
static size_t grid_character(const char *text, size_t bytes, size_t *width)
{
	mbstate_t state = { 0 };
	wchar_t character;
	size_t length;

	*width = 1;
	if (MB_CUR_MAX == 1)
		return utf8_printable(text, bytes);
	length = mbrtowc(&character, text, bytes, &state);
	if (!length || length > bytes || !iswprint(character))
		return 0;
	*width = wcwidth(character) > 0 ? wcwidth(character) : 0;
	return length;
}

/*
 * Prints a cell up to this width, or only counts if out is NULL. Returns the width in columns, and
 * in *rest what does not fit. Each byte of an unprintable character is shown as \xHH, and so is a
 * backslash before an x.
 */
static size_t grid_print_line(FILE *out, const char *text, size_t most, const char **rest)
{
	size_t total = 0, bytes = strlen(text), length, width;

	for (; bytes; text += length, bytes -= length, total += width) {
		length = text[0] == '\\' && text[1] == 'x' ? 0 :
							     grid_character(text, bytes, &width);
		if (!length)
			width = 4;
		if (total && total + width > most)
			break;
		if (out && length)
			fwrite(text, length, 1, out);
		else if (out)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		length = length ?: 1;
	}
	*rest = text;
	return total;
}

static size_t grid_cell_width(const char *text)
{
	const char *rest;

	return grid_print_line(NULL, text, SIZE_MAX, &rest);
}

static size_t grid_column_width(const struct grid *grid, size_t column)
{
	size_t widest = grid->no_headings ? 0 : grid_cell_width(grid_heading(grid, column));
	size_t row, width;

	/* An empty column has one blank. */
	widest = widest ?: 1;
	for (row = 0; row < grid->nr_rows; row++) {
		width = grid_cell_width(grid_at(grid, row, column));
		widest = width > widest ? width : widest;
	}
	return widest;
}

struct grid_layout {
	size_t *widths, gap;
	const char **texts; /* for each column: the rest that is not printed yet */
};

/* Prints one line of a row, without trailing blanks. */
static void grid_print_row_line(const struct grid *grid, FILE *out,
				const struct grid_layout *layout)
{
	const size_t *widths = layout->widths;
	const char **texts = layout->texts;
	size_t column, pad, blanks = 0;
	const char *rest;

	for (column = 0; column < grid->nr_columns; column++) {
		pad = widths[column] - grid_print_line(NULL, texts[column], widths[column], &rest);
		if (grid_is_right(grid, column))
			blanks += pad;
		if (*texts[column]) {
			fprintf(out, "%*s", (int)blanks, "");
			grid_print_line(out, texts[column], widths[column], &rest);
			blanks = 0;
		}
		texts[column] = rest;
		if (!grid_is_right(grid, column))
			blanks += pad;
		blanks += layout->gap;
	}
	fputc('\n', out);
}

static bool grid_has_rest(const struct grid *grid, const char *const *texts)
{
	size_t column;

	for (column = 0; column < grid->nr_columns; column++)
		if (*texts[column])
			return true;
	return false;
}

/* @row: SIZE_MAX for the headings. */
static void grid_print_row(const struct grid *grid, FILE *out, size_t row,
			   const struct grid_layout *layout)
{
	size_t column;

	for (column = 0; column < grid->nr_columns; column++)
		layout->texts[column] = row == SIZE_MAX ? grid_heading(grid, column) :
							  grid_at(grid, row, column);
	do
		grid_print_row_line(grid, out, layout);
	while (grid_has_rest(grid, layout->texts));
}

/* If the table is wider than the terminal: smaller gaps, then less for the widest text. */
static void grid_fit(const struct grid *grid, struct grid_layout *layout)
{
	size_t column, widest = SIZE_MAX, total = 0, excess, *width;

	for (column = 0; column < grid->nr_columns; column++) {
		total += layout->widths[column] + (column ? layout->gap : 0);
		if (!grid_is_right(grid, column) &&
		    (widest == SIZE_MAX || layout->widths[column] > layout->widths[widest]))
			widest = column;
	}
	if (!grid_columns || total <= grid_columns)
		return;
	layout->gap = 1;
	total -= (GRID_GAP - 1) * (grid->nr_columns - 1);
	if (widest == SIZE_MAX || total <= grid_columns)
		return;
	excess = total - grid_columns;
	width = &layout->widths[widest];
	if (*width > GRID_LEAST_TEXT)
		*width = *width > excess + GRID_LEAST_TEXT ? *width - excess : GRID_LEAST_TEXT;
}

static int grid_print(const struct grid *grid, FILE *out)
{
	struct grid_layout layout = {
		.widths = calloc(grid->nr_columns, sizeof(*layout.widths)),
		.texts = calloc(grid->nr_columns, sizeof(*layout.texts)),
		.gap = GRID_GAP,
	};
	int err = layout.widths && layout.texts ? 0 : -ENOMEM;
	size_t i;

	if (!err) {
		for (i = 0; i < grid->nr_columns; i++)
			layout.widths[i] = grid_column_width(grid, i);
		grid_fit(grid, &layout);
		if (!grid->no_headings)
			grid_print_row(grid, out, SIZE_MAX, &layout);
		for (i = 0; i < grid->nr_rows; i++)
			grid_print_row(grid, out, i, &layout);
	}
	free(layout.widths);
	free(layout.texts);
	return err;
}

int grid_close(struct grid *grid, FILE *out)
{
	int err = grid->err;
	size_t i;

	if (!err && redirection.take)
		err = redirection.take(redirection.context, grid, out);
	else if (!err && grid->nr_rows)
		err = grid_print(grid, out);
	for (i = 0; i < grid->nr_rows * grid->nr_columns; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->titles);
	for (i = 0; grid->headings && i < grid->nr_columns; i++)
		free(grid->headings[i]);
	free(grid->headings);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures a table printer's text and converts the tables to HTML tables. Other lines become
 * paragraphs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/html/html_text.h"
#include "util/grid.h"

#define CAPTION_MAX 90 /* a longer line before a table is a sentence, not a caption */

/* A table, and where it stands in the surrounding text. */
struct html_chunk {
	char *html;
	size_t bytes;
	long at;
	struct html_chunk *next;
};

struct capture {
	struct html_chunk *first, **last;
};

static void html_tables_print_head(FILE *out, const struct grid *grid)
{
	size_t i;

	if (grid->no_headings)
		return;
	fputs("<tr>", out);
	for (i = 0; i < grid->nr_columns; i++) {
		fprintf(out, "<th scope=\"col\"%s>", grid_is_right(grid, i) ? " class=\"n\"" : "");
		html_text(out, grid_heading(grid, i));
		fputs("</th>", out);
	}
	fputs("</tr>\n", out);
}

/* A short name follows the title, in small print. */
static void print_cell_text(FILE *out, const struct grid *grid, size_t row, size_t i)
{
	const char *text = grid_at(grid, row, i), *title = grid_title_at(grid, row, i);

	text += i ? 0 : strspn(text, " ");
	if (title) {
		html_text(out, title);
		fputs(" <small>(", out);
	}
	html_text(out, text);
	fputs(title ? ")</small>" : "", out);
}

static void print_cell(FILE *out, const struct grid *grid, size_t row, size_t i)
{
	const char *text = grid_at(grid, row, i);
	const char *number = grid_is_right(grid, i) ? " class=\"n\"" : "";

	/* The first cell is the row's heading unless it is a number. */
	if (!i && !*number) {
		fprintf(out, "<th scope=\"row\"%s>", *text == ' ' ? " class=\"part\"" : "");
		print_cell_text(out, grid, row, i);
		fputs("</th>", out);
		return;
	}
	fprintf(out, "<td%s>", number);
	print_cell_text(out, grid, row, i);
	fputs("</td>", out);
}

static void print_table(FILE *out, const struct grid *grid)
{
	size_t row, i;

	html_tables_print_head(out, grid);
	for (row = 0; row < grid->nr_rows; row++) {
		fputs("<tr>", out);
		for (i = 0; i < grid->nr_columns; i++)
			print_cell(out, grid, row, i);
		fputs("</tr>\n", out);
	}
	fputs("</table></div>\n", out);
}

static int html_tables_take(void *context, const struct grid *grid, FILE *out)
{
	struct capture *capture = context;
	struct html_chunk *chunk = calloc(1, sizeof(*chunk));
	FILE *html;

	if (!chunk)
		return -ENOMEM;
	*capture->last = chunk;
	capture->last = &chunk->next;
	chunk->at = ftell(out);
	html = open_memstream(&chunk->html, &chunk->bytes);
	if (!html || chunk->at < 0)
		return -ENOMEM;
	print_table(html, grid);
	return fclose(html) ? -ENOMEM : 0;
}

/*
 * Start of the last line, if it is the caption for the next table: directly before the table, and
 * short. Otherwise the end of the text.
 */
static const char *caption_of(const char *text, const char *end)
{
	const char *caption;

	if (end - text < 2 || end[-1] != '\n' || end[-2] == '\n')
		return end;
	for (caption = end - 1; caption > text && caption[-1] != '\n'; caption--)
		;
	return end - caption <= CAPTION_MAX ? caption : end;
}

static void print_lines(FILE *out, const char *text, const char *end)
{
	const char *next;

	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', end - text) ?: end;
		if (next == text)
			continue;
		fputs("<p class=\"note\">", out);
		html_text_part(out, text, next - text);
		fputs("</p>\n", out);
	}
}

static void print_piece(FILE *out, const struct html_chunk *chunk, const char *text,
			const char *end)
{
	const char *caption = caption_of(text, end);

	print_lines(out, text, caption);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
	if (caption < end)
		html_text_part(out, caption, end - caption - 1);
	else
		fputs("table", out);
	fputs("\"><table>", out);
	if (caption < end) {
		fputs("<caption>", out);
		html_text_part(out, caption, end - caption - 1);
		fputs("</caption>", out);
	}
	fputc('\n', out);
	fwrite(chunk->html, 1, chunk->bytes, out);
}

static void free_chunks(struct html_chunk *chunk)
{
	struct html_chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk->html);
		free(chunk);
	}
}

int html_tables(FILE *out, html_printer print, const void *context)
{
	struct capture capture = { 0 };
	const struct html_chunk *chunk;
	char *text = NULL;
	size_t bytes = 0;
	long from = 0;
	FILE *memory;
	int err;

	capture.last = &capture.first;
	memory = open_memstream(&text, &bytes);
	if (!memory)
		return -errno;
	grid_redirect(html_tables_take, &capture);
	err = print(memory, context);
	grid_redirect(NULL, NULL);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	for (chunk = capture.first; chunk && !err; chunk = chunk->next) {
		print_piece(out, chunk, text + from, text + chunk->at);
		from = chunk->at;
	}
	if (!err)
		print_lines(out, text + from, text + bytes);
	free_chunks(capture.first);
	free(text);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Draws all figures of a run, and writes them to a folder and a page, or prints them as text. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/explain.h"
#include "figures/calls.h"
#include "figures/figures.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "util/message.h"
#include "util/output_stream.h"
#include "util/signals.h"
#include "util/text.h"

/*
 * Draws the data behind the figures `order` and `cost` with characters, for a terminal. The data
 * comes from the drawing in memory, and the plot goes to the caller's stream. Text is made safe for
 * terminals before it is printed.
 */

#define LINES	  20
#define MARGIN	  10 /* space for the numbers and the axis */
#define NARROWEST 40

enum dot {
	DOT_NONE,
	DOT_OTHER = 1,
	DOT_DISK = 2, /* both bits: disk and other */
};

struct mark {
	double first, last, y;
	bool disk;
};

struct plot_marks {
	struct mark *all;
	size_t nr;
	double x_max, y_min, y_max;
	bool log;
};

static bool is_disk(const char *class)
{
	enum fault_class i;

	for (i = 0; i < NR_FAULT_CLASSES; i++)
		if (!strcmp(class, fault_class_name(i)))
			return call_is_disk(i);
	return false;
}

static int ascii_plot_read_marks(struct plot_marks *marks, const struct drawing *drawing)
{
	const char *line = strchr(drawing->texts[DRAWING_CSV], '\n');
	struct mark mark;
	char class[16];

	marks->all = calloc(drawing_rows(drawing) + 1, sizeof(*marks->all));
	if (!marks->all)
		return -ENOMEM;
	for (; line && line[1]; line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, "%lf,%lf,%*f,%lf,%15[^,]", &mark.first, &mark.last, &mark.y,
			   class) != 4)
			continue;
		mark.disk = is_disk(class);
		if (marks->log)
			mark.y = log10(mark.y);
		if (!marks->nr || mark.y < marks->y_min)
			marks->y_min = mark.y;
		if (!marks->nr || mark.y > marks->y_max)
			marks->y_max = mark.y;
		if (mark.last > marks->x_max)
			marks->x_max = mark.last;
		marks->all[marks->nr++] = mark;
	}
	return 0;
}

static unsigned int place(double value, double min, double max, unsigned int nr)
{
	const double at = max > min ? (value - min) / (max - min) * nr : 0;

	return at < nr ? at : nr - 1;
}

static void ascii_plot_put(const struct plot_marks *marks, unsigned char *dots,
			   unsigned int columns)
{
	const struct mark *mark;
	unsigned int column, last, row;

	for (mark = marks->all; mark < marks->all + marks->nr; mark++) {
		row = LINES - 1 - place(mark->y, marks->y_min, marks->y_max, LINES);
		column = place(mark->first - 1, 0, marks->x_max, columns);
		last = place(mark->last - 1, 0, marks->x_max, columns);
		for (; column <= last; column++)
			dots[row * columns + column] |= mark->disk ? DOT_DISK : DOT_OTHER;
	}
}

static void print_label(FILE *out, const struct plot_marks *marks, unsigned int row, bool unicode)
{
	const double share = (double)(LINES - 1 - row) / (LINES - 1);
	double value = marks->y_min + share * (marks->y_max - marks->y_min);

	if (row % 5 && row != LINES - 1) {
		fprintf(out, "%*s", MARGIN - 1, "");
	} else {
		if (marks->log)
			value = pow(10, value);
		fprintf(out, value < 99.95 && marks->log ? "%*.2f " : "%*.0f ", MARGIN - 2, value);
	}
	fputs(unicode ? "│" : "|", out);
}

static void print_dots(FILE *out, const struct plot_marks *marks, const unsigned char *dots,
		       unsigned int columns, bool unicode)
{
	static const char *const blocks[] = { " ", "░", "█", "▓" };
	static const char *const ascii[] = { " ", ".", "#", "+" };
	const char *const *signs = unicode ? blocks : ascii;
	unsigned int row, column, end;

	for (row = 0; row < LINES; row++) {
		print_label(out, marks, row, unicode);
		for (end = columns; end && !dots[row * columns + end - 1]; end--)
			;
		for (column = 0; column < end; column++)
			fputs(signs[dots[row * columns + column]], out);
		fputc('\n', out);
	}
	fprintf(out, "%*s%s", MARGIN - 1, "", unicode ? "└" : "+");
	for (column = 0; column < columns; column++)
		fputs(unicode ? "─" : "-", out);
	fprintf(out, "\n%*s1%*.0f  call number\n", MARGIN, "", (int)columns - 16, marks->x_max);
	fprintf(out, "%*s%s disk faults   %s others   %s both\n\n", MARGIN, "", signs[DOT_DISK],
		signs[DOT_OTHER], signs[DOT_DISK | DOT_OTHER]);
}

/*
 * Replaces control characters in names, and the only character in the sentences that ASCII lacks.
 */
static void print_line(FILE *out, const char *text, bool unicode)
{
	size_t length;

	for (; *text; text += length ?: 1) {
		length = utf8_printable(text, strlen(text));
		if (!length)
			fputc('?', out);
		else if (unicode || length == 1)
			fwrite(text, 1, length, out);
		else
			fputc(strncmp(text, "µ", length) ? '?' : 'u', out);
	}
	fputc('\n', out);
}

int ascii_plot_print(FILE *out, const struct drawing *drawing, unsigned int width, bool unicode)
{
	const unsigned int columns = (width < NARROWEST ? NARROWEST : width) - MARGIN;
	struct plot_marks marks = { .log = !strcmp(drawing->name, "cost") };
	unsigned char *dots;
	int err;

	print_line(out, drawing->title, unicode);
	if (!drawing_is_drawn(drawing)) {
		fputs("Not drawn: ", out);
		print_line(out, drawing->texts[DRAWING_MISSING], unicode);
		fputc('\n', out);
		return 0;
	}
	print_line(out, drawing->texts[DRAWING_READING], unicode);
	print_line(out, drawing->texts[DRAWING_AMOUNT], unicode);
	fputc('\n', out);
	print_line(out, marks.log ? "cost (µs)" : "page", unicode);
	dots = calloc(LINES, columns);
	err = dots ? ascii_plot_read_marks(&marks, drawing) : -ENOMEM;
	if (!err) {
		ascii_plot_put(&marks, dots, columns);
		print_dots(out, &marks, dots, columns, unicode);
	}
	free(marks.all);
	free(dots);
	return err;
}

/*
 * Passes a run's stream (items, faults, page fates) to all figures, then lets each figure draw. A
 * figure without an open function draws from the report.
 */

#define FIGURE_ADDRESS(name) &figure_##name,
static const struct figure *const all[] = { FIGURES(FIGURE_ADDRESS) };

static int on_fault(void *context, const struct explained *fault)
{
	struct figures *figures = context;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->fault)
			err = all[i]->fault(figures->data[i], fault);
	return err;
}

static int on_pages(void *context, const struct readahead_pages *pages)
{
	struct figures *figures = context;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->pages)
			err = all[i]->pages(figures->data[i], pages);
	return err;
}

int figures_open(struct figures *figures, struct analysis *analysis)
{
	unsigned int i;

	memset(figures, 0, sizeof(*figures));
	for (i = 0; i < FIGURES_NR; i++) {
		if (!all[i]->open)
			continue;
		figures->data[i] = all[i]->open(analysis_page_bytes(analysis));
		if (!figures->data[i])
			return -ENOMEM;
	}
	analysis_listen_pages(analysis, on_pages, figures);
	return analysis_listen(analysis, on_fault, figures);
}

void figures_close(struct figures *figures)
{
	unsigned int i;

	for (i = 0; i < FIGURES_NR; i++) {
		if (figures->data[i])
			all[i]->close(figures->data[i]);
		figures->data[i] = NULL;
		drawing_free(&figures->drawings[i]);
	}
}

int figures_item(struct figures *figures, const struct item *item)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++)
		if (all[i]->item)
			err = all[i]->item(figures->data[i], item);
	return err;
}

int figures_draw(struct figures *figures, const struct figure_source *source)
{
	struct drawing *drawing;
	unsigned int i;
	int err = 0;

	for (i = 0; i < FIGURES_NR && !err; i++) {
		drawing = &figures->drawings[i];
		err = drawing_begin(drawing, all[i]->name, all[i]->title);
		if (!err)
			err = all[i]->draw(figures->data[i], source, drawing);
		if (!err)
			err = drawing_end(drawing);
	}
	return err;
}

/*
 * Writes figures to a folder and a page, or prints them as text. The page is written from the
 * SVG files of a folder, a temporary one if none was requested.
 */

#define WIDTH 80 /* if the output is not a terminal */

bool report_figures_as_text(const struct figures_options *options)
{
	return options->plot && !strcmp(options->plot, "-");
}

static int message_of_folder(const struct figure_folder *folder)
{
	return signals_caught ? 128 + signals_caught :
				message(STATUS_FAILED, "%s", folder->why.text);
}

static int message_of_gnuplot(const struct figures_options *options, bool kept)
{
	if (kept)
		return message(
			STATUS_FAILED,
			"gnuplot is not installed: data and scripts are in %s, but nothing was "
			"drawn; run apt-get install gnuplot-nox",
			options->plot);
	return message(
		STATUS_FAILED,
		"cannot write %s: gnuplot, which draws the figures, is not installed; run apt-get "
		"install gnuplot-nox",
		options->html);
}

static int write_page(const char *path, page_printer print_page, void *context, char *const *svgs)
{
	struct output *output;
	int err;

	err = output_open(&output, path);
	if (!err) {
		err = print_page(output_stream(output), context, svgs);
		if (err)
			output_close(output);
		else
			err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int figures_read_svgs(struct figure_folder *folder, const struct drawing *drawings,
			     size_t nr, char **svgs)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (drawing_is_drawn(&drawings[i]))
			err = figure_folder_read(folder, &drawings[i], &svgs[i]);
	return err;
}

static int figures_page_of(struct figure_folder *folder, const struct figures_options *options,
			   const struct drawing *drawings, size_t nr, page_printer print_page,
			   void *context)
{
	char **svgs = calloc(nr, sizeof(*svgs));
	int status;
	size_t i;

	if (!svgs)
		return message(STATUS_FAILED, "out of memory");
	status = figures_read_svgs(folder, drawings, nr, svgs) ?
			 message_of_folder(folder) :
			 write_page(options->html, print_page, context, svgs);
	for (i = 0; i < nr; i++)
		free(svgs[i]);
	free(svgs);
	return status;
}

int report_figures_write(const struct figures_options *options, const struct drawing *drawings,
			 size_t nr, page_printer print_page, void *context)
{
	const char *keep = report_figures_as_text(options) ? NULL : options->plot;
	struct figure_folder folder;
	int status = STATUS_OK;

	if (!keep && !options->html)
		return STATUS_OK;
	if (figure_folder_open(&folder, keep) || figure_folder_draw(&folder, drawings, nr))
		status = message_of_folder(&folder);
	else if (options->html && !folder.no_gnuplot)
		status = figures_page_of(&folder, options, drawings, nr, print_page, context);
	if (!status && keep && figure_folder_keep(&folder, drawings, nr))
		status = message_of_folder(&folder);
	if (!status && folder.no_gnuplot)
		status = message_of_gnuplot(options, keep);
	figure_folder_close(&folder);
	return status;
}

int report_figures_print_text(FILE *out, const struct drawing *drawings, size_t nr)
{
	const unsigned int width = terminal_columns(out) ?: WIDTH;
	const bool unicode = terminal_has_unicode();
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!strcmp(drawings[i].name, "order") || !strcmp(drawings[i].name, "cost"))
			err = ascii_plot_print(out, &drawings[i], width, unicode);
	errno = 0;
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

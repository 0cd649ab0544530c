// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the printer of a format. Names come from recordings, so control characters are replaced
 * before the text is written to a terminal.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "print/print_report.h"
#include "print/printers.h"
#include "print/report_format.h"
#include "print/text/table.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/output_stream.h"
#include "util/text.h"

/*
 * Makes the text independent of the user's locale. Programs need decimal points, and people need µ
 * even if LANG is not set (a VM's console). A system without locale files has only C.
 * print_report_write() replaces µ if the user's locale is not UTF-8.
 */
static int report_print_neutral(FILE *out, enum report_format format, const struct view *views,
				size_t nr)
{
	locale_t neutral = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0) ?:
				   newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before;
	int err;

	if (!neutral)
		return -ENOMEM;
	before = uselocale(neutral);
	err = report_printer(format)->print(out, views, nr);
	uselocale(before);
	freelocale(neutral);
	return err;
}

int print_report_write(FILE *out, enum report_format format, const char *text, size_t length)
{
	const bool terminal = isatty(fileno(out));

	errno = 0;
	if (format == REPORT_TABLE && terminal_lacks_unicode())
		utf8_print_ascii_lines(out, text);
	else if (format == REPORT_TABLE || (format != REPORT_JSON && terminal))
		utf8_print_lines(out, text);
	else if (terminal)
		utf8_print_json(out, text);
	else
		fwrite(text, 1, length, out);
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}

struct line_filter {
	FILE *out;
	enum report_format format;
	char *text; /* begins with the line that is not complete */
	size_t length, capacity;
};

/* Writes the first bytes. 0, or -1 and errno. */
static int line_filter_pass(struct line_filter *filter, size_t bytes)
{
	const char next = filter->text[bytes];
	int err;

	filter->text[bytes] = '\0';
	err = print_report_write(filter->out, filter->format, filter->text, bytes);
	filter->text[bytes] = next;
	filter->length -= bytes;
	memmove(filter->text, filter->text + bytes, filter->length);
	errno = -err;
	return err ? -1 : 0;
}

/* A character may be cut between two calls, but not between two lines. */
static ssize_t line_filter_write(void *cookie, const char *bytes, size_t size)
{
	struct line_filter *filter = cookie;
	const char *end;
	size_t i;

	for (i = 0; i <= size; i++) { /* with space for a final 0 */
		if (array_reserve((void **)&filter->text, filter->length, &filter->capacity, 1)) {
			errno = ENOMEM;
			return 0; /* an error here */
		}
		if (i < size)
			filter->text[filter->length++] = bytes[i];
	}
	end = memrchr(filter->text, '\n', filter->length);
	return end && line_filter_pass(filter, end + 1 - filter->text) ? 0 : (ssize_t)size;
}

static int line_filter_close(void *cookie)
{
	struct line_filter *filter = cookie;
	int err = filter->length ? line_filter_pass(filter, filter->length) : 0;

	free(filter->text);
	free(filter);
	return err;
}

FILE *print_report_stream(FILE *out, enum report_format format)
{
	const cookie_io_functions_t functions = {
		.write = line_filter_write,
		.close = line_filter_close,
	};
	struct line_filter *filter = malloc(sizeof(*filter));
	FILE *stream;

	if (!filter)
		return NULL;
	*filter = (struct line_filter){ .out = out, .format = format };
	stream = fopencookie(filter, "w", functions);
	if (!stream)
		free(filter);
	return stream;
}

/* Prints all or nothing: a report cut short by a lack of memory would look complete. */
static int print_at_once(FILE *out, enum report_format format, const struct view *views, size_t nr)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	int err;

	if (!memory)
		return -errno;
	grid_set_width(terminal_columns(out));
	err = report_print_neutral(memory, format, views, nr);
	grid_set_width(0);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = print_report_write(out, format, text, length);
	free(text);
	return err;
}

int print_report(FILE *out, enum report_format format, const struct report *runs, size_t nr_runs)
{
	struct view *views;
	size_t i;
	int err;

	if (!nr_runs || format >= NR_REPORT_FORMATS || report_format_has_faults(format))
		return -EINVAL;
	views = calloc(nr_runs, sizeof(*views));
	if (!views)
		return -ENOMEM;
	for (i = 0; i < nr_runs; i++)
		view_run(&views[i], &runs[i]);
	err = print_at_once(out, format, views, nr_runs);
	free(views);
	return err;
}

int print_report_warnings(FILE *out, const struct report *run)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view)
		return -ENOMEM;
	view_run(view, run);
	table_warnings(out, view, 0);
	free(view);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills the slots in page.html from a report or a comparison. The page is built in memory, to be
 * written whole or not at all. All text from a recording is escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "figures/drawing.h"
#include "print/html/html.h"
#include "print/html/html_template.h"
#include "print/html/html_text.h"
#include "print/print_verdict.h"
#include "print/text/table.h"
#include "report/view.h"
#include "util/text.h"
#include "util/version.h"

#define ROWS_OF_TABLE 40 /* longer data is shown as plain text */

static void say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints escaped text. */
static void say(FILE *out, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	html_text(out, text ?: "(out of memory)");
	free(text);
}

#define SUBJECT_MAX 80 /* maximum heading length in bytes */

/* An argument of the command may be a whole program, so the heading is shortened. */
static void print_command(FILE *out, const char *command)
{
	size_t bytes = strlen(command);

	if (bytes <= SUBJECT_MAX) {
		html_text(out, command);
		return;
	}
	for (bytes = SUBJECT_MAX; bytes && command[bytes] != ' '; bytes--)
		;
	bytes = bytes ?: SUBJECT_MAX;
	html_text_part(out, command, bytes);
	fputs(" …", out);
}

static int print_subject(FILE *out, const void *context)
{
	const struct html_page *page = context;
	const struct environment *e = &page->report->environment;

	if (view_is_drive(page->report))
		say(out, "Page faults of %s", e->file[0] ? e->file : "anonymous memory");
	else if (e->command[0] && fputs("Page faults of ", out) >= 0)
		print_command(out, e->command);
	else if (e->pid)
		say(out, "Page faults of process %" PRIu32, e->pid);
	else
		say(out, "Page faults in %s", e->cgroup[0] ? e->cgroup : e->only_file);
	return 0;
}

static void print_palette(FILE *out, bool is_dark)
{
	size_t i;

	for (i = 0; i < palette_nr; i++)
		fprintf(out, "%s:#%06x;", palette[i].variable,
			is_dark ? palette[i].dark : palette[i].light);
}

static void print_style(FILE *out)
{
	struct html_part style = html_template_stylesheet();

	html_part_to(out, &style, "light_palette");
	print_palette(out, false);
	html_part_to(out, &style, "dark_palette");
	print_palette(out, true);
	html_part_end(out, &style);
}

/* Fills a slot with text. */
static void fill(FILE *out, struct html_part *part, const char *slot, const char *text)
{
	html_part_to(out, part, slot);
	html_text(out, text);
}

static void fill_count(FILE *out, struct html_part *part, const char *slot, size_t count)
{
	html_part_to(out, part, slot);
	fprintf(out, "%zu", count);
}

static void print_when(FILE *out, const struct environment *e)
{
	const time_t started = e->started_s;
	char text[64];
	struct tm utc;

	if (e->pattern[0])
		say(out, "Pattern %s, %s page cache. ", e->pattern, e->cache[0] ? e->cache : "n/a");
	say(out, "Linux %s on %s", e->kernel[0] ? e->kernel : "n/a",
	    e->machine[0] ? e->machine : "n/a");
	if (started && gmtime_r(&started, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc))
		say(out, ", %s", text);
}

static void fact(FILE *out, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fact(FILE *out, const char *name, const char *format, ...)
{
	struct html_part part = html_part("fact");
	va_list arguments;
	char text[64];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fill(out, &part, "name", name);
	fill(out, &part, "value", text);
	html_part_end(out, &part);
}

static void print_facts(FILE *out, const struct view *view)
{
	const struct report *run = view->run;
	const struct fault_figures *all = &run->faults.all;
	/* Without eBPF's hook the faults in other mappings are unknown. */
	const bool every = view_has_hook(run, HOOK_FAULT);
	const char *const time = every ? "Time in all faults" : "Time in hooked faults";

	fact(out, every ? "Page faults" : "Hooked page faults", "%" PRIu64, all->count);
	fact(out, "of them major", "%" PRIu64, all->major);
	if (view_is_drive(run))
		fact(out, "Disk, wait, readahead", "%" PRIu64, view->study[STUDY_DISK].count);
	else if (view_source_is_perf(run))
		fact(out, "Disk faults", "n/a");
	else
		fact(out, "Disk faults", "%" PRIu64, run->faults.classes[FAULT_DISK].count);
	fact(out, time, "%.1f ms", all->whole.total_ns / 1e6);
	if (all->count)
		fact(out, "Mean fault time", "%.2f µs", all->whole.total_ns / 1e3 / all->count);
	if (run->time.elapsed_ns != COUNT_NA)
		fact(out, "Watched for", "%.1f ms", run->time.elapsed_ns / 1e6);
	else
		fact(out, "Watched for", "n/a");
	if (run->losses.records != COUNT_NA)
		fact(out, "Records lost", "%" PRIu64, run->losses.records);
	else
		fact(out, "Records lost", "n/a");
}

static int print_warnings_of(FILE *out, const void *context)
{
	const struct view *view = context;
	const char *virtual = view->run->environment.virtualization;
	const double noise = view_noise_share(view->run);

	table_warnings(out, view, 0);
	if (noise > 0)
		fprintf(out,
			"NOISE: %.1f %% of the faults' time was waiting for a CPU: something "
			"else ran there\n",
			100 * noise);
	if (virtual[0] && strcmp(virtual, "none"))
		fprintf(out, "Measured in a virtual machine (%s): times come from its clock\n",
			virtual);
	return 0;
}

static int print_warnings(FILE *out, const struct view *view)
{
	struct html_part part = html_part("warnings");
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	err = html_tables(memory, print_warnings_of, view);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err && bytes) {
		html_part_to(out, &part, "text");
		fwrite(text, 1, bytes, out);
		html_part_end(out, &part);
	}
	free(text);
	return err;
}

static void print_cells(FILE *out, const char *line, const char *end, const char *open,
			const char *close)
{
	const char *next, *text;

	for (; line <= end; line = next + 1) {
		next = memchr(line, ',', end - line) ?: end;
		text = line + (*line == '"');
		fputs(open, out);
		html_text_part(out, text, next - text - (next > text && next[-1] == '"'));
		fputs(close, out);
		if (next == end)
			break;
	}
}

/* Only for data with few marks, whose cells contain no comma. */
static void print_data_table(FILE *out, const char *csv)
{
	struct html_part part = html_part("data_table");
	const char *line = csv, *end;
	bool head = true;

	html_part_to(out, &part, "lines");
	for (; *line; line = end + 1) {
		end = strchrnul(line, '\n');
		fputs("<tr>", out);
		print_cells(out, line, end, head ? "<th scope=\"col\">" : "<td>",
			    head ? "</th>" : "</td>");
		fputs("</tr>\n", out);
		head = false;
		if (!*end)
			break;
	}
	html_part_end(out, &part);
}

static void print_data(FILE *out, const struct drawing *drawing)
{
	const char *csv = drawing->texts[DRAWING_CSV];
	struct html_part part;

	if (drawing_rows(drawing) <= ROWS_OF_TABLE && !strchr(csv, '"')) {
		print_data_table(out, csv);
		return;
	}
	part = html_part("data_text");
	fill(out, &part, "text", csv);
	html_part_end(out, &part);
}

static void print_missing_figure(FILE *out, const struct drawing *drawing)
{
	struct html_part part = html_part("missing_figure");

	fill(out, &part, "name", drawing->name);
	fill(out, &part, "title", drawing->title);
	fill(out, &part, "reason", drawing->texts[DRAWING_MISSING]);
	html_part_end(out, &part);
}

static int print_figure(FILE *out, const struct drawing *drawing, const char *svg)
{
	struct html_part part = html_part("figure");
	int err;

	fill(out, &part, "name", drawing->name);
	fill_count(out, &part, "rows", drawing_rows(drawing));
	fill(out, &part, "title", drawing->title);
	fill(out, &part, "name", drawing->name);
	html_part_to(out, &part, "svg");
	err = html_svg(out, drawing, svg);
	fill(out, &part, "reading", drawing->texts[DRAWING_READING]);
	fill(out, &part, "amount", drawing->texts[DRAWING_AMOUNT]);
	html_part_to(out, &part, "counted_rows");
	fprintf(out, "%zu row%s", drawing_rows(drawing), PLURAL(drawing_rows(drawing)));
	fill(out, &part, "name", drawing->name);
	html_part_to(out, &part, "data");
	print_data(out, drawing);
	html_part_end(out, &part);
	return err;
}

int html_print_figures(FILE *out, const struct drawing *drawings, char *const *svgs, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (svgs[i])
			err = print_figure(out, &drawings[i], svgs[i]);
		else
			print_missing_figure(out, &drawings[i]);
	}
	return err;
}

static void print_contents_line(FILE *out, const char *name, const char *title)
{
	struct html_part part = html_part("contents");

	fill(out, &part, "name", name);
	fill(out, &part, "title", title);
	html_part_end(out, &part);
}

static void print_contents(FILE *out, const struct html_page *page)
{
	size_t i;

	for (i = 0; i < page->nr; i++)
		print_contents_line(out, page->drawings[i].name, page->drawings[i].title);
	if (html_has_flame(page))
		print_contents_line(out, "paths", "Call paths");
}

static int html_print_verdict(FILE *out, const void *context)
{
	const struct view *view = context;

	print_verdict(out, &view->verdict, view->run);
	return 0;
}

static int print_environment(FILE *out, const void *context)
{
	const struct view *view = context;

	return table_environment(out, view->run);
}

static int html_print_run(FILE *out, const void *context)
{
	return table_run(out, context);
}

static int html_print_slowest(FILE *out, const void *context)
{
	return table_slowest(out, context, SIZE_MAX);
}

static void say_report_command(FILE *out, const char *recording)
{
	char *word = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&word, &bytes);

	if (memory) {
		shell_quote(memory, recording);
		fclose(memory);
	}
	say(out, "pfdrive report %s --html report.html --plot figures", word ?: "(out of memory)");
	free(word);
}

static void print_invocation(FILE *out, const struct environment *e)
{
	struct html_part part = html_part(e->invocation[0] ? "invocation" : "no_invocation");

	if (e->invocation[0])
		fill(out, &part, "command", e->invocation);
	html_part_end(out, &part);
}

static int print_of_run(FILE *out, const void *context)
{
	const struct html_page *page = context;
	struct html_part part = html_part("run");
	struct view view;
	int err;

	view_run(&view, page->report);
	html_part_to(out, &part, "when");
	print_when(out, &page->report->environment);
	html_part_to(out, &part, "warnings");
	err = print_warnings(out, &view);
	html_part_to(out, &part, "verdict");
	err = err ?: html_tables(out, html_print_verdict, &view);
	html_part_to(out, &part, "facts");
	print_facts(out, &view);
	html_part_to(out, &part, "contents");
	print_contents(out, page);
	html_part_to(out, &part, "environment");
	err = err ?: html_tables(out, print_environment, &view);
	html_part_to(out, &part, "figures");
	err = err ?: html_print_figures(out, page->drawings, page->svgs, page->nr);
	html_part_to(out, &part, "flame");
	if (!err && html_has_flame(page))
		err = html_print_flame(out, page);
	html_part_to(out, &part, "slowest");
	err = err ?: html_tables(out, html_print_slowest, &view);
	html_part_to(out, &part, "tables");
	err = err ?: html_tables(out, html_print_run, &view);
	html_part_to(out, &part, "invocation");
	print_invocation(out, &page->report->environment);
	html_part_to(out, &part, "command");
	say_report_command(out, page->recording);
	html_part_end(out, &part);
	return err;
}

static int html_print_frame(FILE *out, const struct html_content *content)
{
	struct html_part part = html_part("page");
	int err;

	html_part_to(out, &part, "subject");
	err = content->subject(out, content->context);
	html_part_to(out, &part, "style");
	print_style(out);
	html_part_to(out, &part, "subject");
	err = err ?: content->subject(out, content->context);
	html_part_to(out, &part, "content");
	err = err ?: content->body(out, content->context);
	fill(out, &part, "version", PFDRIVE_VERSION);
	html_part_end(out, &part);
	return err;
}

int html_print_content(FILE *out, const struct html_content *content)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	err = html_print_frame(memory, content);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	errno = 0;
	if (!err && (fwrite(text, 1, bytes, out) != bytes || fflush(out)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

int html_print_report(FILE *out, const struct html_page *page)
{
	return html_print_content(out, &(struct html_content){
					       .subject = print_subject,
					       .body = print_of_run,
					       .context = page,
				       });
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print/html/html.h"
#include "print/html/html_text.h"
#include "print/text/table.h"
#include "report/view.h"
#include "util/shell_quote.h"
#include "util/version.h"

#define ROWS_OF_TABLE 40	/* more are shown as the text that they are */
/* Waiting for a CPU: more than this share of the faults' time is noise worth a word. */
#define NOISE_MAX 0.10

static void say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text, escaped. */
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

#define SUBJECT_MAX 80	/* bytes of a heading */

/* A command's arguments may be a program of their own. */
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

static void print_subject(FILE *out, const struct html_page *page)
{
	const struct environment *e = page->report ? &page->report->environment : NULL;

	if (!e)
		say(out, page->comparison->a.nr + page->comparison->b.nr > 2 ?
		    "Page faults: %s, %s and others compared" : "Page faults: %s and %s compared",
		    page->comparison->a.runs[0].file, page->comparison->b.runs[0].file);
	else if (view_is_drive(page->report))
		say(out, "Page faults of %s", e->file[0] ? e->file : "anonymous memory");
	else if (e->command[0] && fputs("Page faults of ", out) >= 0)
		print_command(out, e->command);
	else if (e->pid)
		say(out, "Page faults of process %" PRIu32, e->pid);
	else
		say(out, "Page faults in %s", e->cgroup[0] ? e->cgroup : e->only_file);
}

static void print_top(FILE *out, const struct html_page *page)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      /* A page that asked for something would be wrong: the browser refuses it. */
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none';style-src 'unsafe-inline';img-src data:\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>", out);
	print_subject(out, page);
	fputs("</title>\n", out);
	html_style(out);
	fputs("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
	      "<header>\n<h1>", out);
	print_subject(out, page);
	fputs("</h1>\n", out);
}

static void print_when(FILE *out, const struct environment *e)
{
	const time_t started = e->started_s;
	char text[64];
	struct tm utc;

	fputs("<p class=\"quiet\">", out);
	if (e->pattern[0])
		say(out, "Pattern %s, %s page cache. ", e->pattern, e->cache[0] ? e->cache : "n/a");
	say(out, "Linux %s on %s", e->kernel[0] ? e->kernel : "n/a",
	    e->machine[0] ? e->machine : "n/a");
	if (started && gmtime_r(&started, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc))
		say(out, ", %s", text);
	fputs(".</p>\n</header>\n", out);
}

static void fact(FILE *out, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fact(FILE *out, const char *name, const char *format, ...)
{
	va_list arguments;
	char text[64];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	html_text(out, text);
	fputs("</dd></div>\n", out);
}

static void print_facts(FILE *out, const struct view *view)
{
	const struct report *run = view->run;
	const struct fault_figures *all = &run->faults.all;
	/* Without eBPF's hook nobody saw the others. */
	const bool every = view_has_hook(run, HOOK_FAULT);
	const char *const time = every ? "Time of all faults" : "Time of hooked faults";

	fputs("<dl class=\"facts\">\n", out);
	fact(out, every ? "Page faults" : "Hooked page faults", "%" PRIu64, all->count);
	fact(out, "of them major", "%" PRIu64, all->major);
	fact(out, "Disk faults", "%" PRIu64, view->study[STUDY_DISK].count);
	fact(out, time, "%.1f ms", all->whole.total_ns / 1e6);
	if (all->count)
		fact(out, "Mean of a fault", "%.2f µs", all->whole.total_ns / 1e3 / all->count);
	if (run->time.elapsed_ns != COUNT_NA)
		fact(out, "Watched for", "%.1f ms", run->time.elapsed_ns / 1e6);
	else
		fact(out, "Watched for", "n/a");
	if (run->losses.records != COUNT_NA)
		fact(out, "Records lost", "%" PRIu64, run->losses.records);
	else
		fact(out, "Records lost", "n/a");
	fputs("</dl>\n", out);
}

static int print_warnings_of(FILE *out, const void *context)
{
	const struct view *view = context;
	const struct report *run = view->run;
	const double waited = view_share(run->faults.all.parts[PART_RUNQUEUE].total_ns,
					 run->faults.all.whole.total_ns);
	const char *virtual = run->environment.virtualization;

	table_warnings(out, view, 0);
	if (run->faults.parts_known && waited > NOISE_MAX)
		fprintf(out, "NOISE: %.1f %% of the faults' time was waiting for a CPU: something "
			"else ran there\n", 100 * waited);
	if (virtual[0] && strcmp(virtual, "none"))
		fprintf(out, "Measured in a virtual machine (%s): times are those of its clock\n",
			virtual);
	return 0;
}

static int print_warnings(FILE *out, const struct view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	err = html_tables(memory, print_warnings_of, view);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err && bytes)
		fprintf(out, "<section class=\"warnings\" aria-label=\"Warnings\">\n%s</section>\n",
			text);
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

/* The data of few marks: no cell of it holds a comma. */
static void print_data_table(FILE *out, const char *csv)
{
	const char *line = csv, *end;
	bool head = true;

	fputs("<table>\n", out);
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
	fputs("</table>\n", out);
}

static void print_data(FILE *out, const struct drawing *drawing)
{
	const size_t rows = drawing_rows(drawing);

	fprintf(out, "<details><summary>Data of this figure: %zu rows</summary>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Data: %s\">\n",
		rows, drawing->name);
	if (rows <= ROWS_OF_TABLE && !strchr(drawing->texts[DRAWING_CSV], '"')) {
		print_data_table(out, drawing->texts[DRAWING_CSV]);
	} else {
		fputs("<pre>", out);
		html_text(out, drawing->texts[DRAWING_CSV]);
		fputs("</pre>\n", out);
	}
	fputs("</div></details>\n", out);
}

static int print_figure(FILE *out, const struct drawing *drawing, const char *svg)
{
	int err;

	fprintf(out, "<figure id=\"%s\" data-rows=\"%zu\">\n<h3>", drawing->name,
		svg ? drawing_rows(drawing) : 0);
	html_text(out, drawing->title);
	fputs("</h3>\n", out);
	if (!svg) {
		fputs("<p class=\"missing\">Not drawn: ", out);
		html_text(out, drawing->texts[DRAWING_MISSING]);
		fputs(".</p>\n</figure>\n", out);
		return 0;
	}
	fprintf(out,
		"<div class=\"plot\" tabindex=\"0\" role=\"region\" aria-label=\"Figure: %s\">\n",
		drawing->name);
	err = html_svg(out, drawing, svg);
	fputs("</div>\n<figcaption><p class=\"reading\">", out);
	html_text(out, drawing->texts[DRAWING_READING]);
	fputs("</p>\n<p class=\"amount\">", out);
	html_text(out, drawing->texts[DRAWING_AMOUNT]);
	fputs("</p></figcaption>\n", out);
	print_data(out, drawing);
	fputs("</figure>\n", out);
	return err;
}

static int print_figures(FILE *out, const struct html_page *page)
{
	size_t i;
	int err = 0;

	fputs("<section id=\"figures\">\n<h2>Figures</h2>\n", out);
	for (i = 0; i < page->nr && !err; i++)
		err = print_figure(out, &page->drawings[i], page->svgs[i]);
	fputs("</section>\n", out);
	return err;
}

static void print_contents(FILE *out, const struct html_page *page)
{
	size_t i;

	fputs("<nav aria-label=\"Contents\"><ul>\n", out);
	for (i = 0; i < page->nr; i++) {
		fprintf(out, "<li><a href=\"#%s\">", page->drawings[i].name);
		html_text(out, page->drawings[i].title);
		fputs("</a></li>\n", out);
	}
	fputs("<li><a href=\"#tables\">Tables</a></li>\n"
	      "<li><a href=\"#repeat\">How to repeat it</a></li>\n</ul></nav>\n", out);
}

static int print_environment(FILE *out, const void *context)
{
	const struct view *view = context;

	return table_environment(out, view->run);
}

static int print_run(FILE *out, const void *context)
{
	return table_run(out, context);
}

static void say_report_command(FILE *out, const char *recording)
{
	char *word = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&word, &bytes);

	if (memory) {
		shell_word(memory, recording);
		fclose(memory);
	}
	say(out, "pfdrive report %s --html report.html --plot figures", word ?: "(out of memory)");
	free(word);
}

static void print_repeat(FILE *out, const struct html_page *page)
{
	const struct environment *e = &page->report->environment;

	fputs("<section id=\"repeat\">\n<h2>How to repeat it</h2>\n", out);
	if (e->invocation[0]) {
		fputs("<p>On the machine above, with the pfstat module loaded:</p>\n<pre>", out);
		html_text(out, e->invocation);
		fputs("</pre>\n", out);
	} else {
		fputs("<p>The recording does not hold the command line that made it.</p>\n", out);
	}
	fputs("<p>This page, and the figures with their data and scripts, of the recording:</p>\n"
	      "<pre>", out);
	say_report_command(out, page->recording);
	fputs("</pre>\n</section>\n", out);
}

static void print_end(FILE *out)
{
	fputs("</main>\n<footer>\n<p class=\"quiet\">Made by pfdrive " PFDRIVE_VERSION
	      "; figures drawn by gnuplot. Colours: Okabe and Ito. What the words mean is in "
	      "pfstat&#39;s Documentation/parts.rst and "
	      "figures.rst.</p>\n</footer>\n</body>\n</html>\n",
	      out);
}

static int print_of_run(FILE *out, const struct html_page *page)
{
	struct view view;
	int err;

	view_run(&view, page->report);
	print_when(out, &page->report->environment);
	fputs("<main id=\"main\">\n", out);
	err = print_warnings(out, &view);
	print_facts(out, &view);
	print_contents(out, page);
	fputs("<section id=\"run\">\n<h2>What was run on what</h2>\n", out);
	if (!err)
		err = html_tables(out, print_environment, &view);
	fputs("</section>\n", out);
	if (!err)
		err = print_figures(out, page);
	fputs("<section id=\"tables\">\n<h2>Tables</h2>\n", out);
	if (!err)
		err = html_tables(out, print_run, &view);
	fputs("</section>\n", out);
	print_repeat(out, page);
	print_end(out);
	return err;
}

static int print_comparison_table(FILE *out, const void *context)
{
	return compare_print_table(out, context);
}

static int print_of_comparison(FILE *out, const struct html_page *page)
{
	int err;

	fputs("</header>\n<main id=\"main\">\n", out);
	err = print_figures(out, page);
	fputs("<section id=\"tables\">\n<h2>All differences</h2>\n", out);
	if (!err)
		err = html_tables(out, print_comparison_table, page->comparison);
	fputs("</section>\n", out);
	print_end(out);
	return err;
}

int html_print_report(FILE *out, const struct html_page *page)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	print_top(memory, page);
	err = page->report ? print_of_run(memory, page) : print_of_comparison(memory, page);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	errno = 0;
	if (!err && (fwrite(text, 1, bytes, out) != bytes || fflush(out)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

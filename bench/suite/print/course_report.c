// SPDX-License-Identifier: GPL-2.0-only
/*
 * The skeleton of a course report, in reStructuredText: machine, methods, predictions and results
 * come from bench_results. The parts left to the author are marked "(to be written)".
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/suite/print/bench_print.h"
#include "model/counters.h"
#include "util/text.h"

#define TO_WRITE    "(to be written)"
#define BAR_WIDTH   60
#define LOGARITHMIC 100 /* largest-to-smallest ratio requiring a logarithmic axis */
#define SIZE_TEXT   32

static void course_report_print_heading(FILE *out, const char *text, char line)
{
	size_t i;

	fprintf(out, "\n%s\n", text);
	for (i = 0; i < strlen(text); i++)
		fputc(line, out);
	fputs("\n\n", out);
}

static void course_report_value(const struct bench_row *row, double value, char *text)
{
	if (row->operation->unit == BENCH_BYTES && !isnan(value))
		size_name(value, text, SIZE_TEXT);
	else
		bench_table_figure(value, text, SIZE_TEXT);
}

static void course_report_print_fact(FILE *out, const char *what, const char *value)
{
	fprintf(out, "   \"%s\",\"%s\"\n", what, value[0] ? value : "n/a");
}

static void course_report_print_size(FILE *out, const char *what, uint64_t bytes)
{
	char name[SIZE_TEXT] = "";

	if (bytes)
		size_name(bytes, name, sizeof(name));
	course_report_print_fact(out, what, name);
}

static void course_report_print_folder(FILE *out, const char *what,
				       const struct bench_folder *facts)
{
	if (!facts->directory)
		return;
	fprintf(out, "   \"%s %s\",\"%s%s%s, %s\"\n", what, facts->directory,
		facts->filesystem[0] ? facts->filesystem : "n/a", facts->device[0] ? " on " : "",
		facts->device, facts->no_direct.text[0] ? "no O_DIRECT" : "O_DIRECT");
}

static void course_report_print_machine(FILE *out, const struct bench_results *results)
{
	const struct environment *environment = &results->state.environment;
	const struct bench_machine *machine = &results->machine;
	const struct bench_machine_state *state = &results->state;

	course_report_print_heading(out, "Machine", '=');
	fputs(".. csv-table::\n\n", out);
	course_report_print_fact(out, "Processor", environment->machine);
	fprintf(out, "   \"CPUs\",\"%u\"\n", environment->cpus);
	if (isnan(machine->cycle_ns))
		course_report_print_fact(out, "Cycle time", "");
	else
		fprintf(out, "   \"Cycle time\",\"%.4f ns, of the time-stamp counter\"\n",
			machine->cycle_ns);
	course_report_print_fact(out, "Governor", state->governor);
	course_report_print_fact(out, "Turbo", state->turbo);
	course_report_print_size(out, "First-level data cache", machine->cache_bytes[0]);
	course_report_print_size(out, "Second-level cache", machine->cache_bytes[1]);
	course_report_print_size(out, "Third-level cache", machine->cache_bytes[2]);
	course_report_print_size(out, "Cache line", machine->line_bytes);
	fprintf(out, "   \"Memory\",\"%" PRIu64 " MiB\"\n", machine->memory_bytes >> 20);
	course_report_print_fact(out, "Operating system", environment->kernel);
	course_report_print_fact(out, "Virtualization", environment->virtualization);
	course_report_print_fact(out, "Clock source", environment->clocksource);
	course_report_print_folder(out, "Files in", &results->files);
	course_report_print_folder(out, "Files over NFS in", &results->nfs);
	if (results->options.peer)
		course_report_print_fact(out, "Peer", results->options.peer);
	fputs("   \"Memory bus, I/O bus, disk, network card\",\"" TO_WRITE "\"\n", out);
}

static void course_report_print_figure(FILE *out, const char *what,
				       const struct bench_figure *figure)
{
	if (!figure->formula[0])
		return;
	fprintf(out, "%s: ``%s``%s", what, figure->formula, figure->given ? ", as given" : "");
	if (isnan(figure->value))
		fprintf(out, "; n/a: %s", figure->why.text);
	fputs(".\n", out);
}

static void course_report_print_prediction(FILE *out, const struct bench_row *row)
{
	course_report_print_heading(out, "Prediction", '~');
	course_report_print_figure(out, "Hardware", &row->hardware);
	course_report_print_figure(out, "Predicted", &row->predicted);
	fputs("\n" TO_WRITE "\n", out);
}

/* Inside a quoted cell a quote is doubled. */
static void course_report_print_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
}

static void course_report_print_result(FILE *out, const struct bench_row *row)
{
	char hardware[SIZE_TEXT], predicted[SIZE_TEXT], mean[SIZE_TEXT], half_width[SIZE_TEXT];
	char stddev[SIZE_TEXT], cycles[SIZE_TEXT];

	course_report_value(row, row->hardware.value, hardware);
	course_report_value(row, row->predicted.value, predicted);
	fprintf(out, "   \"%s\",\"%s\",\"%s\"", row->name, hardware, predicted);
	if (!bench_row_measured(row)) {
		fputs(",\"n/a: ", out);
		course_report_print_quoted(out, row->missing.text);
		fputs("\"\n", out);
		return;
	}
	course_report_value(row, row->figures.mean, mean);
	course_report_value(row, row->half_width, half_width);
	course_report_value(row, row->figures.stddev, stddev);
	bench_table_figure(row->cycles, cycles, sizeof(cycles));
	fprintf(out, ",\"%s\",\"%s\",\"%s\",\"%s\"", mean, half_width, stddev, cycles);
	if (row->operation->derived_from)
		fputs(",\"-\",\"-\"", out);
	else
		fprintf(out, ",\"%zu\",\"%zu\"", row->figures.runs, row->figures.outliers);
	fprintf(out, ",\"%s\"\n", bench_row_mark(row));
}

static void course_report_print_results(FILE *out, const struct bench_row *rows, size_t nr)
{
	size_t i;

	course_report_print_heading(out, "Result", '~');
	fprintf(out,
		".. csv-table:: in %s\n"
		"   :header: \"Operation\",\"Hardware\",\"Predicted\",\"Measured\",\"± 95%%\","
		"\"Std dev\",\"Cycles\",\"Runs\",\"Outliers\",\"\"\n\n",
		bench_unit_name(rows->operation->unit));
	for (i = 0; i < nr; i++)
		course_report_print_result(out, &rows[i]);
}

/* Smallest and largest median. Returns the number of measured rows. */
static size_t course_report_range(const struct bench_row *rows, size_t nr, double *least,
				  double *most)
{
	size_t i, measured = 0;

	*least = INFINITY;
	*most = 0;
	for (i = 0; i < nr; i++) {
		if (!bench_row_measured(&rows[i]))
			continue;
		measured++;
		*least = fmin(*least, rows[i].figures.median);
		*most = fmax(*most, rows[i].figures.median);
	}
	return measured;
}

/* Bar length. On a logarithmic axis the smallest bar is one decade long. */
static int course_report_bar(double value, double least, double most, bool logarithmic)
{
	if (!logarithmic)
		return lround(BAR_WIDTH * fmax(value, 0) / most);
	return lround(BAR_WIDTH * (1 + log10(value / least)) / (1 + log10(most / least)));
}

static void course_report_print_bars(FILE *out, const struct bench_row *rows, size_t nr)
{
	char bar[BAR_WIDTH + 1], value[SIZE_TEXT];
	double least, most;
	bool logarithmic;
	size_t i;

	if (nr < 2 || !course_report_range(rows, nr, &least, &most) || most <= 0)
		return;
	logarithmic = least > 0 && most > LOGARITHMIC * least;
	course_report_print_heading(out, "Figure", '~');
	fprintf(out, "Medians, in %s%s::\n\n", bench_unit_name(rows->operation->unit),
		logarithmic ? ", logarithmic" : "");
	memset(bar, '#', BAR_WIDTH);
	bar[BAR_WIDTH] = '\0';
	for (i = 0; i < nr; i++) {
		if (!bench_row_measured(&rows[i]))
			continue;
		course_report_value(&rows[i], rows[i].figures.median, value);
		fprintf(out, "   %10s |%.*s %s\n", rows[i].point_name,
			course_report_bar(rows[i].figures.median, least, most, logarithmic), bar,
			value);
	}
}

static void course_report_print_seen(FILE *out, const struct bench_row *row)
{
	const struct bench_seen *seen = &row->seen;

	if (!bench_row_watched(row))
		return;
	fputc('\n', out);
	if (seen->lost)
		fprintf(out,
			"The events in %" PRIu64 " of ``%s`` are not known: %" PRIu64
			" of them were lost.\n",
			seen->operations, row->name, seen->lost);
	else
		fprintf(out,
			"In %" PRIu64 " of ``%s`` eBPF saw %" PRIu64 " context switches, %" PRIu64
			" system calls and %" PRIu64 " page faults.\n",
			seen->operations, row->name, seen->counts.event[BENCH_SWITCHES],
			seen->counts.event[BENCH_SYSCALLS], seen->counts.event[BENCH_FAULTS]);
}

/* @rows: the points of one operation */
static void course_report_print_section(FILE *out, const struct bench_row *rows, size_t nr)
{
	const struct bench_operation *operation = rows->operation;

	course_report_print_heading(out, operation->name, '=');
	fprintf(out, "One operation is: %s.\n", operation->title);
	course_report_print_heading(out, "Method", '~');
	fprintf(out, "%s.", operation->method);
	if (operation->subtract)
		fprintf(out, " The time of ``%s`` is subtracted.", operation->subtract);
	fputc('\n', out);
	course_report_print_prediction(out, rows);
	course_report_print_results(out, rows, nr);
	course_report_print_bars(out, rows, nr);
	course_report_print_seen(out, rows);
	course_report_print_heading(out, "Discussion", '~');
	fputs(TO_WRITE "\n", out);
}

int course_report_print(FILE *out, const struct bench_results *results)
{
	size_t first, next;

	fputs("==============================\nMeasurements of this machine\n"
	      "==============================\n\n:Authors: " TO_WRITE "\n",
	      out);
	course_report_print_heading(out, "Introduction", '=');
	fputs(TO_WRITE "\n", out);
	course_report_print_machine(out, results);
	for (first = 0; first < results->nr; first = next) {
		for (next = first + 1; next < results->nr && results->rows[next].operation ==
								     results->rows[first].operation;
		     next++)
			;
		course_report_print_section(out, &results->rows[first], next - first);
	}
	course_report_print_heading(out, "Summary", '=');
	fputs(TO_WRITE "\n", out);
	return 0;
}

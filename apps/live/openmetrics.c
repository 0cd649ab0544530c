// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints OpenMetrics text. All values are counted since the measurement started, so they only grow,
 * except for the verdict's shares. An unknown value has no sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"
#include "verdict/verdict.h"
#include "report/view.h"
#include "util/time_ns.h"
#include "util/text.h"

struct metrics_page {
	FILE *out;
	const struct openmetrics *metrics;
	struct verdict *verdicts; /* for each row */
};

/* The format escapes three characters, and the text is UTF-8. */
static void metrics_escape(FILE *out, const char *text)
{
	size_t length;

	for (; *text; text += length ?: 1) {
		length = utf8_character(text, strlen(text));
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else if (length)
			fwrite(text, length, 1, out);
		else
			fputc('?', out);
	}
}

static void metrics_family(const struct metrics_page *page, const char *name, const char *type,
			   const char *help)
{
	fprintf(page->out, "# TYPE pfstat_%s %s\n# HELP pfstat_%s %s\n", name, type, name, help);
}

/* Prints a sample up to the value. @value: the label's value. @key: one more label, or NULL. */
static void metrics_sample(const struct metrics_page *page, const char *name, const char *value,
			   const char *key, const char *word)
{
	fprintf(page->out, "pfstat_%s{%s=\"", name, page->metrics->label);
	metrics_escape(page->out, value);
	if (key)
		fprintf(page->out, "\",%s=\"%s", key, word);
	fputs("\"} ", page->out);
}

static void metrics_print_count(const struct metrics_page *page, uint64_t count)
{
	fprintf(page->out, "%" PRIu64 "\n", count);
}

static void metrics_print_seconds(const struct metrics_page *page, uint64_t ns)
{
	fprintf(page->out, "%" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(ns / SECOND),
		(uint64_t)(ns % SECOND));
}

/* Prints one figure for each class. */
static void metrics_classes(const struct metrics_page *page, const char *name,
			    void (*print)(const struct metrics_page *page,
					  const struct fault_figures *faults))
{
	const struct openmetrics *metrics = page->metrics;
	const struct report *run;
	enum fault_class class;
	size_t i;

	for (i = 0; i < metrics->nr_rows; i++) {
		run = metrics->rows[i].report;
		for (class = 0; class < NR_FAULT_CLASSES; class++) {
			/* A class that the source does not know has no count, not 0. */
			if (!view_class_known(run, class))
				continue;
			metrics_sample(page, name, metrics->rows[i].value, "class",
				       fault_class_name(class));
			print(page, &run->faults.classes[class]);
		}
	}
}

static void metrics_print_faults(const struct metrics_page *page,
				 const struct fault_figures *faults)
{
	metrics_print_count(page, faults->count);
}

static void metrics_print_major(const struct metrics_page *page, const struct fault_figures *faults)
{
	metrics_print_count(page, faults->major);
}

static void metrics_print_time(const struct metrics_page *page, const struct fault_figures *faults)
{
	metrics_print_seconds(page, faults->whole.total_ns);
}

static void metrics_faults(const struct metrics_page *page)
{
	metrics_family(page, "faults", "counter", "Page faults by class.");
	metrics_classes(page, "faults_total", metrics_print_faults);
	metrics_family(page, "major_faults", "counter", "Faults that waited for a read, by class.");
	metrics_classes(page, "major_faults_total", metrics_print_major);
	metrics_family(page, "fault_seconds", "counter",
		       "Page fault time by class, summed over all threads.");
	metrics_classes(page, "fault_seconds_total", metrics_print_time);
}

static void metrics_row_parts(const struct metrics_page *page, const struct openmetrics_row *row)
{
	enum part part;

	for (part = 0; part < NR_PARTS; part++) {
		if (!view_part_known(row->report, part))
			continue;
		metrics_sample(page, "fault_part_seconds_total", row->value, "part",
			       part_name(part));
		metrics_print_seconds(page, row->report->faults.all.parts[part].total_ns);
	}
}

/* eBPF supplies the parts for all rows, or for none. */
static void metrics_parts(const struct metrics_page *page)
{
	const struct openmetrics *metrics = page->metrics;
	size_t i;

	if (!metrics->nr_rows || !metrics->rows[0].report->faults.parts_known)
		return;
	metrics_family(page, "fault_part_seconds", "counter",
		       "Page fault time by reason, summed over all threads and classes.");
	for (i = 0; i < metrics->nr_rows; i++)
		metrics_row_parts(page, &metrics->rows[i]);
}

static void metrics_stalls(const struct metrics_page *page)
{
	const struct openmetrics *metrics = page->metrics;
	size_t i;

	if (metrics->watched_ns == COUNT_NA)
		return;
	metrics_family(page, "watched_seconds", "counter", "Time since the watching began.");
	metrics_sample(page, "watched_seconds_total", metrics->value, NULL, NULL);
	metrics_print_seconds(page, metrics->watched_ns);
	metrics_family(page, "stalled_seconds", "counter",
		       "Time in which at least one thread was in a page fault.");
	for (i = 0; i < metrics->nr_rows; i++) {
		metrics_sample(page, "stalled_seconds_total", metrics->rows[i].value, NULL, NULL);
		metrics_print_seconds(page, metrics->rows[i].report->evidence.busy_ns);
	}
}

static void metrics_verdicts(const struct metrics_page *page)
{
	const struct openmetrics *metrics = page->metrics;
	const struct verdict *verdict;
	size_t i, cause, printed = 0;

	for (i = 0; i < metrics->nr_rows; i++) {
		verdict = &page->verdicts[i];
		for (cause = 0; verdict->known && cause < verdict->nr_causes; cause++) {
			if (!printed++)
				metrics_family(page, "verdict_ratio", "gauge",
					       "Share of the fault time that a cause concerns, "
					       "since the start.");
			metrics_sample(page, "verdict_ratio", metrics->rows[i].value, "cause",
				       verdict->causes[cause].rule);
			fprintf(page->out, "%.4f\n", verdict->causes[cause].weight);
		}
	}
}

static void metrics_lost(const struct metrics_page *page, const char *name, const char *help,
			 const char *total, uint64_t lost)
{
	if (lost == COUNT_NA)
		return;
	metrics_family(page, name, "counter", help);
	metrics_sample(page, total, page->metrics->value, NULL, NULL);
	metrics_print_count(page, lost);
}

static void metrics_own_cost(const struct metrics_page *page)
{
	const struct openmetrics *metrics = page->metrics;

	metrics_family(page, "exporter_cpu_seconds", "counter", "pfdrive's own CPU time.");
	metrics_sample(page, "exporter_cpu_seconds_total", metrics->value, NULL, NULL);
	metrics_print_seconds(page, metrics->own_cpu_ns);
	metrics_family(page, "exporter_peak_resident_bytes", "gauge",
		       "pfdrive's own peak resident memory.");
	metrics_sample(page, "exporter_peak_resident_bytes", metrics->value, NULL, NULL);
	metrics_print_count(page, metrics->own_peak_bytes);
}

static int metrics_print_page(const struct metrics_page *page)
{
	const struct openmetrics *metrics = page->metrics;

	errno = 0;
	metrics_faults(page);
	metrics_parts(page);
	metrics_stalls(page);
	metrics_verdicts(page);
	metrics_lost(page, "lost_records", "Fault records that found no room.",
		     "lost_records_total", metrics->lost_records);
	metrics_lost(page, "lost_events", "Events that eBPF could not store.", "lost_events_total",
		     metrics->lost_events);
	metrics_own_cost(page);
	fputs("# EOF\n", page->out);
	if (fflush(page->out) || ferror(page->out))
		return errno ? -errno : -EIO;
	return 0;
}

int openmetrics_print(FILE *out, const struct openmetrics *metrics)
{
	struct metrics_page page = {
		.out = out,
		.metrics = metrics,
		.verdicts = calloc(metrics->nr_rows + 1, sizeof(*page.verdicts)),
	};
	size_t i;
	int err;

	if (!page.verdicts)
		return -ENOMEM;
	for (i = 0; i < metrics->nr_rows; i++)
		verdict_make(&page.verdicts[i], metrics->rows[i].report);
	err = metrics_print_page(&page);
	free(page.verdicts);
	return err;
}

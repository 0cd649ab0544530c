// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints OpenMetrics text. All values are counted from the start of the measurement, so they only
 * grow, except for the shares of the verdict. A value that is not known has no sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "print/openmetrics.h"
#include "report/verdict/verdict.h"
#include "report/view.h"
#include "util/time_ns.h"
#include "util/utf8.h"

struct metrics_page {
	FILE *out;
	const struct openmetrics *metrics;
};

/* The format escapes three characters, and its text is UTF-8. */
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

/* Prints a sample up to its value. @key: one more label, or NULL. */
static void metrics_sample(const struct metrics_page *page, const char *name, const char *key,
			   const char *value)
{
	fprintf(page->out, "pfstat_%s{%s=\"", name, page->metrics->label);
	metrics_escape(page->out, page->metrics->value);
	if (key)
		fprintf(page->out, "\",%s=\"%s", key, value);
	fputs("\"} ", page->out);
}

static void metrics_count(const struct metrics_page *page, const char *name, const char *key,
			  const char *value, uint64_t count)
{
	metrics_sample(page, name, key, value);
	fprintf(page->out, "%" PRIu64 "\n", count);
}

static void metrics_seconds(const struct metrics_page *page, const char *name, const char *key,
			    const char *value, uint64_t ns)
{
	metrics_sample(page, name, key, value);
	fprintf(page->out, "%" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(ns / SECOND),
		(uint64_t)(ns % SECOND));
}

/* A class that no program watches has no count, not 0. */
static bool is_measured(const struct report *run, enum fault_class class)
{
	const uint32_t hooks = fault_classes[class].hooks;

	if (class < FAULT_FIRST_OTHER)
		return true;
	return run->bpf.known && (run->bpf.hooks & hooks) == hooks;
}

static void metrics_classes(const struct metrics_page *page, const struct report *run)
{
	enum fault_class class;

	metrics_family(page, "faults", "counter", "Page faults by class.");
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (is_measured(run, class))
			metrics_count(page, "faults_total", "class", fault_class_name(class),
				      run->faults.classes[class].count);
	metrics_family(page, "major_faults", "counter", "Faults that waited for a read, by class.");
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (is_measured(run, class))
			metrics_count(page, "major_faults_total", "class", fault_class_name(class),
				      run->faults.classes[class].major);
	metrics_family(page, "fault_seconds", "counter",
		       "Time of page faults by class, summed over all threads.");
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (is_measured(run, class))
			metrics_seconds(page, "fault_seconds_total", "class",
					fault_class_name(class),
					run->faults.classes[class].whole.total_ns);
}

static void metrics_parts(const struct metrics_page *page, const struct report *run)
{
	static const char *const names[NR_PARTS] = PART_NAMES;
	enum part part;

	if (!run->faults.parts_known)
		return;
	metrics_family(page, "fault_part_seconds", "counter",
		       "Time of page faults by its reason, summed over all threads and classes.");
	for (part = 0; part < NR_PARTS; part++)
		if (view_part_known(run, part))
			metrics_seconds(page, "fault_part_seconds_total", "part", names[part],
					run->faults.all.parts[part].total_ns);
}

static void metrics_verdict(const struct metrics_page *page, const struct report *run)
{
	struct verdict verdict;
	size_t i;

	verdict_make(&verdict, run);
	if (!verdict.known)
		return;
	metrics_family(page, "watched_seconds", "counter", "Time since the watching began.");
	metrics_seconds(page, "watched_seconds_total", NULL, NULL, verdict.wall_ns);
	metrics_family(page, "stalled_seconds", "counter",
		       "Time in which at least one thread was in a page fault.");
	metrics_seconds(page, "stalled_seconds_total", NULL, NULL, verdict.busy_ns);
	if (!verdict.nr_causes)
		return;
	metrics_family(page, "verdict_ratio", "gauge",
		       "Share of the fault time that a cause concerns, since the start.");
	for (i = 0; i < verdict.nr_causes; i++) {
		metrics_sample(page, "verdict_ratio", "cause", verdict.causes[i].rule);
		fprintf(page->out, "%.4f\n", verdict.causes[i].weight);
	}
}

static void metrics_lost(const struct metrics_page *page, const char *name, const char *help,
			 const char *total, uint64_t lost)
{
	if (lost == COUNT_NA)
		return;
	metrics_family(page, name, "counter", help);
	metrics_count(page, total, NULL, NULL, lost);
}

static void metrics_own_cost(const struct metrics_page *page)
{
	metrics_family(page, "exporter_cpu_seconds", "counter", "CPU time of pfdrive itself.");
	metrics_seconds(page, "exporter_cpu_seconds_total", NULL, NULL, page->metrics->own_cpu_ns);
	metrics_family(page, "exporter_peak_resident_bytes", "gauge",
		       "Largest resident memory of pfdrive itself.");
	metrics_count(page, "exporter_peak_resident_bytes", NULL, NULL,
		      page->metrics->own_peak_bytes);
}

int openmetrics_print(FILE *out, const struct report *run, const struct openmetrics *metrics)
{
	const struct metrics_page page = { .out = out, .metrics = metrics };

	errno = 0;
	metrics_classes(&page, run);
	metrics_parts(&page, run);
	metrics_verdict(&page, run);
	metrics_lost(&page, "lost_records", "Records of faults that found no room.",
		     "lost_records_total", run->losses.records);
	metrics_lost(&page, "lost_events", "Events that eBPF could not store.", "lost_events_total",
		     run->losses.events);
	metrics_own_cost(&page);
	fputs("# EOF\n", out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

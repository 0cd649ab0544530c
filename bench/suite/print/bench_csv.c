// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows as CSV: a header line, then one line per row. RFC 4180, except that lines end with a
 * bare newline. Unknown values are "n/a", as in every pfdrive CSV.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/suite/print/bench_print.h"
#include "model/counters.h"

static void bench_csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void bench_csv_real(FILE *out, double value)
{
	if (isnan(value))
		fputs(",n/a", out);
	else
		fprintf(out, ",%.3f", value);
}

static void bench_csv_counts(FILE *out, bool known, const struct bench_counts *counts)
{
	enum bench_event event;

	for (event = 0; event < BENCH_NR_EVENTS; event++)
		if (known && counts->event[event] != COUNT_NA)
			fprintf(out, ",%" PRIu64, counts->event[event]);
		else
			fputs(",n/a", out);
}

static void bench_csv_row(FILE *out, const struct bench_row *row)
{
	const bool measured = bench_row_measured(row), repeated = bench_row_repeated(row);
	const bool watched = bench_row_watched(row);
	const struct statistics *figures = &row->figures;

	fprintf(out, "%s,%s", row->name, bench_unit_name(row->operation->unit));
	bench_csv_real(out, row->hardware.value);
	bench_csv_real(out, row->predicted.value);
	bench_csv_real(out, measured ? figures->mean : NAN);
	bench_csv_real(out, measured ? row->half_width : NAN);
	bench_csv_real(out, measured ? figures->stddev : NAN);
	bench_csv_real(out, measured ? figures->median : NAN);
	bench_csv_real(out, measured ? figures->min : NAN);
	bench_csv_real(out, measured ? figures->max : NAN);
	bench_csv_real(out, measured ? row->cycles : NAN);
	fprintf(out, ",%zu,%zu,%" PRIu64, repeated ? figures->runs : 0,
		repeated ? figures->outliers : 0, repeated ? row->all_operations : 0);
	bench_csv_counts(out, repeated, &row->usage);
	fprintf(out, ",%" PRIu64 ",%" PRIu64, watched ? row->seen.operations : 0,
		watched ? row->seen.lost : 0);
	bench_csv_counts(out, watched, &row->seen.counts);
	bench_csv_real(out, watched && row->seen.kernel_source ? row->seen.kernel_ns : NAN);
	bench_csv_real(out, watched && row->seen.kernel_source ? row->seen.mmap_lock_share : NAN);
	fputc(',', out);
	bench_csv_text(out, row->noise.text);
	fputc(',', out);
	bench_csv_text(out, row->contradiction.text);
	fputc(',', out);
	bench_csv_text(out, row->missing.text);
	fputc('\n', out);
}

int bench_csv_print(FILE *out, const struct bench_results *results)
{
	size_t i;

	fputs("name,unit,hardware,predicted,mean,half_width_95,stddev,median,min,max,cycles,runs,"
	      "outliers,operations,rusage_switches,rusage_syscalls,rusage_faults,rusage_major,"
	      "watched_operations,watched_lost,"
	      "ebpf_switches,ebpf_syscalls,ebpf_faults,ebpf_major,kernel_ns,mmap_lock_share,"
	      "noise,contradiction,missing\n",
	      out);
	for (i = 0; i < results->nr; i++)
		bench_csv_row(out, &results->rows[i]);
	return 0;
}

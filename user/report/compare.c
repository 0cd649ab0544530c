// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "grid.h"
#include "json_spread.h"
#include "trace_json.h"
#include "utf8.h"
#include "value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *verdict_name(const struct comparison_row *row)
{
	static const char *const names[] = COMPARISON_VERDICT_NAMES;

	return names[row->verdict];
}

/* Of the others no difference is known. */
static bool is_judged(const struct comparison_row *row)
{
	return row->verdict == COMPARISON_SAME || row->verdict == COMPARISON_CHANGE;
}

static bool is_time(const struct comparison_row *row)
{
	return row->measure == COMPARISON_TIME;
}

static void print_lost(FILE *out, const char *name, const struct compare_run *run)
{
	if (run->lost_records == FACT_NONE || run->lost_events == FACT_NONE)
		fprintf(out, "%s: IT IS NOT KNOWN WHAT WAS LOST\n", name);
	else if (run->lost_records || run->lost_events)
		fprintf(out, "%s: LOST %" PRIu64 " RECORDS AND %" PRIu64 " EVENTS: "
			"COUNTS AND TIMES ARE TOO LOW\n", name, run->lost_records,
			run->lost_events);
	if (run->damage) {
		fprintf(out, "%s: ", name);
		utf8_print(out, run->damage);
		fputc('\n', out);
	}
}

static void print_run(FILE *out, const char *name, const struct compare_run *run)
{
	fprintf(out, "%s: ", name);
	utf8_print(out, run->file);
	fprintf(out, ", %" PRIu64 " faults\n", run->faults);
}

static void cell_value(struct grid *grid, const struct comparison_row *row, double value)
{
	if (isnan(value))
		grid_cell(grid, "n/a");
	else if (is_time(row))
		grid_cell(grid, "%.2f µs", value / 1e3);
	else
		grid_cell(grid, "%.0f", value);
}

static void cell_relative(struct grid *grid, const struct comparison_row *row, double relative)
{
	const double percent = round(1000 * relative) / 10;	/* as printed: no "-0.0%" */

	if (!is_judged(row))
		grid_cell(grid, "%s", "");
	else if (isinf(relative))
		grid_cell(grid, "∞");
	else
		grid_cell(grid, percent != 0 ? "%+.1f%%" : "%.1f%%", percent != 0 ? percent : 0);
}

/* A part that is 0 in both runs is left to the formats for programs. */
static bool worth_a_line(const struct comparison_row *row)
{
	return !is_time(row) || row->part == NR_PARTS || row->a > 0 || row->b > 0;
}

static int print_rows(FILE *out, const struct comparison *comparison)
{
	static const char *const headings[] = {
		"<Class", "<Measure", ">A", ">B", ">Difference", ">From", ">To", "<Verdict"
	};
	const struct comparison_row *row;
	struct grid grid;

	grid_open(&grid, headings, COUNT(headings));
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!worth_a_line(row))
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", row->class);
		grid_cell(&grid, "%s", comparison_measure_name(row));
		cell_value(&grid, row, row->a);
		cell_value(&grid, row, row->b);
		cell_relative(&grid, row, row->interval.difference);
		cell_relative(&grid, row, row->interval.low);
		cell_relative(&grid, row, row->interval.high);
		grid_cell(&grid, "%s", verdict_name(row));
	}
	return grid_close(&grid, out);
}

int compare_print_table(FILE *out, const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;
	int err;

	print_lost(out, "A", &report->a);
	print_lost(out, "B", &report->b);
	print_run(out, "A", &report->a);
	print_run(out, "B", &report->b);
	fputc('\n', out);
	err = print_rows(out, comparison);
	if (err)
		return err;
	fprintf(out, "\nFrom … To: %zu intervals that hold together with %g %% confidence"
		" (%u replicates, seed %" PRIu64 ").\n", comparison->nr_judged,
		report->confidence, comparison->how.replicates, comparison->how.seed);
	fprintf(out, "A change is a difference of %g %% at least whose interval does not hold 0: "
		"%s.\n", report->threshold, comparison->change ? "change" : "no change");
	return 0;
}

static void csv_number(FILE *out, bool known, double value)
{
	if (!known || isnan(value))
		fputs(",n/a", out);
	else
		fprintf(out, ",%.6g", value);	/* an infinite one prints as inf */
}

/* A count with all its digits. */
static void csv_value(FILE *out, const struct comparison_row *row, double value)
{
	if (is_time(row) || isnan(value))
		csv_number(out, true, value);
	else
		fprintf(out, ",%.0f", value);
}

static int print_csv(FILE *out, const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;
	const struct comparison_row *row;

	fputs("class,measure,unit,a,b,difference_percent,low_percent,high_percent,verdict\n", out);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		fprintf(out, "%s,%s,%s", row->class, comparison_measure_name(row),
			is_time(row) ? "ns" : "faults");
		csv_value(out, row, row->a);
		csv_value(out, row, row->b);
		csv_number(out, is_judged(row), 100 * row->interval.difference);
		csv_number(out, is_judged(row), 100 * row->interval.low);
		csv_number(out, is_judged(row), 100 * row->interval.high);
		fprintf(out, ",%s\n", verdict_name(row));
	}
	return 0;
}

static json_t *count_or_null(uint64_t count)
{
	return count == FACT_NONE ? json_null() : json_integer(count);
}

/* JSON has no infinity either. */
static json_t *percent_of(const struct comparison_row *row, double relative)
{
	return json_real_or_null(is_judged(row) && !isinf(relative) ? 100 * relative : NAN);
}

static json_t *value_of(const struct comparison_row *row, double value)
{
	return is_time(row) || isnan(value) ? json_real_or_null(value) : json_integer(value);
}

static json_t *row_of(const struct comparison_row *row)
{
	return json_pack("{ss ss ss so so so so so ss}",
		"class", row->class,
		"measure", comparison_measure_name(row),
		"unit", is_time(row) ? "ns" : "faults",
		"a", value_of(row, row->a),
		"b", value_of(row, row->b),
		"difference_percent", percent_of(row, row->interval.difference),
		"low_percent", percent_of(row, row->interval.low),
		"high_percent", percent_of(row, row->interval.high),
		"verdict", verdict_name(row));
}

static json_t *rows_of(const struct comparison *comparison)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; rows && i < comparison->nr; i++) {
		if (!json_array_append_new(rows, row_of(&comparison->rows[i])))
			continue;
		json_decref(rows);
		return NULL;
	}
	return rows;
}

static json_t *text_or_null(const char *bytes)
{
	return bytes ? trace_json_text(bytes) : json_null();
}

static json_t *run_of(const struct compare_run *run)
{
	return json_pack("{so so so so so}",
		"file", text_or_null(run->file),
		"faults", count_or_null(run->faults),
		"lost", count_or_null(run->lost_records),
		"events_lost", count_or_null(run->lost_events),
		"damage", text_or_null(run->damage));
}

/* A seed has 64 bits, JSON's integers are signed here. */
static json_t *seed_of(uint64_t seed)
{
	return seed <= INT64_MAX ? json_integer(seed) : json_sprintf("%" PRIu64, seed);
}

static json_t *report_of(const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;

	return json_pack("{so so sf sf sf sI so so sb}",
		"a", run_of(&report->a),
		"b", run_of(&report->b),
		"confidence_percent", report->confidence,
		"threshold_percent", report->threshold,
		"interval_confidence_percent", 100 * comparison->how.confidence,
		"replicates", (json_int_t)comparison->how.replicates,
		"seed", seed_of(comparison->how.seed),
		"rows", rows_of(comparison),
		"change", comparison->change);
}

static int print_as(FILE *out, enum report_format format, const struct compare_report *report)
{
	switch (format) {
	case REPORT_TABLE:
		return compare_print_table(out, report);
	case REPORT_CSV:
		return print_csv(out, report);
	case REPORT_JSON:
		return value_print(out, report_of(report));
	}
	return -EINVAL;
}

/* As report_print(): decimal points for programs, and µ for people, whatever LANG says. */
static int print_neutral(FILE *out, enum report_format format, const struct compare_report *report)
{
	locale_t neutral = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	locale_t before;
	int err;

	if (!neutral)
		return -errno;
	before = uselocale(neutral);
	err = print_as(out, format, report);
	uselocale(before);
	freelocale(neutral);
	return err;
}

int compare_print(FILE *out, enum report_format format, const struct compare_report *report)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	int err;

	if (!memory)
		return -errno;
	err = print_neutral(memory, format, report);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = report_write(out, format, text, length);
	free(text);
	return err;
}

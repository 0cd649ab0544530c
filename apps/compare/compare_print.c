// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a judged comparison between two sides as a table, CSV, JSON or HTML. The rows come from
 * the comparison. Only units and percentages are computed here.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "compare/compare_print.h"
#include "print/html/html.h"
#include "print/html/html_template.h"
#include "print/json_text.h"
#include "print/print_report.h"
#include "report/view.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/json_value.h"
#include "util/output_stream.h"
#include "util/text.h"

static const char *verdict_name(const struct comparison_row *row)
{
	static const char *const names[] = COMPARISON_VERDICT_NAMES;

	return names[row->verdict];
}

/* Other rows have no interval. */
static bool is_judged(const struct comparison_row *row)
{
	return row->verdict == COMPARISON_SAME || row->verdict == COMPARISON_CHANGE;
}

static bool has_difference(const struct comparison_row *row)
{
	return is_judged(row) || row->verdict == COMPARISON_NOT_JUDGED ||
	       row->verdict == COMPARISON_INCOMPLETE;
}

static bool is_mean(const struct comparison_row *row)
{
	return row->measure == COMPARISON_TIME;
}

static void compare_print_lost(FILE *out, const char *name, const struct compare_run *run)
{
	if (run->lost_records == COUNT_NA || run->lost_events == COUNT_NA)
		fprintf(out, "%s: THE NUMBER OF LOST RECORDS IS NOT KNOWN\n", name);
	else if (run->lost_records || run->lost_events)
		fprintf(out,
			"%s: LOST %" PRIu64 " RECORDS AND %" PRIu64 " EVENTS: "
			"COUNTS AND TIMES ARE TOO LOW\n",
			name, run->lost_records, run->lost_events);
	if (run->damage) {
		fprintf(out, "%s: ", name);
		utf8_print(out, run->damage);
		fputc('\n', out);
	}
}

static void compare_print_run(FILE *out, const char *name, const struct compare_run *run)
{
	fprintf(out, "%s: ", name);
	utf8_print(out, run->file);
	fprintf(out, ", %" PRIu64 " faults", run->faults);
	if (run->seconds > 0)
		fprintf(out, " in %.3f s", run->seconds);
	fputc('\n', out);
}

/* Prints "A", or "A1" and so on for several runs. */
static void print_side(FILE *out, char letter, const struct compare_side *side,
		       void (*print)(FILE *out, const char *name, const struct compare_run *run))
{
	char name[32];
	size_t i;

	for (i = 0; i < side->nr; i++) {
		snprintf(name, sizeof(name), side->nr > 1 ? "%c%zu" : "%c", letter, i + 1);
		print(out, name, &side->runs[i]);
	}
}

static void print_values(FILE *out, const char *name, const json_t *values)
{
	const json_t *value;
	size_t i;

	fprintf(out, " %s ", name);
	json_array_foreach(values, i, value) {
		fputs(i ? ", " : "", out);
		utf8_print(out, json_string_value(value));
	}
}

static void print_differences(FILE *out, const json_t *differences)
{
	const json_t *difference;
	size_t i;

	json_array_foreach(differences, i, difference) {
		fprintf(out, "%s ", i ? "        " : "Differs:");
		utf8_print(out, json_string_value(json_object_get(difference, "key")));
		fputc(':', out);
		print_values(out, "A", json_object_get(difference, "a"));
		fputc(';', out);
		print_values(out, "B", json_object_get(difference, "b"));
		fputc('\n', out);
	}
}

/* Prints a total in ms, a mean in µs, bytes in KiB, and counts unscaled. */
static void value_text_of(char *text, size_t size, const struct comparison_row *row, double value,
			  bool rates)
{
	const char *per = rates && !is_mean(row) ? "/s" : "";

	if (isnan(value))
		snprintf(text, size, "n/a");
	else if (is_mean(row))
		snprintf(text, size, "%.2f µs", value / 1e3);
	else if (row->measure == COMPARISON_TOTAL)
		snprintf(text, size, "%.3f ms%s", value / 1e6, per);
	else if (row->measure == COMPARISON_READ)
		snprintf(text, size, "%.1f KiB%s", value / 1024, per);
	else
		snprintf(text, size, value == floor(value) ? "%.0f%s" : "%.1f%s", value, per);
}

static void cell_value(struct grid *grid, const struct comparison_row *row, double value,
		       bool rates)
{
	char text[64];

	value_text_of(text, sizeof(text), row, value, rates);
	grid_cell(grid, "%s", text);
}

/* Avoids "-0.0%". */
static void relative_text(char *text, size_t size, double relative)
{
	const double percent = round(1000 * relative) / 10;

	if (isinf(relative))
		snprintf(text, size, "∞");
	else
		snprintf(text, size, percent != 0 ? "%+.1f%%" : "%.1f%%",
			 percent != 0 ? percent : 0);
}

static void cell_relative(struct grid *grid, bool known, double relative)
{
	char text[32] = "";

	if (known)
		relative_text(text, sizeof(text), relative);
	grid_cell(grid, "%s", text);
}

/* The table omits a part that is 0 on both sides. CSV and JSON have it. */
static bool worth_a_line(const struct comparison_row *row)
{
	return !is_mean(row) || row->part == NR_PARTS || row->a.value > 0 || row->b.value > 0;
}

static int print_rows(FILE *out, const struct compare_report *report)
{
	static const char *const headings[] = { "<Class",      "<Measure", ">A",  ">B",
						">Difference", ">From",	   ">To", "<Verdict" };
	const struct comparison *comparison = report->comparison;
	const struct comparison_row *row;
	enum fault_class class;
	struct grid grid;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!worth_a_line(row))
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", row->class);
		class = fault_class_find(row->class);
		grid_title(&grid, class < NR_FAULT_CLASSES ? fault_classes[class].title : NULL);
		grid_cell(&grid, "%s", comparison_measure_name(row));
		grid_title(&grid, row->measure == COMPARISON_TIME && row->part < NR_PARTS ?
					  part_title(row->part) :
					  NULL);
		cell_value(&grid, row, row->a.value, report->rates);
		cell_value(&grid, row, row->b.value, report->rates);
		cell_relative(&grid, has_difference(row), row->interval.difference);
		cell_relative(&grid, is_judged(row), row->interval.low);
		cell_relative(&grid, is_judged(row), row->interval.high);
		grid_cell(&grid, "%s", verdict_name(row));
	}
	return grid_close(&grid, out);
}

static void print_change(FILE *out, const struct comparison_row *row)
{
	char difference[32], low[32], high[32];

	if (!has_difference(row)) {
		fprintf(out, " (%s)", verdict_name(row));
		return;
	}
	relative_text(difference, sizeof(difference), row->interval.difference);
	fprintf(out, ", %s", difference);
	if (!is_judged(row)) {
		fprintf(out, ": %s", verdict_name(row));
		return;
	}
	relative_text(low, sizeof(low), row->interval.low);
	relative_text(high, sizeof(high), row->interval.high);
	fprintf(out, " (from %s to %s): %s", low, high,
		row->verdict == COMPARISON_CHANGE ? "change" : "no change");
}

char *compare_print_sentence(const struct compare_report *report)
{
	const struct comparison_row *row = comparison_total(report->comparison);
	char a[64], b[64], *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	fputs("Total time in faults", out);
	if (row) {
		value_text_of(a, sizeof(a), row, row->a.value, report->rates);
		value_text_of(b, sizeof(b), row, row->b.value, report->rates);
		fprintf(out, ": %s in A, %s in B", a, b);
		print_change(out, row);
	} else {
		fputs(": there were no faults", out);
	}
	fputc('.', out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static const char *overall_name(const struct comparison *comparison)
{
	static const char *const names[] = COMPARISON_VERDICT_NAMES;

	if (comparison->incomplete)
		return names[COMPARISON_INCOMPLETE];
	if (comparison->not_judged)
		return names[COMPARISON_NOT_JUDGED];
	return comparison->change ? "change" : "no change";
}

const char *compare_print_condition(const struct compare_report *report)
{
	const size_t a = report->a.nr, b = report->b.nr;

	if (a == 1 && b == 1)
		return ", if runs of one program differ by less than the threshold";
	if (a == 1 || b == 1 || a == b)
		return ", if A's runs differ as much as B's";
	return "";
}

/* Prints how much the intervals know about differences between runs. */
static void print_runs(FILE *out, const struct compare_report *report)
{
	const bool one_a = report->a.nr == 1, one_b = report->b.nr == 1;

	if (one_a && one_b)
		fputs("Each side has only one run: the intervals do not include differences between "
		      "runs.\nRecord three or more of each.\n",
		      out);
	else if (one_a || one_b)
		fprintf(out,
			"%c has only one run: its runs are assumed to differ as much as %c's. If "
			"they differ more,\nequal programs are often called changed. Record three or "
			"more of each.\n",
			one_a ? 'A' : 'B', one_a ? 'B' : 'A');
	else
		fputs("Several runs: the intervals include differences between runs.\n", out);
}

/* The reason why nothing is judged, or the meaning of the intervals. */
static void print_rules(FILE *out, const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;

	if (comparison->incomplete) {
		fprintf(out,
			"Nothing is judged: a recording is cut or damaged, or lost more than %g %% of "
			"its records or events.\n",
			report->threshold);
		return;
	}
	if (comparison->not_judged) {
		fputs("Nothing is judged: one run on each side does not show how much runs differ. "
		      "Record three\nor more of each, or set --threshold above that difference.\n",
		      out);
		return;
	}
	print_runs(out, report);
	fprintf(out,
		"\nFrom … To: intervals of %zu rows. With %g %% confidence no row of equal programs "
		"is a change%s.\n",
		comparison->nr_judged, report->confidence, compare_print_condition(report));
	fprintf(out, "A change is a difference of at least %.3g %% whose interval excludes 0.\n",
		report->threshold + 100 * comparison->lost);
}

static int compare_print_end(FILE *out, const struct compare_report *report)
{
	char *sentence = compare_print_sentence(report);

	if (!sentence)
		return -ENOMEM;
	fprintf(out, "Any row: %s. %s\n", overall_name(report->comparison), sentence);
	free(sentence);
	return 0;
}

/* Prints the table in the current locale. */
static int compare_print_table(FILE *out, const struct compare_report *report)
{
	int err;

	print_side(out, 'A', &report->a, compare_print_lost);
	print_side(out, 'B', &report->b, compare_print_lost);
	print_side(out, 'A', &report->a, compare_print_run);
	print_side(out, 'B', &report->b, compare_print_run);
	print_differences(out, report->differences);
	fputc('\n', out);
	err = print_rows(out, report);
	if (err)
		return err;
	print_rules(out, report);
	return compare_print_end(out, report);
}

static void csv_number(FILE *out, bool known, double value)
{
	if (!known || isnan(value))
		fputs(",n/a", out);
	else
		fprintf(out, ",%.6g", value); /* infinity prints as inf */
}

/* Prints a whole number with all digits. */
static void csv_value(FILE *out, double value)
{
	if (isnan(value) || value != floor(value))
		csv_number(out, true, value);
	else
		fprintf(out, ",%.0f", value);
}

static int compare_print_csv(FILE *out, const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;
	const struct comparison_row *row;

	fputs("class,measure,unit,a,b,difference_percent,low_percent,high_percent,verdict\n", out);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		fprintf(out, "%s,%s,%s", row->class, comparison_measure_name(row),
			comparison_unit(row, report->rates));
		csv_value(out, row->a.value);
		csv_value(out, row->b.value);
		csv_number(out, has_difference(row), 100 * row->interval.difference);
		csv_number(out, is_judged(row), 100 * row->interval.low);
		csv_number(out, is_judged(row), 100 * row->interval.high);
		fprintf(out, ",%s\n", verdict_name(row));
	}
	return 0;
}

/* JSON does not have infinity either, so it is null. */
static json_t *percent_of(bool known, double relative)
{
	return value_real(known && !isinf(relative) ? 100 * relative : NAN);
}

static json_t *compare_value_of(const struct comparison_row *row, double value)
{
	return is_mean(row) || isnan(value) || value != floor(value) || value >= 0x1p63 ?
		       value_real(value) :
		       json_integer(value);
}

static json_t *compare_row_of(const struct compare_report *report, const struct comparison_row *row)
{
	const struct interval *interval = &row->interval;

	return json_pack("{ss ss ss so so so so so so ss}", "class", row->class, "measure",
			 comparison_measure_name(row), "unit", comparison_unit(row, report->rates),
			 "a", compare_value_of(row, row->a.value), "b",
			 compare_value_of(row, row->b.value), "difference_percent",
			 percent_of(has_difference(row), interval->difference), "low_percent",
			 percent_of(is_judged(row), interval->low), "high_percent",
			 percent_of(is_judged(row), interval->high), "interval_confidence_percent",
			 percent_of(row->confidence > 0, row->confidence), "verdict",
			 verdict_name(row));
}

static json_t *compare_rows_of(const struct compare_report *report)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < report->comparison->nr; i++)
		rows = value_appended(rows, compare_row_of(report, &report->comparison->rows[i]));
	return rows;
}

static json_t *text_or_null(const char *bytes)
{
	return bytes ? json_text_value(bytes) : json_null();
}

static json_t *compare_run_of(const struct compare_run *run)
{
	return json_pack("{so so so so so so}", "file", text_or_null(run->file), "faults",
			 value_known(run->faults), "seconds",
			 run->seconds > 0 ? json_real(run->seconds) : json_null(), "lost",
			 value_known(run->lost_records), "events_lost",
			 value_known(run->lost_events), "damage", text_or_null(run->damage));
}

/* As in the report of a drive, a single run is an object, not an array. */
static json_t *compare_side_of(const struct compare_side *side)
{
	json_t *runs = json_array();
	size_t i;

	if (side->nr == 1) {
		json_decref(runs);
		return compare_run_of(side->runs);
	}
	for (i = 0; i < side->nr; i++)
		runs = value_appended(runs, compare_run_of(&side->runs[i]));
	return json_pack("{so}", "runs", runs);
}

static json_t *compare_total_of(const struct compare_report *report)
{
	const struct comparison_row *row = comparison_total(report->comparison);

	return row ? compare_row_of(report, row) : json_null();
}

/* Without a judgment, nothing is known about a change. */
static json_t *change_of(const struct comparison *comparison)
{
	return comparison->not_judged || comparison->incomplete ? json_null() :
								  json_boolean(comparison->change);
}

static json_t *report_of(const struct compare_report *report)
{
	const struct comparison *comparison = report->comparison;

	return json_pack("{so so so sb sb sf sf so so so ss so}", "a", compare_side_of(&report->a),
			 "b", compare_side_of(&report->b), "differences",
			 report->differences ? json_deep_copy(report->differences) : json_array(),
			 "rates", report->rates, "between_runs",
			 report->a.nr > 1 || report->b.nr > 1, "confidence_percent",
			 report->confidence, "threshold_percent", report->threshold, "lost_percent",
			 percent_of(true, comparison->lost), "total", compare_total_of(report),
			 "rows", compare_rows_of(report), "verdict", overall_name(comparison),
			 "change", change_of(comparison));
}

static int compare_print_as(FILE *out, enum report_format format,
			    const struct compare_report *report)
{
	switch (format) {
	case REPORT_TABLE:
		return compare_print_table(out, report);
	case REPORT_CSV:
		return compare_print_csv(out, report);
	case REPORT_JSON:
		return value_print(out, report_of(report));
	default:
		return -EINVAL;
	}
}

/* As in print_report(): the number format and µ do not depend on LANG. */
static int compare_print_neutral(FILE *out, enum report_format format,
				 const struct compare_report *report)
{
	locale_t neutral = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	locale_t before;
	int err;

	if (!neutral)
		return -errno;
	before = uselocale(neutral);
	err = compare_print_as(out, format, report);
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
	grid_set_width(terminal_columns(out));
	err = compare_print_neutral(memory, format, report);
	grid_set_width(0);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = print_report_write(out, format, text, length);
	free(text);
	return err;
}

/* A comparison's HTML page: a figure and a table. */

static int compare_page_subject(FILE *out, const void *context)
{
	const struct compare_page *page = context;
	const struct compare_side *a = &page->report->a, *b = &page->report->b;
	char *text;

	if (asprintf(&text,
		     a->nr + b->nr > 2 ? "Page faults: %s, %s and others compared" :
					 "Page faults: %s and %s compared",
		     a->runs[0].file, b->runs[0].file) < 0)
		return -ENOMEM;
	html_text(out, text);
	free(text);
	return 0;
}

static int compare_page_table(FILE *out, const void *context)
{
	return compare_print_table(out, context);
}

static int compare_page_body(FILE *out, const void *context)
{
	const struct compare_page *page = context;
	struct html_part part = html_part("comparison");
	int err;

	html_part_to(out, &part, "figures");
	err = html_print_figures(out, page->drawing, page->svgs, 1);
	html_part_to(out, &part, "tables");
	err = err ?: html_tables(out, compare_page_table, page->report);
	html_part_end(out, &part);
	return err;
}

int compare_page_print(FILE *out, const struct compare_page *page)
{
	return html_print_content(out, &(struct html_content){
					       .subject = compare_page_subject,
					       .body = compare_page_body,
					       .context = page,
				       });
}

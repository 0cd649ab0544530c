// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pfdrive bench tables on standard output: warnings, the machine, the rows, the latencies,
 * scaling, the kernel's counts, the formulas, and the rows that were not measured. Reads the
 * results and computes nothing.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/suite/ops/op_registry.h"
#include "bench/suite/print/bench_print.h"
#include "util/array.h"
#include "util/counter.h"
#include "util/text.h"
#include "util/grid.h"

#define MOST_REASONS 10 /* noisy rows with a line each */
#define MOST_STRIDES 15 /* latency columns */
#define SCALE_FAMILY "scale."

void bench_table_figure(double value, char *text, size_t size)
{
	const double much = fabs(value);

	if (isnan(value))
		snprintf(text, size, "n/a");
	else
		snprintf(text, size, "%.*f", much < 9.995 ? 2 : much < 999.5 ? 1 : 0, value);
}

static void bench_table_figure_cell(struct grid *grid, double value)
{
	char text[32];

	bench_table_figure(value, text, sizeof(text));
	grid_cell(grid, "%s", text);
}

static void bench_table_share_cell(struct grid *grid, double share)
{
	if (isnan(share))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.1f%%", 100 * share);
}

/* A whole size reads as "48K", the mean of several as "47.5K". */
static void bench_table_value_cell(struct grid *grid, const struct bench_row *row, double value)
{
	char text[24];

	if (row->operation->unit != BENCH_BYTES || isnan(value)) {
		bench_table_figure_cell(grid, value);
		return;
	}
	if (value < 1024 || !fmod(value, 1024))
		size_name(value, text, sizeof(text));
	else
		snprintf(text, sizeof(text), value < 1 << 20 ? "%.1fK" : "%.1fM",
			 value / (value < 1 << 20 ? 1 << 10 : 1 << 20));
	grid_cell(grid, "%s", text);
}

static void bench_table_print_caches(FILE *out, const struct bench_results *results)
{
	const struct bench_machine *machine = &results->machine;
	char name[24];
	size_t i;

	fputs("Caches        ", out);
	if (results->state.caches_missing.text[0]) {
		fprintf(out, "n/a: %s\n", results->state.caches_missing.text);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(machine->cache_bytes); i++) {
		size_name(machine->cache_bytes[i], name, sizeof(name));
		fprintf(out, "L%zu %s, ", i + 1, machine->cache_bytes[i] ? name : "n/a");
	}
	fprintf(out, "lines of %" PRIu64 " bytes (hwloc)\n", machine->line_bytes);
}

static void bench_table_print_clock(FILE *out, const struct bench_results *results)
{
	const struct bench_machine_state *state = &results->state;

	if (isnan(results->machine.cycle_ns))
		fputs("Cycles        n/a: " COUNTER_MISSING "\n", out);
	else
		fprintf(out, "Cycles        of the " COUNTER_NAME ", %.1f MHz, %s\n",
			1e3 / results->machine.cycle_ns,
			state->tsc_invariant ? "independent of the CPU's frequency" :
					       "not guaranteed to be constant by the CPU");
	fprintf(out, "Frequency     governor %s, turbo %s, ",
		state->governor[0] ? state->governor : "n/a",
		state->turbo[0] ? state->turbo : "n/a");
	if (state->frequency_khz)
		fprintf(out, "%.0f MHz at the start\n", state->frequency_khz / 1e3);
	else
		fputs("now n/a\n", out);
}

static void bench_table_print_machine(FILE *out, const struct bench_results *results)
{
	const struct environment *environment = &results->state.environment;

	fprintf(out, "Machine       %s; %u CPUs, %" PRIu64 " MiB; Linux %s; virtualization %s\n",
		environment->machine[0] ? environment->machine : "n/a", environment->cpus,
		environment->memory_bytes >> 20, environment->kernel,
		environment->virtualization[0] ? environment->virtualization : "n/a");
	bench_table_print_caches(out, results);
	bench_table_print_clock(out, results);
	fprintf(out, "Measured      %s, on CPU %d of %u allowed; load %.2f before\n",
		results->options.quick ? "with --quick" : "in full", results->machine.cpu,
		results->machine.nr_cpus, results->state.load);
	if (results->not_watched.text[0])
		fprintf(out, "Not watched   %s\n", results->not_watched.text);
}

static void bench_table_print_folder(FILE *out, const char *what, const struct bench_folder *facts)
{
	if (!facts->directory)
		return;
	fprintf(out, "%-14sin %s: %s", what, facts->directory,
		facts->filesystem[0] ? facts->filesystem : "file system n/a");
	if (facts->device[0])
		fprintf(out, " on %s", facts->device);
	if (facts->no_direct.text[0])
		fprintf(out, ", no O_DIRECT: %s\n", facts->no_direct.text);
	else
		fputs(", O_DIRECT\n", out);
}

/* Places of the measured files, and the machine across the network. */
static void bench_table_print_folders(FILE *out, const struct bench_results *results)
{
	const struct bench_options *options = &results->options;

	bench_table_print_folder(out, "Files", &results->files);
	bench_table_print_folder(out, "Files, NFS", &results->nfs);
	if (options->peer)
		fprintf(out, "Peer          %s, port %s\n", options->peer, options->port);
}

/*
 * Many noisy rows have one cause, a busy machine, and get one line. Few noisy rows get their
 * reasons.
 */
static void bench_table_print_noise(FILE *out, const struct bench_results *results)
{
	const struct bench_noise noise = bench_results_noise(results);
	const struct bench_row *row;
	size_t i;

	if (noise.rows > MOST_REASONS)
		fprintf(out,
			"NOISY: do not trust %zu of the %zu rows, as marked: this machine is "
			"busy (--quick is noisier)\n",
			noise.rows, noise.all_rows);
	for (i = 0; i < results->nr && noise.rows <= MOST_REASONS; i++) {
		row = &results->rows[i];
		if (row->noise.text[0] && row->operation != &op_latency)
			fprintf(out, "NOISY: do not trust %s: %s\n", row->name, row->noise.text);
	}
	if (noise.points)
		fprintf(out, "NOISY: do not trust %zu of the %zu points of memory.latency\n",
			noise.points, noise.all_points);
}

static void bench_table_print_warnings(FILE *out, const struct bench_results *results)
{
	const struct bench_row *row;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (row->contradiction.text[0])
			fprintf(out, "CONTRADICTED: %s: the kernel saw %s\n", row->name,
				row->contradiction.text);
	}
	bench_table_print_noise(out, results);
}

static void bench_table_figures_row(struct grid *grid, const struct bench_row *row)
{
	const struct statistics *figures = &row->figures;

	grid_row(grid);
	grid_cell(grid, "%s", row->name);
	bench_table_value_cell(grid, row, row->hardware.value);
	bench_table_value_cell(grid, row, row->predicted.value);
	bench_table_value_cell(grid, row, figures->mean);
	bench_table_value_cell(grid, row, row->half_width);
	bench_table_value_cell(grid, row, figures->stddev);
	grid_cell(grid, "%s", bench_unit_name(row->operation->unit));
	if (row->operation->unit == BENCH_NS)
		bench_table_figure_cell(grid, row->cycles);
	else
		grid_cell(grid, "-");
	if (row->operation->derived_from) {
		grid_cell(grid, "-");
		grid_cell(grid, "-");
	} else {
		grid_cell(grid, "%zu", figures->runs);
		grid_cell(grid, "%zu", figures->outliers);
	}
	grid_cell(grid, "%s", bench_row_mark(row));
}

static int bench_table_print_figures(FILE *out, const struct bench_results *results)
{
	static const char *const headings[] = { "<Operation", ">Hardware", ">Predicted",
						">Measured",  ">± 95%",	   ">Std dev",
						"<Unit",      ">Cycles",   ">Runs",
						">Outliers",  "<" };
	const struct bench_row *row;
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (bench_row_measured(row) && row->operation != &op_latency)
			bench_table_figures_row(&grid, row);
	}
	return grid_close(&grid, out);
}

/* A sweep point is named SIZE:STRIDE. */
static size_t bench_table_colon(const struct bench_row *row)
{
	return strcspn(row->point_name, ":");
}

static bool bench_table_same_size(const struct bench_row *a, const struct bench_row *b)
{
	const size_t length = bench_table_colon(a);

	return length == bench_table_colon(b) && !strncmp(a->point_name, b->point_name, length);
}

static size_t bench_table_count_latencies(const struct bench_results *results, size_t *first)
{
	size_t i, nr = 0;

	*first = 0;
	for (i = 0; i < results->nr; i++) {
		if (results->rows[i].operation != &op_latency)
			continue;
		if (!nr++)
			*first = i;
	}
	return nr;
}

/* The rows of the sweep are ordered by size, and within a size by stride: one line per size. */
static size_t bench_table_count_strides(const struct bench_row *rows, size_t nr)
{
	size_t strides = 0;

	while (strides < nr && strides < MOST_STRIDES &&
	       bench_table_same_size(rows, rows + strides))
		strides++;
	return strides;
}

static void bench_table_latency_row(struct grid *grid, const struct bench_row *rows, size_t strides)
{
	const struct bench_row *row;

	grid_row(grid);
	grid_cell(grid, "%.*s", (int)bench_table_colon(rows), rows->point_name);
	for (row = rows; row < rows + strides; row++)
		bench_table_figure_cell(grid, bench_row_measured(row) ? row->figures.mean : NAN);
}

static int bench_table_print_latencies(FILE *out, const struct bench_results *results)
{
	const char *headings[1 + MOST_STRIDES] = { ">Size" };
	char texts[MOST_STRIDES][40];
	const struct bench_row *rows;
	size_t first, strides, i;
	const size_t nr = bench_table_count_latencies(results, &first);
	struct grid grid;

	if (!nr)
		return 0;
	rows = &results->rows[first];
	strides = bench_table_count_strides(rows, nr);
	for (i = 0; i < strides; i++) {
		snprintf(texts[i], sizeof(texts[i]), ">%s",
			 rows[i].point_name + bench_table_colon(&rows[i]) + 1);
		headings[1 + i] = texts[i];
	}
	fputs("\nNanoseconds per load (memory.latency), by memory size and stride\n", out);
	grid_open(&grid, headings, 1 + strides);
	for (i = 0; i < nr; i += strides)
		bench_table_latency_row(&grid, &rows[i], nr - i < strides ? nr - i : strides);
	return grid_close(&grid, out);
}

static bool bench_table_shows_scale(const struct bench_row *row)
{
	return !strncmp(row->name, SCALE_FAMILY, strlen(SCALE_FAMILY)) && bench_row_measured(row);
}

static bool bench_table_any_scale(const struct bench_results *results)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (bench_table_shows_scale(&results->rows[i]))
			return true;
	return false;
}

static void bench_table_scale_row(struct grid *grid, const struct bench_row *row)
{
	const struct bench_scaling scaling = bench_row_scaling(row);

	grid_row(grid);
	grid_cell(grid, "%s", row->operation->name);
	grid_cell(grid, "%s", row->point_name);
	grid_cell(grid, "%.0f", scaling.faults_per_s);
	grid_cell(grid, "%.0f", scaling.thread_ns);
	bench_table_share_cell(grid, bench_row_watched(row) ? row->seen.mmap_lock_share : NAN);
}

static int bench_table_print_scale(FILE *out, const struct bench_results *results)
{
	static const char *const headings[] = { "<Faults of", ">Threads", ">Faults/s",
						">ns a fault, of a thread",
						">Fell back to mmap_lock" };
	struct grid grid;
	size_t i;

	if (!bench_table_any_scale(results))
		return 0;
	fputs("\nFaults by several threads at once\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < results->nr; i++)
		if (bench_table_shows_scale(&results->rows[i]))
			bench_table_scale_row(&grid, &results->rows[i]);
	return grid_close(&grid, out);
}

static void bench_table_count_cell(struct grid *grid, double per_operation)
{
	if (isnan(per_operation))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.3g", per_operation);
}

static void bench_table_usage_cells(struct grid *grid, const struct bench_row *row)
{
	static const enum bench_event events[] = { BENCH_SWITCHES, BENCH_FAULTS, BENCH_MAJOR };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		bench_table_count_cell(grid, bench_results_per_operation(&row->usage, events[i],
									 row->all_operations));
}

static void bench_table_watched_cells(struct grid *grid, const struct bench_row *row)
{
	static const enum bench_event events[] = { BENCH_SWITCHES, BENCH_SYSCALLS, BENCH_FAULTS };
	const uint64_t operations = bench_row_watched(row) ? row->seen.operations : 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		bench_table_count_cell(grid, bench_results_per_operation(&row->seen.counts,
									 events[i], operations));
}

static void bench_table_seen_row(struct grid *grid, const struct bench_row *row)
{
	const struct bench_seen *seen = &row->seen;
	const bool watched = bench_row_watched(row);

	grid_row(grid);
	grid_cell(grid, "%s", row->name);
	bench_table_usage_cells(grid, row);
	bench_table_watched_cells(grid, row);
	if (watched && seen->kernel_source) {
		bench_table_figure_cell(grid, seen->kernel_ns);
		grid_cell(grid, "%s", seen->kernel_source);
		bench_table_share_cell(grid, seen->mmap_lock_share);
	} else {
		grid_cell(grid, watched ? "-" : "n/a");
		grid_cell(grid, "%s", "");
		grid_cell(grid, watched ? "-" : "n/a");
	}
}

static bool bench_table_shows_seen(const struct bench_row *row)
{
	return bench_row_repeated(row) && row->operation != &op_latency;
}

static bool bench_table_any_seen(const struct bench_results *results)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (bench_table_shows_seen(&results->rows[i]))
			return true;
	return false;
}

static int bench_table_print_seen(FILE *out, const struct bench_results *results)
{
	static const char *const headings[] = { "<Per operation", ">Switches",	">Faults",
						">Major",	  ">Switches",	">Calls",
						">Faults",	  ">Kernel ns", "<of a fault, by",
						">mmap_lock" };
	const struct bench_row *row;
	struct grid grid;
	size_t i;

	if (!bench_table_any_seen(results))
		return 0;
	fputs("\nEvents per operation: getrusage(2) in all runs, then eBPF in one more run\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (bench_table_shows_seen(row))
			bench_table_seen_row(&grid, row);
	}
	return grid_close(&grid, out);
}

/* Points with the same formula share one line. The table has their values. */
static void bench_table_print_prediction(FILE *out, const struct bench_row *row, const char *what,
					 const struct bench_figure *figure,
					 const struct bench_figure *before)
{
	char text[32];

	if (!figure->formula[0])
		return;
	if (!strcmp(figure->formula, before->formula) &&
	    !strcmp(figure->why.text, before->why.text))
		return;
	fprintf(out, "  %s%s = %s", row->point_name[0] ? row->operation->name : row->name, what,
		figure->formula);
	bench_table_figure(figure->value, text, sizeof(text));
	if (isnan(figure->value))
		fprintf(out, " = n/a: %s", figure->why.text);
	else if (!row->point_name[0])
		fprintf(out, " = %s %s", text, bench_unit_name(row->operation->unit));
	fputs(figure->given ? " (given)\n" : "\n", out);
}

static void bench_table_print_predictions(FILE *out, const struct bench_results *results)
{
	static const struct bench_figure none;
	const struct bench_row *row, *before;
	bool again;
	size_t i;

	fputs("\nPrediction formulas\n", out);
	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		before = i ? row - 1 : row;
		again = before->operation == row->operation && i;
		if (!bench_row_measured(row))
			continue;
		bench_table_print_prediction(out, row, ".hardware", &row->hardware,
					     again ? &before->hardware : &none);
		bench_table_print_prediction(out, row, "", &row->predicted,
					     again ? &before->predicted : &none);
	}
}

/* One line per reason. An operation's first point stands for all points. */
static void bench_table_print_missing(FILE *out, const struct bench_results *results)
{
	const struct bench_row *row, *before = NULL;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (bench_row_measured(row))
			continue;
		if (!before)
			fprintf(out, "\nNot measured\n  %s", row->name);
		else if (strcmp(before->missing.text, row->missing.text))
			fprintf(out, ": %s\n  %s", before->missing.text, row->name);
		else if (before->operation != row->operation)
			fprintf(out, ", %s", row->name);
		before = row;
	}
	if (before)
		fprintf(out, ": %s\n", before->missing.text);
}

int bench_table_print(FILE *out, const struct bench_results *results)
{
	int err;

	bench_table_print_warnings(out, results);
	bench_table_print_machine(out, results);
	bench_table_print_folders(out, results);
	fputc('\n', out);
	err = bench_table_print_figures(out, results);
	if (!err)
		err = bench_table_print_latencies(out, results);
	if (!err)
		err = bench_table_print_scale(out, results);
	if (!err)
		err = bench_table_print_seen(out, results);
	if (err)
		return err;
	bench_table_print_predictions(out, results);
	bench_table_print_missing(out, results);
	return 0;
}

int bench_table_print_list(FILE *out)
{
	static const char *const headings[] = { "<Name", "<Unit", "<One operation is" };
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < bench_nr_operations; i++) {
		grid_row(&grid);
		grid_cell(&grid, "%s", bench_operations[i]->name);
		grid_cell(&grid, "%s", bench_unit_name(bench_operations[i]->unit));
		grid_cell(&grid, "%s", bench_operations[i]->title);
	}
	return grid_close(&grid, out);
}

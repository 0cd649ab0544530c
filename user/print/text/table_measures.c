// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for the extras: getrusage(2) compared with eBPF, system calls, hardware counters,
 * simulated caches, for one run or several.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "print/text/table_measures.h"
#include "util/array.h"

#define SOURCE_WIDTH 44

static const char *const cache_names[] = HW_CACHE_NAMES;
static const char *const op_names[] = HW_OP_NAMES;

static void usage_rows(struct grid *grid, const struct usage_line *line)
{
	const char *text = line->source;
	int64_t difference;
	char why[256];

	if (rusage_check_difference(line, &difference) && difference) {
		snprintf(why, sizeof(why), "%s; differs: %s", line->source,
			 line->reason ?: "UNEXPLAINED");
		text = why;
	}
	grid_row(grid);
	grid_cell(grid, "%s", line->name);
	grid_cell(grid, "%s", line->unit);
	cell_count(grid, line->rusage);
	cell_count(grid, line->ebpf);
	if (!rusage_check_difference(line, &difference))
		grid_cell(grid, "-");
	else
		grid_cell(grid, difference ? "%+" PRId64 : "%" PRId64, difference);
	text = grid_text(grid, SOURCE_WIDTH, text);
	while (*text) {
		grid_row(grid);
		cells_text(grid, "", 5);
		text = grid_text(grid, SOURCE_WIDTH, text);
	}
}

static int table_usage(FILE *out, const struct report *run)
{
	const bool perf = view_source_is_perf(run);
	const char *const headings[] = {
		"<Usage",      "<Unit",
		">getrusage",  perf ? ">perf" : ">eBPF",
		">Difference", perf ? "<Source of perf's value" : "<Source of eBPF's value"
	};
	const struct usage_line *lines = run->extras.usage;
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < USAGE_NR; i++)
		usage_rows(&grid, &lines[i]);
	return grid_close(&grid, out);
}

static void syscall_total_row(struct grid *grid, const struct syscall_total *total, uint64_t all_ns,
			      const char *name)
{
	grid_row(grid);
	grid_cell(grid, "%.2f", all_ns ? 100.0 * total->total_ns / all_ns : 0);
	grid_cell(grid, "%.6f", total->total_ns / 1e9);
	if (total->calls)
		grid_cell(grid, "%.0f", (double)total->total_ns / total->calls / 1e3);
	else
		grid_cell(grid, "-");
	grid_cell(grid, "%" PRIu64, total->calls);
	if (total->errors)
		grid_cell(grid, "%" PRIu64, total->errors);
	else
		grid_cell(grid, "%s", ""); /* empty, as in strace */
	grid_cell(grid, "%s", name);
}

static int table_syscall_totals(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">% time", ">seconds", ">usecs/call",
						">calls",  ">errors",  "<syscall" };
	const struct report_extras *measures = &run->extras;
	const struct syscall_total sum =
		syscall_totals_sum(measures->syscalls, measures->nr_syscalls);
	struct grid grid;
	char *name, number[16];
	size_t i;

	if (!run->bpf.have_counts) {
		table_no_bpf(out, run, "System calls by name");
		return 0;
	}
	fputs("System calls in strace -c -w format. eBPF adds about 1 800 instructions to "
	      "a\n"
	      "call; strace adds 23 000 or more (Documentation/user/measures.rst)\n",
	      out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < measures->nr_syscalls; i++) {
		name = view_syscall_name(run, measures->syscalls[i].number);
		snprintf(number, sizeof(number), "%" PRIu32, measures->syscalls[i].number);
		syscall_total_row(&grid, &measures->syscalls[i], sum.total_ns, name ?: number);
		free(name);
	}
	syscall_total_row(&grid, &sum, sum.total_ns, "total");
	return grid_close(&grid, out);
}

static void cell_hardware(struct grid *grid, const struct hw_count *count)
{
	if (count->missing[0])
		grid_cell(grid, "not available");
	else
		grid_cell(grid, "%" PRIu64, count->value);
}

/* The counters of an operation are one perf group: both were counted for the same time. */
static double counted_share(const struct hw_count *group)
{
	const double share = hw_count_share(&group[HW_ACCESS]);

	return isnan(share) ? hw_count_share(&group[HW_MISS]) : share;
}

static void hardware_row(struct grid *grid, const struct hw_counts *counts, enum hw_cache cache,
			 enum hw_op op)
{
	const struct hw_count *group = counts->counts[cache][op];

	grid_row(grid);
	grid_cell(grid, "%s", cache_names[cache]);
	grid_cell(grid, "%s", op_names[op]);
	cell_hardware(grid, &group[HW_ACCESS]);
	cell_hardware(grid, &group[HW_MISS]);
	cell_share(grid, hw_counts_miss_rate(counts, cache, op));
	cell_share(grid, counted_share(group));
}

static void hardware_head(FILE *out, const struct report *run)
{
	const struct hw_counts *counts = run->extras.counters;

	fprintf(out, "Access loop hardware counters in user mode, on CPU %d; ",
		run->environment.pinned_cpu);
	if (counts->walked_bytes)
		fprintf(out,
			"L1D with %" PRIu64 " KiB\nwas flushed before: a buffer of %" PRIu64
			" KiB was read\n",
			counts->l1d_bytes / 1024, counts->walked_bytes / 1024);
	else
		fputs("L1D was not\nflushed before, because the kernel does not report the size\n",
		      out);
}

static void hardware_reasons(FILE *out, const struct hw_counts *counts)
{
	static const char *const result_names[] = HW_RESULT_NAMES;
	const char *all = hw_counts_all_missing(counts);
	const struct hw_count *count;
	enum hw_cache cache;
	enum hw_result result;
	enum hw_op op;

	if (all) {
		fprintf(out, "No counter is available: %s\n", all);
		return;
	}
	for (cache = 0; cache < HW_NR_CACHES; cache++)
		for (op = 0; op < HW_NR_OPS; op++)
			for (result = 0; result < HW_NR_RESULTS; result++) {
				count = &counts->counts[cache][op][result];
				if (count->missing[0])
					fprintf(out, "Not available: %s %s %s: %s\n",
						cache_names[cache], op_names[op],
						result_names[result], count->missing);
			}
}

static int table_hardware(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Cache",  "<Operation", ">Accesses",
						">Misses", ">Miss rate", ">Counted for" };
	struct grid grid;
	enum hw_cache cache;
	enum hw_op op;
	int err;

	hardware_head(out, run);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (cache = 0; cache < HW_NR_CACHES; cache++)
		for (op = 0; op < HW_NR_OPS; op++)
			hardware_row(&grid, run->extras.counters, cache, op);
	err = grid_close(&grid, out);
	hardware_reasons(out, run->extras.counters);
	return err;
}

static double hw_rate(int64_t misses, int64_t refs)
{
	return refs > 0 ? (double)misses / refs : NAN;
}

static void simulated_cells(struct grid *grid, const char *name, int64_t refs, int64_t d1,
			    int64_t ll)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_cell(grid, "%" PRId64, refs);
	grid_cell(grid, "%" PRId64, d1);
	cell_share(grid, hw_rate(d1, refs));
	grid_cell(grid, "%" PRId64, ll);
	cell_share(grid, hw_rate(ll, refs));
}

static void simulated_row(struct grid *grid, const char *name, const int64_t *events)
{
	simulated_cells(grid, name, cachegrind_data_refs(events), cachegrind_d1_misses(events),
			cachegrind_ll_misses(events));
}

/* Functions with at least 1/1000 of the references. The rest is noise between two starts. */
static bool is_of_the_loop(const struct cachegrind *loop, const int64_t *events)
{
	return 1000 * cachegrind_data_refs(events) > cachegrind_data_refs(loop->summary);
}

static void simulated_functions(struct grid *grid, const struct cachegrind *loop)
{
	int64_t refs = 0, d1 = 0, ll = 0;
	const int64_t *events;
	char name[96];
	size_t i;

	for (i = 0; i < loop->nr; i++) {
		events = loop->functions[i].events;
		if (is_of_the_loop(loop, events)) {
			snprintf(name, sizeof(name), "  in %.80s", loop->functions[i].name);
			simulated_row(grid, name, events);
			continue;
		}
		refs += cachegrind_data_refs(events);
		d1 += cachegrind_d1_misses(events);
		ll += cachegrind_ll_misses(events);
	}
	grid_row(grid);
	grid_cell(grid, "  elsewhere");
	grid_cell(grid, "%" PRId64, refs);
	grid_cell(grid, "%" PRId64, d1);
	grid_cell(grid, "-");
	grid_cell(grid, "%" PRId64, ll);
	grid_cell(grid, "-");
}

static int table_simulation(FILE *out, const struct cache_simulation *simulation)
{
	static const char *const headings[] = { "<SIMULATED", ">References", ">D1 misses",
						">Rate",      ">LL misses",  ">Rate" };
	static const struct cache_geometry levels[] = CACHE_SIMULATION_GEOMETRY;
	const int64_t *events = simulation->loop.summary;
	struct grid grid;
	size_t i;

	fprintf(out,
		"SIMULATED by %s, cachegrind: a run with the accesses minus a run without them.\n"
		"These are not the caches of this machine:",
		simulation->version);
	for (i = 0; i < CACHE_SIMULATION_LEVELS; i++)
		fprintf(out, "%s %s %" PRIu64 " KiB %u-way", i ? "," : "", levels[i].name,
			levels[i].bytes / 1024, levels[i].ways);
	fprintf(out, ", lines of %u bytes\n", levels[0].line);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	simulated_cells(&grid, "read", events[CACHEGRIND_DR], events[CACHEGRIND_D1MR],
			events[CACHEGRIND_DLMR]);
	simulated_cells(&grid, "write", events[CACHEGRIND_DW], events[CACHEGRIND_D1MW],
			events[CACHEGRIND_DLMW]);
	simulated_row(&grid, "both", events);
	simulated_functions(&grid, &simulation->loop);
	return grid_close(&grid, out);
}

/* Members that are not figures have no mean, so only one run prints them. */
static int table_of_one_run(FILE *out, const struct report *run)
{
	int err = 0;

	if (run->extras.print_syscalls) {
		fputc('\n', out);
		err = table_syscall_totals(out, run);
	}
	if (!err && run->extras.maps) {
		fputc('\n', out);
		err = table_maps(out, run->extras.maps);
	}
	return err;
}

static int table_of_all_runs(FILE *out, const struct report_extras *extras)
{
	int err = 0;

	if (extras->simulation) {
		fputc('\n', out);
		err = table_simulation(out, extras->simulation);
	}
	return err;
}

int table_measures(FILE *out, const struct report *run)
{
	int err = 0;

	if (run->extras.print_usage) {
		fputc('\n', out);
		err = table_usage(out, run);
	}
	if (!err && run->extras.counters) {
		fputc('\n', out);
		err = table_hardware(out, run);
	}
	if (!err)
		err = table_of_all_runs(out, &run->extras);
	return err ? err : table_of_one_run(out, run);
}

/* If any value is n/a, the result is n/a. */
static void cell_spread_or(struct grid *grid, const double *values, size_t nr, const char *missing)
{
	const struct spread spread = view_spread(values, nr);

	if (isnan(spread.mean))
		grid_cell(grid, "%s", missing);
	else
		grid_cell(grid, "%.1f ± %.1f", spread.mean, spread.stddev);
}

static double hw_number(uint64_t fact)
{
	return fact == COUNT_NA ? NAN : fact;
}

static int usage_of_runs(FILE *out, const struct view *views, size_t nr, double *values)
{
	const char *const headings[] = { "<Usage", "<Unit", ">getrusage",
					 view_source_is_perf(views[0].run) ? ">perf" : ">eBPF" };
	const struct usage_line *line;
	struct grid grid;
	size_t i, run;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < USAGE_NR; i++) {
		line = &views[0].run->extras.usage[i];
		grid_row(&grid);
		grid_cell(&grid, "%s", line->name);
		grid_cell(&grid, "%s", line->unit);
		for (run = 0; run < nr; run++)
			values[run] = hw_number(views[run].run->extras.usage[i].rusage);
		cell_spread_or(&grid, values, nr, "n/a");
		for (run = 0; run < nr; run++)
			values[run] = hw_number(views[run].run->extras.usage[i].ebpf);
		cell_spread_or(&grid, values, nr, "n/a");
	}
	return grid_close(&grid, out);
}

static double counted_value(const struct view *view, enum hw_cache cache, enum hw_op op,
			    enum hw_result result)
{
	const struct hw_count *count = &view->run->extras.counters->counts[cache][op][result];

	return count->missing[0] ? NAN : count->value;
}

static void hardware_row_of_runs(struct grid *grid, const struct view *views, size_t nr,
				 double *values, unsigned int row)
{
	const enum hw_cache cache = row / HW_NR_OPS;
	const enum hw_op op = row % HW_NR_OPS;
	enum hw_result result;
	size_t run;

	grid_row(grid);
	grid_cell(grid, "%s", cache_names[cache]);
	grid_cell(grid, "%s", op_names[op]);
	for (result = 0; result < HW_NR_RESULTS; result++) {
		for (run = 0; run < nr; run++)
			values[run] = counted_value(&views[run], cache, op, result);
		cell_spread_or(grid, values, nr, "not available");
	}
	for (run = 0; run < nr; run++)
		values[run] = 100 * hw_counts_miss_rate(views[run].run->extras.counters, cache, op);
	cell_spread_or(grid, values, nr, "-");
}

static int hardware_of_runs(FILE *out, const struct view *views, size_t nr, double *values)
{
	static const char *const headings[] = { "<Cache", "<Operation", ">Accesses", ">Misses",
						">Miss rate, %" };
	struct grid grid;
	unsigned int row;
	int err;

	hardware_head(out, views[0].run);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (row = 0; row < HW_NR_CACHES * HW_NR_OPS; row++)
		hardware_row_of_runs(&grid, views, nr, values, row);
	err = grid_close(&grid, out);
	hardware_reasons(out, views[0].run->extras.counters);
	return err;
}

static int spreads_of_runs(FILE *out, const struct view *views, size_t nr, double *values)
{
	int err = 0;

	if (views[0].run->extras.print_usage) {
		fputc('\n', out);
		err = usage_of_runs(out, views, nr, values);
	}
	if (!err && views[0].run->extras.counters) {
		fputc('\n', out);
		err = hardware_of_runs(out, views, nr, values);
	}
	return err;
}

int table_measures_of_runs(FILE *out, const struct view *views, size_t nr)
{
	double *values = calloc(nr, sizeof(*values));
	size_t i;
	int err;

	if (!values)
		return -ENOMEM;
	err = spreads_of_runs(out, views, nr, values);
	free(values);
	if (!err)
		err = table_of_all_runs(out, &views[0].run->extras);
	for (i = 0; i < nr && !err; i++) {
		if (views[i].run->extras.print_syscalls || views[i].run->extras.maps)
			fprintf(out, "\nRun %zu of %zu\n", i + 1, nr);
		err = table_of_one_run(out, views[i].run);
	}
	return err;
}

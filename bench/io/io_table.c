// SPDX-License-Identifier: GPL-2.0-only
/* Prints the rates, the kernel's work for them, and the caches before and after. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/io/io_report.h"
#include "print/text/cells.h"
#include "util/array.h"
#include "util/page_size.h"

static const char *const caches[NR_IO_CACHES] = IO_CACHE_NAMES;

/* A figure for each bare pass. */
typedef double (*io_figure)(const struct io_row *row, const struct io_pass *pass);

static double io_table_took_ms(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return io_pass_ns(pass) / 1e6;
}

static double io_table_sync_ms(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->synced ? pass->sync_ns / 1e6 : NAN;
}

static double io_table_kib_of(uint64_t count)
{
	return count == COUNT_NA ? NAN : count;
}

static double io_table_cached_before(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return io_table_kib_of(pass->before.cached);
}

static double io_table_cached_after(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return io_table_kib_of(pass->after.cached);
}

static double io_table_buffers_before(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return io_table_kib_of(pass->before.buffers);
}

static double io_table_buffers_after(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return io_table_kib_of(pass->after.buffers);
}

static double io_table_files_before(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->resident_before * (page_size() / 1024.0);
}

static double io_table_files_after(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->resident_after * (page_size() / 1024.0);
}

static double io_table_minor_faults(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->usage.minflt;
}

static double io_table_major_faults(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->usage.majflt;
}

static double io_table_switches(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->usage.nvcsw;
}

static double io_table_preemptions(const struct io_row *row, const struct io_pass *pass)
{
	(void)row;
	return pass->usage.nivcsw;
}

static double *io_table_values_of(const struct io_row *row, io_figure figure)
{
	double *values = calloc(row->nr_passes, sizeof(*values));
	unsigned int i;

	for (i = 0; values && i < row->nr_passes; i++)
		values[i] = figure(row, &row->passes[i]);
	return values;
}

static void io_table_spread_cell(struct grid *grid, const struct io_row *row, io_figure figure,
				 bool fine)
{
	double *values = io_table_values_of(row, figure);

	if (!values)
		grid->err = -ENOMEM;
	else
		cell_spread(grid, view_spread(values, row->nr_passes), fine);
	free(values);
}

static void io_table_mean_cell(struct grid *grid, const struct io_row *row, io_figure figure)
{
	double *values = io_table_values_of(row, figure);
	double mean;

	if (!values) {
		grid->err = -ENOMEM;
		return;
	}
	mean = view_spread(values, row->nr_passes).mean;
	if (isnan(mean))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.0f", mean);
	free(values);
}

static void io_table_begin_row(struct grid *grid, const struct io_row *row)
{
	char name[64];

	io_method_name(&row->method, name, sizeof(name));
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_cell(grid, "%s", caches[row->cache]);
}

static int io_table_rates(FILE *out, const struct io_report *report)
{
	static const char *const headings[] = { "<Method", "<Cache", ">MiB",
						">MiB/s",  ">ms",    ">writing back, ms" };
	const struct io_row *row;
	struct grid grid;
	unsigned int i;

	fprintf(out, "Throughput: mean ± standard deviation of %u passes, not watched\n",
		report->rows[0].nr_passes);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < report->nr_rows; i++) {
		row = &report->rows[i];
		io_table_begin_row(&grid, row);
		grid_cell(&grid, "%.4g", (double)row->nr_files * row->bytes / (1 << 20));
		io_table_spread_cell(&grid, row, io_report_rate, true);
		io_table_spread_cell(&grid, row, io_table_took_ms, true);
		io_table_spread_cell(&grid, row, io_table_sync_ms, true);
	}
	return grid_close(&grid, out);
}

static int io_table_counts(FILE *out, const struct io_report *report)
{
	static const char *const headings[] = { "<Method", "<Cache", ">minflt",
						">majflt", ">nvcsw", ">nivcsw" };
	static const io_figure figures[] = {
		io_table_minor_faults,
		io_table_major_faults,
		io_table_switches,
		io_table_preemptions,
	};
	unsigned int i, j;
	struct grid grid;

	fputs("getrusage(2) counts in the same passes\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < report->nr_rows; i++) {
		io_table_begin_row(&grid, &report->rows[i]);
		for (j = 0; j < ARRAY_SIZE(figures); j++)
			io_table_spread_cell(&grid, &report->rows[i], figures[j], false);
	}
	return grid_close(&grid, out);
}

static void io_table_seen_row(struct grid *grid, const struct io_row *row)
{
	const struct report *seen = row->seen;
	struct summary_figures figures;

	io_table_begin_row(grid, row);
	summary_figures(seen->summary, &figures);
	cell_count(grid, io_report_syscalls(seen));
	cell_count(grid, seen->bpf.off_cpu_count);
	cell_count(grid, figures.faults);
	cell_count(grid, figures.major);
	cell_count(grid, figures.classes[PFSTAT_CLASS_MKWRITE].count);
	cell_count(grid, seen->ledger.unexplained);
	if (isnan(io_report_overhead(row)))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%+.1f%%", 100 * io_report_overhead(row));
}

/* As the report's warnings: lost events are missing in the row's counts. */
static void io_table_warn_of_losses(FILE *out, const struct io_row *row)
{
	const struct report *seen = row->seen;
	char name[64];

	io_method_name(&row->method, name, sizeof(name));
	if (seen->losses.records != COUNT_NA && seen->losses.records)
		fprintf(out, "%s, %s: LOST %" PRIu64 " RECORDS: FAULTS AND MKWRITE ARE TOO LOW\n",
			name, caches[row->cache], seen->losses.records);
	if (seen->losses.events != COUNT_NA && seen->losses.events)
		fprintf(out,
			"%s, %s: LOST %" PRIu64 " EVENTS OF EBPF: SYSTEM CALLS, OFF-CPU "
			"COUNTS, FAULTS ARE TOO LOW\n",
			name, caches[row->cache], seen->losses.events);
}

static int io_table_seen(FILE *out, const struct io_report *report)
{
	static const char *const headings[] = { "<Method",	  "<Cache",	  ">System calls",
						">Off-CPU count", ">Faults",	  ">Major",
						">mkwrite",	  ">Unexplained", ">Longer" };
	struct grid grid;
	unsigned int i;
	int err;

	fprintf(out, "One more pass per method, watched by eBPF%s; Longer: the extra time\n",
		strcmp(report->environment.source, "ebpf") ? " and the module" :
							     ", without the module");
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < report->nr_rows; i++)
		io_table_seen_row(&grid, &report->rows[i]);
	err = grid_close(&grid, out);
	for (i = 0; i < report->nr_rows; i++)
		io_table_warn_of_losses(out, &report->rows[i]);
	return err;
}

static int io_table_caches(FILE *out, const struct io_report *report)
{
	static const char *const headings[] = { "<Method",	   "<Cache",
						">Cached before",  ">after",
						">Buffers before", ">after",
						">Files before",   ">after" };
	static const io_figure figures[] = {
		io_table_cached_before, io_table_cached_after, io_table_buffers_before,
		io_table_buffers_after, io_table_files_before, io_table_files_after,
	};
	unsigned int i, j;
	struct grid grid;

	fputs("The machine's page cache and buffers (/proc/meminfo), and the files' cached "
	      "pages\n"
	      "(mincore), before and after a pass: means in KiB\n",
	      out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < report->nr_rows; i++) {
		io_table_begin_row(&grid, &report->rows[i]);
		for (j = 0; j < ARRAY_SIZE(figures); j++)
			io_table_mean_cell(&grid, &report->rows[i], figures[j]);
	}
	return grid_close(&grid, out);
}

static const char *io_table_known(const char *text)
{
	return *text ? text : "n/a";
}

static void io_table_print_head(FILE *out, const struct io_report *report)
{
	const struct environment *e = &report->environment;

	fprintf(out, "Machine  %s; %u CPU%s, %.1f GiB; virtualization: %s\n",
		io_table_known(e->machine), e->cpus, e->cpus == 1 ? "" : "s",
		e->memory_bytes / 1073741824.0, io_table_known(e->virtualization));
	fprintf(out, "Kernel   %s; clock source: %s\n", io_table_known(e->kernel),
		io_table_known(e->clocksource));
	fprintf(out, "Files    %u of %.4g MiB in %s; %s on %s, read-ahead ", report->nr_files,
		report->file_bytes / 1048576.0, report->folder, io_table_known(e->filesystem),
		io_table_known(e->device));
	if (e->readahead_bytes >= 0)
		fprintf(out, "%" PRId64 " KiB\n\n", e->readahead_bytes / 1024);
	else
		fputs("n/a\n\n", out);
}

int io_table(FILE *out, const struct io_report *report)
{
	static int (*const tables[])(FILE *out, const struct io_report *report) = {
		io_table_rates, io_table_counts, io_table_seen, io_table_caches
	};
	unsigned int i;
	int err = 0;

	io_table_print_head(out, report);
	for (i = 0; i < ARRAY_SIZE(tables) && !err; i++) {
		if (i)
			fputc('\n', out);
		err = tables[i](out, report);
	}
	return err;
}

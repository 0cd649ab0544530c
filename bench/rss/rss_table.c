// SPDX-License-Identifier: GPL-2.0-only
/* For people: the study's two columns, and the fault that explains each step. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/rss/rss_steps.h"
#include "print/text/cells.h"
#include "util/array.h"

static const char *rss_table_known(const char *text)
{
	return *text ? text : "n/a";
}

static void rss_table_print_head(FILE *out, const struct rss_report *report)
{
	const struct environment *e = &report->environment;

	fprintf(out, "File    %s, %" PRIu64 " bytes; %s on %s, read-ahead ", e->file, e->file_bytes,
		rss_table_known(e->filesystem), rss_table_known(e->device));
	if (e->readahead_bytes >= 0)
		fprintf(out, "%" PRId64 " KiB\n", e->readahead_bytes / 1024);
	else
		fputs("n/a\n", out);
	fprintf(out, "Kernel  %s; page cache %s; fault-around ", rss_table_known(e->kernel),
		e->cache);
	if (!e->fault_around)
		fputs("off\n", out);
	else if (e->fault_around_bytes)
		fprintf(out, "%" PRIu64 " KiB\n", e->fault_around_bytes / 1024);
	else
		fputs("n/a\n", out);
	if (!strcmp(e->source, "ebpf"))
		fputs("Source  eBPF, without the pfstat module\n", out);
	if (report->bpf_missing)
		fprintf(out, "eBPF    n/a (%s): only faults on the mapped file are known\n",
			report->bpf_missing);
	if (report->lost)
		fprintf(out, "Lost    %" PRIu64 " records or events: faults are missing below\n",
			report->lost);
	fputc('\n', out);
}

static void rss_table_name_cell(struct grid *grid, const struct rss_step *step)
{
	switch (step->kind) {
	case RSS_START:
		grid_cell(grid, "start");
		break;
	case RSS_MMAP:
		grid_cell(grid, "mmap");
		break;
	case RSS_TOUCH:
		grid_cell(grid, "byte %" PRIu64, step->offset);
		break;
	}
}

/* A size, and by how much it differs from the one before. */
static void rss_table_size_cells(struct grid *grid, uint64_t now, const uint64_t *before)
{
	grid_cell(grid, "%" PRIu64, now / 1024);
	if (before)
		grid_cell(grid, "%+" PRId64, (int64_t)(now - *before) / 1024);
	else
		grid_cell(grid, " ");
}

static size_t rss_table_fault_text(char *text, size_t size, const struct rss_fault *fault)
{
	int length = snprintf(text, size, "%s%s", fault_class_name(fault->class),
			      fault->major ? " (major)" : "");

	if (fault->pgoff != COUNT_NA)
		length += snprintf(text + length, size - length, " of page %" PRIu64, fault->pgoff);
	length += snprintf(text + length, size - length, ", %.2f µs", fault->ns / 1e3);
	if (fault->attempts > 1)
		length +=
			snprintf(text + length, size - length, " in %u attempts", fault->attempts);
	if (!fault->solved)
		length +=
			snprintf(text + length, size - length, ", ended with an error or a signal");
	return length;
}

/* lost: something was lost, perhaps from this step. */
static void rss_table_faults_cell(struct grid *grid, const struct rss_step *step, bool lost)
{
	char text[RSS_FAULTS_MAX * 128];
	size_t length = 0;
	unsigned int i;

	if (step->kind == RSS_START) {
		grid_cell(grid, " ");
		return;
	}
	if (!step->nr_faults && lost) {
		grid_cell(grid, "n/a");
		return;
	}
	if (!step->nr_faults) {
		grid_cell(grid, step->kind == RSS_MMAP ? "none: mmap reserves addresses only" :
							 "none: the page was mapped");
		return;
	}
	for (i = 0; i < step->nr_faults && i < RSS_FAULTS_MAX; i++) {
		if (i)
			length += snprintf(text + length, sizeof(text) - length, "; ");
		length += rss_table_fault_text(text + length, sizeof(text) - length,
					       &step->faults[i]);
	}
	if (step->nr_faults > RSS_FAULTS_MAX)
		snprintf(text + length, sizeof(text) - length, "; %u more",
			 step->nr_faults - RSS_FAULTS_MAX);
	grid_cell(grid, "%s", text);
}

int rss_table(FILE *out, const struct rss_report *report)
{
	static const char *const headings[] = { "<Step", ">Virtual KiB",  ">more", ">Resident KiB",
						">more", ">Mapped pages", "<Fault" };
	const struct sizes *sizes, *before = NULL;
	struct grid grid;
	unsigned int i;

	rss_table_print_head(out, report);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < report->nr_steps; i++) {
		sizes = &report->steps[i].marks.after;
		grid_row(&grid);
		rss_table_name_cell(&grid, &report->steps[i]);
		rss_table_size_cells(&grid, sizes->virtual_bytes,
				     before ? &before->virtual_bytes : NULL);
		rss_table_size_cells(&grid, sizes->resident_bytes,
				     before ? &before->resident_bytes : NULL);
		grid_cell(&grid, "%" PRIu64, sizes->mapped_pages);
		rss_table_faults_cell(&grid, &report->steps[i], report->lost);
		before = sizes;
	}
	return grid_close(&grid, out);
}

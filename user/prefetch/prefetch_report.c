// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text printed by pfdrive prefetch make: which pages the recordings needed, which of them they
 * could not see, and the size-benefit curve.
 */
#include <errno.h>
#include <inttypes.h>

#include "prefetch/prefetch_report.h"
#include "util/array.h"
#include "util/page_size.h"
#include "util/grid.h"
#include "util/time_ns.h"

static double mib(double bytes)
{
	return bytes / (1 << 20);
}

static void print_sum(struct grid *grid, const struct prefetch_sum *sum,
		      const struct prefetch_sum *all)
{
	const double time = sum->fault_ns + sum->read_ns, total = all->fault_ns + all->read_ns;

	grid_cell(grid, "%.1f", mib((double)sum->pages * page_size()));
	grid_cell(grid, "%" PRIu64, sum->extents);
	grid_cell(grid, "%.3f", (double)sum->fault_ns / MILLISECOND);
	grid_cell(grid, "%.3f", (double)sum->read_ns / MILLISECOND);
	if (total > 0)
		grid_cell(grid, "%.1f%%", 100 * time / total);
	else
		grid_cell(grid, "-");
}

static int print_curve(FILE *out, const struct prefetch_made *made)
{
	static const char *const headings[] = { "<Part",      ">Size MiB",   ">Extents",
						">Faults ms", ">read(2) ms", ">Avoided" };
	static const unsigned int percents[] = PREFETCH_CURVE;
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < PREFETCH_CURVE_NR; i++) {
		grid_row(&grid);
		grid_cell(&grid, "for %u%%", percents[i]);
		print_sum(&grid, &made->curve[i], &made->all);
	}
	grid_row(&grid);
	grid_cell(&grid, "all pages");
	print_sum(&grid, &made->all, &made->all);
	if (made->kept.extents != made->all.extents) {
		grid_row(&grid);
		grid_cell(&grid, "--max-size");
		print_sum(&grid, &made->kept, &made->all);
	}
	return grid_close(&grid, out);
}

/* The pages missing in the list, and why. */
static void print_gaps(FILE *out, const struct prefetch_made *made)
{
	if (made->without_requests)
		fprintf(out,
			"Recordings without eBPF: %u. They lack the files that only read(2) read, "
			"and may lack pages of others.\n",
			made->without_requests);
	if (made->of_perf)
		fprintf(out,
			"Recordings by perf: %u. They have only each fault's page, not those "
			"that it read or mapped around this page, which eBPF (as root) records.\n",
			made->of_perf);
	if (made->cached)
		fprintf(out,
			"Cached before: %" PRIu64 " pages that faulted were in the page cache when "
			"the recordings began; other cached pages may be missing.\n",
			made->cached);
	if (made->unnamed_files)
		fprintf(out,
			"Without a path: %" PRIu64 " files, %" PRIu64 " pages: no mapping names "
			"them, and no folder has their inode.\n",
			made->unnamed_files, made->unnamed_pages);
	if (made->changed_files)
		fprintf(out, "Gone or changed since: %" PRIu64 " files.\n", made->changed_files);
}

int prefetch_report_made(FILE *out, const struct prefetch_made *made, const char *path)
{
	const struct prefetch_sum *kept = &made->kept, *all = &made->all;
	int err;

	fprintf(out,
		"Recordings: %u; pages needed by at least %u of them: %" PRIu64 " of %" PRIu64 "\n",
		made->runs, made->min_runs, all->pages, made->pages_seen);
	print_gaps(out, made);
	fputc('\n', out);
	err = print_curve(out, made);
	fprintf(out, "\nList: %.1f MiB in %" PRIu64 " extents of %zu files, in %s\n",
		mib(kept->pages * page_size()), kept->extents, made->list.nr_files, path);
	if (kept->extents != all->extents)
		fprintf(out, "Cut by --max-size: %.1f MiB in %" PRIu64 " extents\n",
			mib((all->pages - kept->pages) * page_size()),
			all->extents - kept->extents);
	if (err)
		return err;
	errno = 0;
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}

int prefetch_report_read(FILE *out, const struct prefetch_result *result)
{
	fprintf(out, "%.1f MiB of %" PRIu64 " files are in the page cache, after %.3f s",
		mib(result->bytes), result->files, (double)result->elapsed_ns / SECOND);
	if (result->left_out)
		fprintf(out, "; left out: %" PRIu64 " files", result->left_out);
	fputc('\n', out);
	errno = 0;
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table with the costliest files, mappings, threads or places in the code. The rows come from the
 * view. The rows that --top omits are one line at the end.
 */
#include <inttypes.h>
#include <math.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

static void main_part_cell(struct grid *grid, const struct report *run, const struct group *group)
{
	const enum part part = view_main_part(group);

	if (!run->faults.parts_known || !view_part_known(run, part) || !group->total_ns) {
		grid_cell(grid, "n/a");
	} else {
		grid_cell(grid, "%s %.0f%%", part_name(part),
			  100 * view_share(group->parts_ns[part], group->total_ns));
		grid_title(grid, part_title(part));
	}
}

static void group_row(struct grid *grid, const struct report *run, const struct group *group)
{
	char name[CELLS_GROUP_NAME];

	grid_row(grid);
	cell_count(grid, group->faults);
	cell_count(grid, group->major);
	cell_scaled(grid, group->total_ns / 1e6);
	cell_share(grid, view_share(group->total_ns, run->faults.all.whole.total_ns));
	cell_scaled(grid, view_share(group->total_ns, group->faults) / 1e3);
	cell_scaled(grid, group->max_ns / 1e3);
	main_part_cell(grid, run, group);
	grid_cell(grid, "%s", cells_group_name(name, group));
}

/* A separate row below a mapping with known read-ahead. */
static void group_readahead_row(struct grid *grid, const struct report *run,
				const struct group *group)
{
	if (!group->state.known)
		return;
	grid_row(grid);
	cells_text(grid, "", 7);
	if (mapping_state_has_readahead(&group->state))
		grid_cell(grid, "%s, %" PRIu64 " KiB ahead, %" PRIu64 " misses",
			  view_advice_name(group), view_ra_bytes(run, group) / 1024,
			  view_mmap_miss(group));
	else
		grid_cell(grid, "%s", view_advice_name(group));
}

static void groups_left_out_line(FILE *out, const struct view *view)
{
	const size_t rows = view->run->groups.nr - view->nr_rows;
	const struct group *sum = &view->left_out;

	if (rows)
		fprintf(out, "Not shown: %zu more row%s, with %" PRIu64 " faults and %.2f ms\n",
			rows, rows == 1 ? "" : "s", sum->faults, sum->total_ns / 1e6);
}

static void groups_folded_line(FILE *out, const struct view *view)
{
	const struct report_groups *groups = &view->run->groups;
	size_t i;

	for (i = 0; i < groups->nr; i++)
		if (groups->rows[i].folded) {
			fprintf(out,
				GROUP_OTHERS " is the sum of %" PRIu64
					     " folded rows, each with at most ",
				groups->rows[i].folded);
			cells_print_figure(out, groups->rows[i].others_max_ns / 1e6);
			fputs(" ms\n", out);
		}
}

int table_groups(FILE *out, const struct view *view)
{
	static const char *const names[NR_GROUP_BY] = {
		"<File", "<Mapping", "<Thread", "<Code", "<Stack", "<Name", "<Function", "<Line"
	};
	const struct report *run = view->run;
	const char *const headings[] = {
		">Faults",  ">Major",  ">Total ms", ">Share",
		">Mean µs", ">Max µs", "<Mostly",   names[run->groups.by]
	};
	struct grid grid;
	size_t i;
	int err;

	fprintf(out, "Faults by %s, costliest first\n", view_group_name(run->groups.by));
	if (!run->groups.nr) {
		fputs("none\n", out);
		return 0;
	}
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < view->nr_rows; i++) {
		group_row(&grid, run, &run->groups.rows[i]);
		group_readahead_row(&grid, run, &run->groups.rows[i]);
	}
	err = grid_close(&grid, out);
	groups_left_out_line(out, view);
	groups_folded_line(out, view);
	return err;
}

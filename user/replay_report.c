// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "replay_report.h"
#include "report/grid.h"
#include "report/value.h"
#include "run.h"

struct side {
	uint64_t count, total_ns;
};

static struct side replayed_of(const struct analysis *analysis, enum fault_class class)
{
	struct fault_figures figures;

	analysis_faults(analysis, class, &figures);
	return (struct side){ figures.count, figures.whole.total_ns };
}

static struct side recorded_of(const struct recorded_file *file, enum fault_class class)
{
	return (struct side){ file->classes[class].count, file->classes[class].total_ns };
}

static void side_cells(struct grid *grid, struct side side)
{
	grid_cell(grid, "%" PRIu64, side.count);
	if (side.count)
		grid_cell(grid, "%.2f", side.total_ns / 1e3 / side.count);
	else
		grid_cell(grid, "-");
	grid_cell(grid, "%.3f", side.total_ns / 1e6);
}

static void row(struct grid *grid, const char *name, struct side before, struct side after)
{
	const double change_ms = ((double)after.total_ns - before.total_ns) / 1e6;

	grid_row(grid);
	grid_cell(grid, "%s", name);
	side_cells(grid, before);
	side_cells(grid, after);
	grid_cell(grid, "%+.3f", change_ms);
	if (before.total_ns)
		grid_cell(grid, "%+.1f%%", 100 * change_ms * 1e6 / before.total_ns);
	else
		grid_cell(grid, "n/a");
}

static void warn_of(FILE *out, const char *when, uint64_t lost, const char *what)
{
	if (lost != FACT_NONE && lost)
		fprintf(out, "%s: LOST %" PRIu64 " %s: COUNTS AND TIMES MAY BE TOO LOW\n", when,
			lost, what);
}

/* What is missing on one side alone would be taken for a change. */
static void print_warnings(FILE *out, const struct recorded_file *file,
			   const struct report *replayed)
{
	warn_of(out, "RECORDED", file->lost, "RECORDS");
	warn_of(out, "RECORDED", file->events_lost, "EVENTS OF EBPF");
	warn_of(out, "REPLAYED", replayed->lost, "RECORDS");
	warn_of(out, "REPLAYED", replayed->events_lost, "EVENTS OF EBPF");
}

static int print_table(FILE *out, const struct recorded_file *file,
		       const struct result *replayed)
{
	static const char *const headings[] = {
		"<Fault", ">Recorded", ">Mean µs", ">Total ms", ">Replayed", ">Mean µs",
		">Total ms", ">Change ms", ">Change"
	};
	struct side before, after, all_before = { 0 }, all_after = { 0 };
	enum fault_class class;
	struct grid grid;

	print_warnings(out, file, &replayed->report);
	fprintf(out, "File: %s\nRecorded: %.3f ms from the first fault to the last; replayed: "
		"%.3f ms\n\n", file->path, (file->last_ns - file->first_ns) / 1e6,
		replayed->report.elapsed_ns / 1e6);
	grid_open(&grid, headings, sizeof(headings) / sizeof(headings[0]));
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		before = recorded_of(file, class);
		after = replayed_of(replayed->analysis, class);
		all_before.count += before.count;
		all_before.total_ns += before.total_ns;
		all_after.count += after.count;
		all_after.total_ns += after.total_ns;
		if (before.count || after.count)
			row(&grid, fault_class_name(class), before, after);
	}
	row(&grid, "all faults", all_before, all_after);
	return grid_close(&grid, out);
}

static json_t *side_of(struct side side)
{
	return json_pack("{sI sI}", "count", (json_int_t)side.count, "total_ns",
			 (json_int_t)side.total_ns);
}

static json_t *losses_of(uint64_t records, uint64_t events)
{
	return json_pack("{so so}", "records", value_fact(records), "events", value_fact(events));
}

static int print_json(FILE *out, const struct recorded_file *file,
		      const struct result *replayed)
{
	const struct report *run = &replayed->report;
	json_t *recorded = json_object(), *again = json_object(), *object;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		json_object_set_new(recorded, fault_class_name(class),
				    side_of(recorded_of(file, class)));
		json_object_set_new(again, fault_class_name(class),
				    side_of(replayed_of(replayed->analysis, class)));
	}
	object = json_pack("{so sI sI so so so so}", "file", value_text(file->path),
			   "recorded_ns", (json_int_t)(file->last_ns - file->first_ns),
			   "replayed_ns", (json_int_t)run->elapsed_ns,
			   "recorded", recorded, "replayed", again,
			   "recorded_lost", losses_of(file->lost, file->events_lost),
			   "replayed_lost", losses_of(run->lost, run->events_lost));
	return value_print(out, object);
}

int replay_report_print(FILE *out, const struct recorded_file *file,
			const struct result *replayed, bool json)
{
	int err = json ? print_json(out, file, replayed) : print_table(out, file, replayed);

	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

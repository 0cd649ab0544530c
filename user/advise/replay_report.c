// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a file's recorded faults next to the replayed ones, as a table or as JSON. The sums omit a
 * class that one side could not see.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "advise/replay_report.h"
#include "report/view.h"
#include "util/array.h"
#include "util/json_value.h"
#include "util/grid.h"
#include "util/text.h"

/* Faults in a class, recorded or replayed. known: false if this side could not see them. */
struct side {
	struct class_totals totals;
	bool known;
};

static struct side replayed_of(const struct replayed *replayed, enum fault_class class)
{
	return (struct side){ replayed->classes[class],
			      view_class_known(&replayed->result.report, class) };
}

static struct side recorded_of(const struct recorded_file *file, enum fault_class class)
{
	return (struct side){ file->classes[class], fault_class_known(class, file->hooks) };
}

static void replay_report_add(struct side *sum, const struct side *side)
{
	sum->totals.count += side->totals.count;
	sum->totals.total_ns += side->totals.total_ns;
}

static void side_cells(struct grid *grid, const struct side *of)
{
	const struct class_totals side = of->totals;

	if (!of->known) {
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		return;
	}
	grid_cell(grid, "%" PRIu64, side.count);
	if (side.count)
		grid_cell(grid, "%.2f", side.total_ns / 1e3 / side.count);
	else
		grid_cell(grid, "-");
	grid_cell(grid, "%.3f", side.total_ns / 1e6);
}

static void replay_report_row(struct grid *grid, const char *name, const struct side *before,
			      const struct side *after)
{
	const double before_ns = before->totals.total_ns;
	const double change_ns = after->totals.total_ns - before_ns;

	grid_row(grid);
	grid_cell(grid, "%s", name);
	side_cells(grid, before);
	side_cells(grid, after);
	if (before->known && after->known)
		grid_cell(grid, "%+.3f", change_ns / 1e6);
	else
		grid_cell(grid, "n/a");
	if (before->known && after->known && before_ns > 0)
		grid_cell(grid, "%+.1f%%", 100 * change_ns / before_ns);
	else
		grid_cell(grid, "n/a");
}

static void replay_report_rows(struct grid *grid, const struct recorded_file *file,
			       const struct replayed *replayed)
{
	struct side before, after, all_before = { .known = true }, all_after = { .known = true };
	enum fault_class class;
	bool all = true;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		before = recorded_of(file, class);
		after = replayed_of(replayed, class);
		if (before.known && after.known) {
			replay_report_add(&all_before, &before);
			replay_report_add(&all_after, &after);
		} else if (before.known || after.known) {
			all = false;
		}
		if (before.totals.count || after.totals.count)
			replay_report_row(grid, fault_class_name(class), &before, &after);
	}
	/* A class that one side could not see would look like a change. */
	replay_report_row(grid, all ? "all faults" : "all known to both", &all_before, &all_after);
}

static void warn_of(FILE *out, const char *when, uint64_t lost, const char *what)
{
	if (lost != COUNT_NA && lost)
		fprintf(out, "%s: LOST %" PRIu64 " %s: COUNTS AND TIMES MAY BE TOO LOW\n", when,
			lost, what);
}

/* Losses on one side would look like a change. */
static void replay_report_warnings(FILE *out, const struct recorded_file *file,
				   const struct report *replayed)
{
	warn_of(out, "RECORDED", file->lost, "RECORDS");
	warn_of(out, "RECORDED", file->events_lost, "EVENTS");
	warn_of(out, "REPLAYED", replayed->losses.records, "RECORDS");
	warn_of(out, "REPLAYED", view_events_lost(replayed), "EVENTS");
}

static void print_path(FILE *out, const char *what, const char *path)
{
	fprintf(out, "%s: ", what);
	utf8_print(out, path);
	fputc('\n', out);
}

static void print_advice(FILE *out, const struct recorded_file *file,
			 const struct replayed *replayed)
{
	if (replayed->advised)
		fputs("Advice: from --advise, instead of the program's\n", out);
	else if (!file->have_advice)
		fputs("Advice: the program's advice is not known (recorded without eBPF, or by an "
		      "older pfdrive); if the program called madvise(2), this is not a control\n",
		      out);
	else
		fprintf(out,
			"Advice: %zu recorded madvise(2) calls and mapping flags "
			"repeated\n",
			replayed->nr_advices);
	if (!replayed->advised && file->no_advice)
		fprintf(out,
			"Advice: not known for %zu mappings from before the recording; if "
			"they had any, this is not a control\n",
			file->no_advice);
	if (replayed->nr_refused)
		fprintf(out, "ADVICE: %zu OF THEM REFUSED: %s\n", replayed->nr_refused,
			strerror(replayed->refused_errno));
}

static int replay_report_table(FILE *out, const struct recorded_file *file,
			       const struct replayed *replayed)
{
	static const char *const headings[] = { "<Fault",    ">Recorded",  ">Mean µs",
						">Total ms", ">Replayed",  ">Mean µs",
						">Total ms", ">Change ms", ">Change" };
	const struct report *run = &replayed->result.report;
	struct grid grid;

	replay_report_warnings(out, file, run);
	print_path(out, "File", file->path);
	if (strcmp(replayed->path, file->path))
		print_path(out, "Replayed on", replayed->path);
	print_advice(out, file, replayed);
	fprintf(out, "Recorded: %.3f ms from the first fault to the last; replayed: %.3f ms\n\n",
		(file->last_ns - file->first_ns) / 1e6, run->time.elapsed_ns / 1e6);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	replay_report_rows(&grid, file, replayed);
	return grid_close(&grid, out);
}

static json_t *replay_report_side(struct side side)
{
	return json_pack("{so so}", "count", value_known(side.known ? side.totals.count : COUNT_NA),
			 "total_ns", value_known(side.known ? side.totals.total_ns : COUNT_NA));
}

static json_t *losses_of(uint64_t records, uint64_t events)
{
	return json_pack("{so so}", "records", value_known(records), "events", value_known(events));
}

/* null: the program's advice is unknown. */
static json_t *advice_of(const struct recorded_file *file, const struct replayed *replayed)
{
	if (!file->have_advice)
		return json_null();
	return json_pack("{sI sI}", "repeated", (json_int_t)replayed->nr_advices, "refused",
			 (json_int_t)replayed->nr_refused);
}

static int replay_report_json(FILE *out, const struct recorded_file *file,
			      const struct replayed *replayed)
{
	const struct report *run = &replayed->result.report;
	json_t *recorded = json_object(), *again = json_object(), *object;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		json_object_set_new(recorded, fault_class_name(class),
				    replay_report_side(recorded_of(file, class)));
		json_object_set_new(again, fault_class_name(class),
				    replay_report_side(replayed_of(replayed, class)));
	}
	object = json_pack("{so so sI sI so so so so so}", "file", value_text(file->path),
			   "replayed_on", value_text(replayed->path), "recorded_ns",
			   (json_int_t)(file->last_ns - file->first_ns), "replayed_ns",
			   (json_int_t)run->time.elapsed_ns, "recorded", recorded, "replayed",
			   again, "advice", advice_of(file, replayed), "recorded_lost",
			   losses_of(file->lost, file->events_lost), "replayed_lost",
			   losses_of(run->losses.records, view_events_lost(run)));
	return value_print(out, object);
}

int replay_report_print(FILE *out, const struct recorded_file *file,
			const struct replayed *replayed, bool json)
{
	int err = json ? replay_report_json(out, file, replayed) :
			 replay_report_table(out, file, replayed);

	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Prints the ranking as a table, after the conditions limiting it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "advise/advise_files.h"
#include "advise/advise_print.h"
#include "model/counters.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/text.h"

#define REMEDY_SIZE    5000
#define FAITHFUL_SHARE 0.15

static double recorded_ns(const struct advise *advise)
{
	return advise->accesses.end_ns - advise->accesses.start_ns;
}

static void print_file_line(FILE *out, const char *what, const char *path, const char *rest)
{
	fprintf(out, "%s: ", what);
	utf8_print(out, path);
	fprintf(out, "%s%s\n", *rest ? ": " : "", rest);
}

static void print_recording(FILE *out, const struct advise *advise)
{
	const struct recorded_accesses *accesses = &advise->accesses;
	uint64_t faults = accesses->unplaced + accesses->not_repeated, replayed = 0;
	double ns = accesses->unplaced_ns + accesses->not_repeated_ns, replayed_ns = 0;
	const struct accessed_file *file;
	size_t i;

	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		faults += file->faults;
		ns += file->fault_ns;
		if (file->left_out)
			continue;
		replayed += file->faults;
		replayed_ns += file->fault_ns;
	}
	fprintf(out,
		"Recorded: %.3f ms; replayed: %" PRIu64 " of %" PRIu64
		" file faults, %.1f %% of their time\n",
		recorded_ns(advise) / 1e6, replayed, faults, ns > 0 ? 100 * replayed_ns / ns : 0);
	fprintf(out, "Replayed as recorded: %.3f ms, in %u rounds\n",
		advise->ranking.anchor_ns / 1e6, advise->options.rounds);
}

static void print_files(FILE *out, const struct recorded_accesses *accesses)
{
	const struct accessed_file *file;
	char rest[256];
	size_t i;

	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		snprintf(rest, sizeof(rest), "%" PRIu64 " store faults are replayed as reads",
			 file->stores);
		if (file->advised)
			print_file_line(out, "Advised", file->path, file->stores ? rest : "");
		if (file->faults && file->left_out) {
			snprintf(rest, sizeof(rest), "%s; %.3f ms of its faults stay as recorded",
				 file->left_out, file->fault_ns / 1e6);
			print_file_line(out, "Left out", file->path, rest);
		} else if (file->changed) {
			print_file_line(out, "CHANGED AFTER THE RECORDING", file->path, "");
		}
	}
}

static void print_losses(FILE *out, const struct recorded_accesses *accesses)
{
	if (accesses->lost == COUNT_NA)
		fputs("THE END OF THE RECORDING IS MISSING: LATER ACCESSES ARE NOT KNOWN\n", out);
	else if (accesses->lost)
		fprintf(out, "LOST %" PRIu64 " RECORDS: THEIR ACCESSES ARE NOT REPLAYED\n",
			accesses->lost);
	if (accesses->events_lost && accesses->events_lost != COUNT_NA)
		fprintf(out,
			accesses->by_perf ?
				"LOST %" PRIu64 " SAMPLES: THEIR ACCESSES ARE NOT REPLAYED\n" :
				"LOST %" PRIu64 " EVENTS OF EBPF: SLEEPS MAY BE MISSING\n",
			accesses->events_lost);
	if (!accesses->have_bpf)
		fputs("No eBPF: the program's advice and the waits between threads are not known, "
		      "and the time between faults is repeated as sleep\n",
		      out);
	else if (!accesses->have_advice)
		fputs("The recording does not have the program's advice, so the control has none\n",
		      out);
}

/* Mappings of advised files existing before the recording, with unknown advice. */
static void print_unknown_advice(FILE *out, const struct recorded_accesses *accesses)
{
	size_t i, unknown = 0;

	for (i = 0; i < accesses->nr_mappings; i++)
		unknown += accesses->mappings[i].used && accesses->mappings[i].no_advice &&
			   accesses->files[accesses->mappings[i].file].advised;
	if (unknown)
		fprintf(out,
			"The advice for %zu mappings from before the recording is not known, so "
			"the control has none for them; record with the module\n",
			unknown);
}

static void print_hidden(FILE *out, const struct recorded_accesses *accesses)
{
	if (accesses->populated)
		fputs("Hidden: the program called MADV_POPULATE_READ, so accesses caused no "
		      "faults; all savings are at most these. Record it without that call\n",
		      out);
	else if (accesses->around_pages)
		fprintf(out,
			"Hidden: fault-around was on and may have mapped %" PRIu64 " pages beside "
			"those that faulted; accesses to them are not known. A saving marked <= "
			"is an upper bound; record with --fault-around off\n",
			accesses->around_pages);
}

static void print_faithfulness(FILE *out, const struct advise *advise)
{
	const double difference = advise->ranking.anchor_ns / recorded_ns(advise) - 1;

	if (advise->anchor_lacks)
		fprintf(out, "Predicted times are not exact: %s\n", advise->anchor_lacks);
	else if (fabs(difference) > FAITHFUL_SHARE)
		fprintf(out,
			"THE REPLAY TAKES %.1f %% %s TIME THAN THE RECORDING: COMPARE SAVINGS ONLY "
			"WITH EACH OTHER\n",
			100 * fabs(difference), difference > 0 ? "MORE" : "LESS");
}

static void row_cells(struct grid *grid, const struct advise *advise, const struct ranking_row *row)
{
	const double share = 100 * row->saving_ns / recorded_ns(advise);

	grid_row(grid);
	grid_cell(grid, "%s", advise->candidates[row->candidate].name);
	grid_cell(grid, "%.3f", row->predicted_ns / 1e6);
	grid_cell(grid, "%s%.3f", row->at_most ? "<= " : "", row->saving_ns / 1e6);
	if (isnan(row->half_width_ns))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.3f", row->half_width_ns / 1e6);
	grid_cell(grid, "%.1f%%", share);
	grid_cell(grid, "%.0f", row->minor + row->major);
	grid_cell(grid, "%.0f", row->major);
	if (isnan(row->read_bytes))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.2f", row->read_bytes / 1048576);
}

static int advise_print_rows(FILE *out, const struct advise *advise)
{
	static const char *const headings[] = { "<Advice", ">Predicted ms", ">Saving ms",
						">+-",	   ">Saving",	    ">Faults",
						">Major",  ">Read MiB" };
	struct grid grid;
	size_t i;

	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < advise->ranking.nr; i++)
		row_cells(&grid, advise, &advise->ranking.rows[i]);
	return grid_close(&grid, out);
}

static void print_exceptions(FILE *out, const struct advise *advise)
{
	const struct ranking_row *row;
	size_t i;

	for (i = 0; i < advise->nr_candidates; i++)
		if (advise->candidates[i].untried[0])
			fprintf(out, "Not tried: %s: %s\n", advise->candidates[i].name,
				advise->candidates[i].untried);
	for (i = 0; i < advise->ranking.nr; i++) {
		row = &advise->ranking.rows[i];
		if (row->refused)
			fprintf(out, "REFUSED, under %s: %" PRIu64 " madvise(2) calls: %s\n",
				advise->candidates[row->candidate].name, row->refused,
				strerror(row->refused_errno));
	}
}

static const char *reason_of_none(const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;

	if (advise->options.rounds < 2)
		return "not known. One round has no interval; use --rounds 2 or more.";
	if (ranking->rows[0].at_most)
		return "not known. The largest saving is only an upper bound; see Hidden above.";
	return "the recorded policy. No candidate is better than the control by more than its "
	       "interval.";
}

static void print_best(FILE *out, const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;
	const struct accessed_file *file = advise_files_main(&advise->accesses);
	const struct ranking_row *row = &ranking->rows[ranking->best];
	const struct candidate *candidate;
	char remedy[REMEDY_SIZE];

	fputc('\n', out);
	if (ranking->best == ranking->nr) {
		fprintf(out, "Best: %s\n", reason_of_none(advise));
		return;
	}
	candidate = &advise->candidates[row->candidate];
	candidate_remedy(candidate, file->path, file->setting, remedy, sizeof(remedy));
	fprintf(out,
		"Best: %s saves %.3f ms +- %.3f ms of %.3f ms (%.1f %%)\nDo: ", candidate->name,
		row->saving_ns / 1e6, row->half_width_ns / 1e6, recorded_ns(advise) / 1e6,
		100 * row->saving_ns / recorded_ns(advise));
	utf8_print(out, remedy);
	fputc('\n', out);
}

int advise_print_table(FILE *out, const struct advise *advise)
{
	int err;

	print_losses(out, &advise->accesses);
	print_recording(out, advise);
	print_files(out, &advise->accesses);
	print_unknown_advice(out, &advise->accesses);
	print_hidden(out, &advise->accesses);
	print_faithfulness(out, advise);
	err = advise_print_rows(out, advise);
	print_exceptions(out, advise);
	print_best(out, advise);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

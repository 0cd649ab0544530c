// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings in capitals before all tables: damage and losses that make figures wrong. The fault
 * source's limits come before the warnings. The text may contain names from a recording, so control
 * characters are replaced.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "print/text/cells.h"
#include "print/text/table.h"
#include "util/text.h"

static void warn(FILE *out, size_t number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void warn(FILE *out, size_t number, const char *format, ...)
{
	va_list arguments;

	if (number)
		fprintf(out, "RUN %zu: ", number);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	fputc('\n', out);
}

/* The text contains the recording's name, which may have any characters. */
static void warn_of_damage(FILE *out, size_t number, const char *damage)
{
	if (number)
		fprintf(out, "RUN %zu: ", number);
	fputs("THE RECORDING IS INCOMPLETE; THE FIGURES COVER WHAT COULD BE READ: ", out);
	utf8_print(out, damage);
	fputc('\n', out);
}

static void warn_of_calls(FILE *out, const struct view *view, size_t number)
{
	const struct report *run = view->run;

	if (run->losses.records == COUNT_NA)
		return;
	if (run->cost.calls == COUNT_NA) {
		if (run->losses.records)
			warn(out, number,
			     "LOST %" PRIu64 " RECORDS: COUNTS AND TIMES MAY BE TOO "
			     "LOW",
			     run->losses.records);
		return;
	}
	if (run->losses.records)
		warn(out, number,
		     "LOST %" PRIu64 " OF %" PRIu64 " RECORDS: "
		     "COUNTS AND TIMES ARE TOO LOW",
		     run->losses.records, run->cost.calls);
	if (run->cost.calls != view->figures.calls + run->losses.records)
		warn(out, number,
		     "%" PRIu64 " CALLS, BUT %" PRIu64 " RECORDS READ AND %" PRIu64
		     " LOST: THE FIGURES CANNOT BE TRUSTED",
		     run->cost.calls, view->figures.calls, run->losses.records);
}

/* Of the module: a fault without a record is only counted. */
static void warn_of_faults(FILE *out, const struct report_losses *losses, size_t number)
{
	if (losses->faults != COUNT_NA && losses->faults)
		warn(out, number,
		     "LOST %" PRIu64 " FAULT RECORDS OF THE MODULE: THEIR TIMES ARE MISSING; TRY A "
		     "LARGER --ring-size",
		     losses->faults);
	if (losses->unwatched != COUNT_NA && losses->unwatched)
		warn(out, number,
		     "%" PRIu64 " FAULTS OR CHILDREN HAD NO ROOM IN THE MODULE'S TABLE OF THREADS: "
		     "FAULTS ARE MISSING",
		     losses->unwatched);
}

static void warn_of_missing_events(FILE *out, const struct report_losses *losses, size_t number)
{
	if (losses->events_sent == COUNT_NA || losses->events_received == COUNT_NA ||
	    losses->events_sent == losses->events_received)
		return;
	warn(out, number,
	     "EBPF SENT %" PRIu64 " EVENTS, BUT %" PRIu64 " WERE READ: THE "
	     "FIGURES CANNOT BE TRUSTED",
	     losses->events_sent, losses->events_received);
}

static void list_threads(FILE *out, const struct perf_lost_rows *rows)
{
	unsigned int i;

	for (i = 0; i < rows->nr; i++) {
		fprintf(out, "%s%" PRIu64 " of thread ", i ? ", " : "", rows->rows[i].samples);
		utf8_print(out, rows->rows[i].name);
		fprintf(out, " (%" PRIu32 ")", rows->rows[i].tid);
	}
}

/* Only perf attributes losses to threads. */
static void warn_of_threads(FILE *out, const struct report_losses *losses)
{
	if (!losses->threads.nr)
		return;
	fputs("Lost samples: ", out);
	list_threads(out, &losses->threads);
	fputs("; the others' threads are not known.\n", out);
}

static void state_partial_threads(FILE *out, const struct report_losses *losses)
{
	if (losses->unsettled)
		fputs("Threads may be missing: new ones began at each try to attach, and perhaps a "
		      "thread\nthat was not attached yet created them.\n",
		      out);
	if (losses->partial == COUNT_NA || !losses->partial)
		return;
	fprintf(out,
		"%" PRIu64 " faults are not recorded, because their threads began while pfdrive "
		"attached:\n",
		losses->partial);
	list_threads(out, &losses->partial_threads);
	fputs(losses->partial_threads.nr < PERF_LOST_ROWS ? ".\n" : ", …\n", out);
}

/* Only an execution ends perf's events early, so the process lives on. */
static void warn_of_ended(FILE *out, const struct report *run, size_t number)
{
	const struct report_losses *losses = &run->losses;

	if (!view_perf_ended(run))
		return;
	if (number)
		fprintf(out, "RUN %zu: ", number);
	fputs("PERF'S EVENTS ENDED WHEN A PROCESS EXECUTED ", out);
	utf8_print(out, losses->ended_name);
	if (losses->ended > 1)
		fprintf(out, ", AND %" PRIu64 " TIMES MORE", losses->ended - 1);
	fputs(": LATER FAULTS ARE MISSING\n", out);
}

static void warn_of_events(FILE *out, const struct report *run, size_t number)
{
	const struct report_losses *losses = &run->losses;
	const bool by_perf = view_source_is_perf(run);
	/* A kept recording has one count for both. */
	const bool may_be_faults = !view_source_is_bpf(run) && losses->faults == COUNT_NA;

	warn_of_missing_events(out, losses, number);
	warn_of_ended(out, run, number);
	warn_of_faults(out, losses, number);
	state_partial_threads(out, losses);
	if (losses->forgotten != COUNT_NA && losses->forgotten)
		warn(out, number,
		     "%" PRIu64 " PAGES EXCEEDED THE HISTORY: CLASS again HAS TOO FEW FAULTS",
		     losses->forgotten);
	if (losses->events == COUNT_NA || !losses->events)
		return;
	if (by_perf)
		warn(out, number,
		     "LOST %" PRIu64 " SAMPLES OF PERF: FAULTS AND OFF-CPU TIMES ARE TOO LOW",
		     losses->events);
	else
		warn(out, number,
		     "LOST %" PRIu64 " EVENTS%s: %sREQUESTS, OFF-CPU TIMES, SYSTEM CALLS ARE TOO "
		     "LOW",
		     losses->events, may_be_faults ? "" : " OF EBPF",
		     run->bpf.module_faults ? "" : "OTHER FAULTS, ");
	warn_of_threads(out, losses);
	if (losses->events_skipped != COUNT_NA && losses->events_skipped)
		warn(out, number,
		     "THE KERNEL SKIPPED %" PRIu64 " OF THESE; A LARGER RING WOULD NOT HELP",
		     losses->events_skipped);
}

/* All runs in a report have the same source. */
static void state_limits(FILE *out, const struct report *run)
{
	const struct own_cost cost = view_own_cost(run);

	if (!view_source_is_bpf(run))
		return;
	fputs("Measured with eBPF, without the pfstat module: page frames are not known, and\n"
	      "fault-around cannot be disabled for one program.\n",
	      out);
	if (isnan(cost.inside_ns)) {
		fputs("Call times contain a share of eBPF's own, which is not known.\n", out);
	} else if (!run->cost.subtract) {
		fputs("Each call's time contains ", out);
		cells_print_figure(out, cost.inside_ns);
		fputs(" ns of eBPF's own.\n", out);
	}
}

void table_warnings(FILE *out, const struct view *view, size_t number)
{
	const struct summary_figures *figures = &view->figures;
	const double residue = view_residue_share(view->run);
	const struct report *run = view->run;

	if (number <= 1)
		state_limits(out, run);
	if (run->losses.damage)
		warn_of_damage(out, number, run->losses.damage);
	warn_of_calls(out, view, number);
	if (figures->late)
		warn(out, number,
		     "%" PRIu64 " RECORDS OUT OF ORDER: "
		     "LOGICAL FAULTS AND OFF-CPU TIMES MAY BE WRONG",
		     figures->late);
	if (run->ledger.unexplained)
		warn(out, number,
		     "%" PRIu64 " FAULTS DIFFER BETWEEN THE COUNTERS WITHOUT A KNOWN REASON: "
		     "SEE THE LEDGER",
		     run->ledger.unexplained);
	if (run->losses.maps != COUNT_NA && run->losses.maps)
		warn(out, number,
		     "LOST %" PRIu64 " MAPPINGS: NAMES OF FILES AND CODE MAY BE "
		     "MISSING OR WRONG",
		     run->losses.maps);
	if (run->losses.maps_late_cpus != COUNT_NA && run->losses.maps_late_cpus)
		warn(out, number,
		     "%" PRIu64 " CPUS CAME ONLINE: MAPPINGS THAT WERE MADE ON THEM, AND THEIR "
		     "NAMES, MAY BE MISSING",
		     run->losses.maps_late_cpus);
	if (run->losses.names_left_out != COUNT_NA && run->losses.names_left_out)
		warn(out, number,
		     "%" PRIu64 " SYMBOLS OR LINES ARE NOT IN THE RECORDING: "
		     "ADDRESSES ARE PRINTED INSTEAD",
		     run->losses.names_left_out);
	if (!run->bpf.known)
		return;
	warn_of_events(out, run, number);
	if (figures->off_cpu_partial)
		warn(out, number, "OFF-CPU TIMES ARE TOO LOW FOR UP TO %" PRIu64 " CALLS",
		     figures->off_cpu_partial);
	if (residue > VIEW_RESIDUE_MAX)
		warn(out, number, "UNEXPLAINED: %.2f%% OF THE TIME OF FAULTS", 100 * residue);
}

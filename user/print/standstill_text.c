// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the report's standstill with the bounds supported by the evidence. An upper bound holds if
 * no events were lost. A lower bound needs the wake-ups, which perf does not report.
 */
#include <inttypes.h>
#include <math.h>

#include "analyze/standstill.h"
#include "print/standstill_text.h"
#include "verdict/verdict.h"
#include "report/view.h"

#define FEW_NS	    50000 /* prints as 0.0 ms */
#define LARGE_SHARE 0.1	  /* of the run */
#define SAME_SHARE  0.02  /* bounds differing by less print as one time */

static bool standstill_has_losses(const struct report *run)
{
	const struct report_losses *losses = &run->losses;

	return losses->damage || view_faults_lost(run) ||
	       (losses->events != COUNT_NA && losses->events) || view_perf_ended(run);
}

struct overlap_time standstill_text_bounds(const struct report *run,
					   const struct overlap_time *time)
{
	const bool has_least = run->evidence.standstill.wakeups_known && !view_source_is_perf(run);
	const bool has_most = !standstill_has_losses(run);

	return (struct overlap_time){
		has_least ? time->min_ns : COUNT_NA,
		has_most ? time->max_ns : COUNT_NA,
	};
}

bool standstill_text_known(const struct report *run)
{
	const struct process_standstill *most = &run->evidence.standstill.most;
	const struct overlap_time bounds = standstill_text_bounds(run, &most->still);

	return run->bpf.known && most->threads > 1 && most->still.max_ns >= FEW_NS &&
	       (bounds.min_ns != COUNT_NA || bounds.max_ns != COUNT_NA);
}

double standstill_text_in_flight(const struct report *run)
{
	if (!run->evidence.busy_ns || standstill_has_losses(run))
		return NAN;
	return (double)run->faults.all.whole.total_ns / run->evidence.busy_ns;
}

static const char *standstill_span(char *text, const struct report *run,
				   const struct overlap_time *time)
{
	const struct overlap_time bounds = standstill_text_bounds(run, time);
	char least[VERDICT_SPAN], most[VERDICT_SPAN];

	verdict_span(least, bounds.min_ns);
	verdict_span(most, bounds.max_ns);
	if (bounds.min_ns == COUNT_NA)
		snprintf(text, 3 * VERDICT_SPAN, "at most %s", most);
	else if (bounds.max_ns == COUNT_NA)
		snprintf(text, 3 * VERDICT_SPAN, "at least %s", least);
	else if (bounds.max_ns - bounds.min_ns <= SAME_SHARE * bounds.max_ns)
		snprintf(text, 3 * VERDICT_SPAN, "%s", most);
	else
		snprintf(text, 3 * VERDICT_SPAN, "%s to %s", least, most);
	return text;
}

static void standstill_print_process(FILE *out, const struct process_standstill *process)
{
	const char *name = process->name;

	for (; *name; name++)
		fputc((unsigned char)*name < ' ' ? '?' : *name, out);
	fprintf(out, process->name[0] ? " (%" PRIu32 ")" : "process %" PRIu32, process->pid);
}

void standstill_text_verdict(FILE *out, const struct report *run, uint64_t wall_ns)
{
	const struct process_standstill *most = &run->evidence.standstill.most;
	const struct overlap_time bounds = standstill_text_bounds(run, &most->still);
	const uint64_t still_ns = bounds.min_ns == COUNT_NA ? bounds.max_ns : bounds.min_ns;
	const double in_flight = standstill_text_in_flight(run);
	char text[3 * VERDICT_SPAN];

	if (!standstill_text_known(run) || still_ns < LARGE_SHARE * wall_ns)
		return;
	fprintf(out, "For %s ", standstill_span(text, run, &most->still));
	standstill_print_process(out, most);
	fputs(" stood still: its threads were in faults, or slept outside them", out);
	if (most->several.max_ns >= FEW_NS)
		fprintf(out, "; for %s two or more were in faults",
			standstill_span(text, run, &most->several));
	if (!isnan(in_flight) && run->evidence.depth_max > 1)
		fprintf(out, ". %.1f faults were in flight on average, %" PRIu32 " at most",
			in_flight, run->evidence.depth_max);
	fputs(".\n", out);
}

void standstill_text_notes(FILE *out, const struct report *run)
{
	const struct process_standstill *most = &run->evidence.standstill.most;
	const double in_flight = standstill_text_in_flight(run);
	char text[3 * VERDICT_SPAN];

	if (run->evidence.depth_max > 1 && !isnan(in_flight))
		fprintf(out,
			"Faults in flight: %.1f on average while there was any, %" PRIu32
			" at most\n",
			in_flight, run->evidence.depth_max);
	else if (run->evidence.depth > 1)
		fprintf(out, "Faults in flight: at least %" PRIu32 " at once; some were lost\n",
			run->evidence.depth);
	if (!standstill_text_known(run))
		return;
	fputs("Stood still: ", out);
	standstill_print_process(out, most);
	fprintf(out, " for %s", standstill_span(text, run, &most->still));
	if (most->several.max_ns >= FEW_NS)
		fprintf(out, ", two or more in faults for %s",
			standstill_span(text, run, &most->several));
	fputc('\n', out);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences about the faults in flight and the time in which a process stood still. Pure. */
#ifndef PFSTAT_USER_STANDSTILL_TEXT_H
#define PFSTAT_USER_STANDSTILL_TEXT_H

#include "report/report.h"

/*
 * False if the scheduler events are not known, or if no process has two threads, because then the
 * faults have the same time. Lost events leave only a lower bound, and perf has none.
 */
bool standstill_text_known(const struct report *run);
/* The bounds supported by the evidence, COUNT_NA if none. */
struct overlap_time standstill_text_bounds(const struct report *run,
					   const struct overlap_time *time);
/* The mean number of faults in flight while there was any. NAN: none, or events were lost. */
double standstill_text_in_flight(const struct report *run);

/* Prints a sentence if a process stood still for a large share of the run. */
void standstill_text_verdict(FILE *out, const struct report *run, uint64_t wall_ns);
/* Prints the lines below the parts table. */
void standstill_text_notes(FILE *out, const struct report *run);

#endif

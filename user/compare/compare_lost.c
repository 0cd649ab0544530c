// SPDX-License-Identifier: GPL-2.0-only
/* Takes the counts that cmd_compare.c read, and gives the comparison the share that was lost. */
#include <math.h>

#include "compare/compare_lost.h"
#include "model/counters.h"

static double lost_share_of(uint64_t lost, uint64_t seen)
{
	return lost ? (double)lost / ((double)lost + seen) : 0;
}

double compare_lost_share(const struct compare_side *side)
{
	const struct compare_run *run;
	double lost = 0;

	for (run = side->runs; run < side->runs + side->nr; run++) {
		if (run->damage || run->lost_records == COUNT_NA || run->lost_events == COUNT_NA)
			return INFINITY;
		lost = fmax(lost, lost_share_of(run->lost_records, run->records));
		lost = fmax(lost, lost_share_of(run->lost_events, run->events));
	}
	return lost;
}

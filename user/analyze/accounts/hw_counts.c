// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes and scales the hardware counter groups read by collect/hardware.c, and computes rates for
 * the report. A counter that never ran is marked as missing, never as 0.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/accounts/hw_counts.h"

uint64_t hw_count_scale(uint64_t raw, uint64_t enabled_ns, uint64_t running_ns)
{
	return ((__uint128_t)raw * enabled_ns + running_ns / 2) / running_ns;
}

int hw_counts_take(const uint64_t *words, size_t nr_words, struct hw_count **members,
		   size_t nr_members)
{
	size_t i;

	if (nr_words != 3 + nr_members || words[0] != nr_members || words[2] > words[1])
		return -EPROTO;
	for (i = 0; i < nr_members; i++) {
		members[i]->enabled_ns = words[1];
		members[i]->running_ns = words[2];
		members[i]->raw = words[3 + i];
		if (words[2])
			members[i]->value = hw_count_scale(words[3 + i], words[1], words[2]);
		else /* without running time a 0 is not a count */
			snprintf(members[i]->missing, sizeof(members[i]->missing),
				 "no counter was free for it during the run");
	}
	return 0;
}

double hw_counts_miss_rate(const struct hw_counts *counts, enum hw_cache cache, enum hw_op op)
{
	const struct hw_count *access = &counts->counts[cache][op][HW_ACCESS];
	const struct hw_count *miss = &counts->counts[cache][op][HW_MISS];

	if (access->missing[0] || miss->missing[0] || !access->value)
		return NAN;
	return (double)miss->value / access->value;
}

double hw_count_share(const struct hw_count *count)
{
	if (count->missing[0] || !count->enabled_ns)
		return NAN;
	return (double)count->running_ns / count->enabled_ns;
}

const char *hw_counts_all_missing(const struct hw_counts *counts)
{
	const struct hw_count *all = &counts->counts[0][0][0];
	const size_t nr = sizeof(counts->counts) / sizeof(*all);
	size_t i;

	for (i = 0; i < nr; i++)
		if (!all[i].missing[0] || strcmp(all[i].missing, all[0].missing))
			return NULL;
	return all[0].missing;
}

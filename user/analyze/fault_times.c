// SPDX-License-Identifier: GPL-2.0-only
/* When the faults of each class took their time. */
#include <string.h>

#include "analyze/fault_times.h"
#include "model/item.h"

#define FIRST_PART_NS (1ULL << 20)

/* Makes the parts twice as long. */
static void join_parts(struct fault_times *times)
{
	unsigned int part, class;

	for (part = 0; part < FAULT_TIMES_PARTS / 2; part++)
		for (class = 0; class < NR_FAULT_CLASSES; class++)
			times->ns[part][class] =
				times->ns[2 * part][class] + times->ns[2 * part + 1][class];
	memset(times->ns[part], 0, sizeof(times->ns) / 2);
	times->part_ns *= 2;
}

void fault_times_add(struct fault_times *times, const struct explained *fault)
{
	uint64_t passed_ns;

	if (!times->part_ns) {
		times->start_ns = fault->start_ns;
		times->part_ns = FIRST_PART_NS;
	}
	passed_ns = item_elapsed(times->start_ns, fault->end_ns);
	while (passed_ns / times->part_ns >= FAULT_TIMES_PARTS)
		join_parts(times);
	times->ns[passed_ns / times->part_ns][fault->class] +=
		item_elapsed(fault->start_ns, fault->end_ns);
}

static uint64_t time_in_part(const struct fault_times *times, unsigned int part, uint32_t classes)
{
	uint64_t sum_ns = 0;
	unsigned int class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (classes & 1U << class)
			sum_ns += times->ns[part][class];
	return sum_ns;
}

uint64_t fault_times_passed_ns(const struct fault_times *times, uint32_t classes, double share)
{
	uint64_t all_ns = 0, sum_ns = 0;
	unsigned int part;

	for (part = 0; part < FAULT_TIMES_PARTS; part++)
		all_ns += time_in_part(times, part, classes);
	for (part = 0; part < FAULT_TIMES_PARTS && all_ns; part++) {
		sum_ns += time_in_part(times, part, classes);
		if (sum_ns >= share * all_ns)
			return times->start_ns + (part + 1) * times->part_ns;
	}
	return 0;
}

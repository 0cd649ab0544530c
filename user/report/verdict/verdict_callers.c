// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the place in the code that a rule names: the one with most of the calls that succeeded. The
 * calls and their callers come from the report.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "report/verdict/verdict_rules.h"

static bool verdict_is_random_advice(const struct shaping_call *call)
{
	return call->kind == PFSTAT_CALL_MADVISE && call->detail == MADV_RANDOM;
}

void verdict_advisers(const struct report *run, const char *file, struct verdict_callers *found)
{
	const struct report_call *row;
	uint64_t succeeded;

	*found = (struct verdict_callers){ .more = run->calls.left_out };
	for (row = run->calls.rows; row < run->calls.rows + run->calls.nr; row++) {
		if (!verdict_is_random_advice(&row->sum) || strcmp(row->file, file))
			continue;
		succeeded = row->sum.count - row->sum.failed;
		found->calls += succeeded;
		if (succeeded <= found->most)
			continue;
		found->most = succeeded;
		found->place = row->sum.place ? row->caller : NULL;
	}
}

void verdict_add_place(struct verdict_cause *cause, const struct verdict_callers *found)
{
	if (found->place && found->most == found->calls && !found->more)
		verdict_add(cause, " in %.160s", found->place);
	else if (found->place)
		verdict_add(cause, ", %" PRIu64 " of them in %.160s", found->most, found->place);
}

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

/* "name+0x1 (/folder/file)", without the folder: the table of the calls has the whole path. */
static void verdict_add_code(struct verdict_cause *cause, const char *place)
{
	const char *path = strstr(place, " (/"), *slash = strrchr(place, '/');

	if (path)
		verdict_add(cause, "%.*s (%.80s", (int)(path - place), place, slash + 1);
	else
		verdict_add(cause, "%.160s", place);
}

void verdict_add_place(struct verdict_cause *cause, const struct verdict_callers *found)
{
	if (!found->place)
		return;
	if (found->most == found->calls && !found->more)
		verdict_add(cause, " in ");
	else
		verdict_add(cause, ", %" PRIu64 " of them in ", found->most);
	verdict_add_code(cause, found->place);
}

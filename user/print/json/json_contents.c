// SPDX-License-Identifier: GPL-2.0-only
/* The member of a run's JSON about the pages that faults copied or made. */
#include "print/json/json_contents.h"
#include "util/array.h"
#include "util/json_value.h"

static json_t *sum_of(const struct evidence_sum *sum)
{
	return json_pack("{so so}", "count", value_count(sum->count), "total_ns",
			 value_count(sum->total_ns));
}

static json_t *huge_of(const struct report *run)
{
	const struct contents_huge *huge;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(run->contents.huge) && run->contents.huge[i].order; i++) {
		huge = &run->contents.huge[i];
		array = value_appended(array, json_pack("{so so so}", "bytes",
							value_count(run->environment.page_bytes
								    << huge->order),
							"anon", sum_of(&huge->anon), "hugetlb",
							sum_of(&huge->hugetlb)));
	}
	return array;
}

json_t *json_contents(const struct report *run)
{
	static const char *const names[PFSTAT_NR_CONTENTS] = PFSTAT_CONTENT_NAMES;
	const struct contents_figures *contents = &run->contents;
	json_t *object;
	size_t i;

	if (!view_has_hook(run, HOOK_FAULT) || view_source_is_perf(run))
		return json_null();
	object = json_object();
	for (i = 0; i < PFSTAT_NR_CONTENTS; i++)
		object = value_with(object, names[i], sum_of(&contents->by[i]));
	object = value_with(object, "after_fork", sum_of(&contents->after_fork));
	object = value_with(object, "reused_after_fork", sum_of(&contents->reused_after_fork));
	object = value_with(object, "fork_pid",
			    value_count_if(contents->fork_pid, contents->fork_pid));
	object = value_with(object, "fork_pid_count", value_count(contents->fork_pid_count));
	object = value_with(object, "huge", huge_of(run));
	return value_with(object, "dax_small", value_count(contents->dax_small));
}

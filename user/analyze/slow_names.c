// SPDX-License-Identifier: GPL-2.0-only
/* The groups have the names of places and files, and the waits the kernel stacks. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/fault_tail.h"
#include "analyze/slow_names.h"

static bool is_of_other_file(const struct explained *fault, const struct pfstat_block *request)
{
	return request->event.flags & PFSTAT_BLOCK_FILE &&
	       (request->inode != fault->inode || request->fs_dev != fault->dev);
}

int slow_names_fill(struct slow_names *names, const struct slow_fault *slow,
		    const struct grouping *grouping, const struct waits *waits)
{
	const struct explained *fault = &slow->fault;
	struct longest_fault longest = { 0 };
	unsigned int i;
	int err;

	*names = (struct slow_names){ 0 };
	longest_fault_set(&longest, fault);
	err = longest_names_fill(&names->place, &longest, &slow->place, grouping, waits);
	for (i = 0; i < fault->nr_spans; i++)
		if (fault->spans[i].wait && part_has(fault->spans[i].part, PART_HAS_STACK))
			names->waits[i] = &waits->rows[fault->spans[i].wait - 1];
	for (i = 0; i < fault->nr_requests && !err; i++) {
		if (!is_of_other_file(fault, &fault->requests[i]))
			continue;
		names->files[i] = grouping_file_name(grouping, fault->requests[i].fs_dev,
						     fault->requests[i].inode);
		err = names->files[i] ? 0 : -ENOMEM;
	}
	return err;
}

void slow_names_exit(struct slow_names *names)
{
	unsigned int i;

	longest_names_exit(&names->place);
	for (i = 0; i < EXPLAIN_MAX_REQUESTS; i++)
		free(names->files[i]);
	*names = (struct slow_names){ 0 };
}

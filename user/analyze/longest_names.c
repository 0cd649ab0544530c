// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names the place, the thread and the wait of the longest fault: the address spaces and the groups
 * have the names, and the waits the kernel stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/longest_names.h"

void longest_place_set(struct longest_place *place, const struct grouping *grouping,
		       const struct explained *fault)
{
	const struct space_map *map =
		address_spaces_find(grouping->spaces, fault->pid, fault->address);

	*place = (struct longest_place){
		.code = grouping_code_key(grouping, fault),
		.mapping = map ? map->path : 0,
	};
	strcpy(place->thread, address_spaces_comm(grouping->spaces, fault->tid));
}

int longest_names_fill(struct longest_names *names, const struct longest_fault *fault,
		       const struct longest_place *place, const struct grouping *grouping,
		       const struct waits *waits)
{
	const struct wait_row *row = fault->wait ? &waits->rows[fault->wait - 1] : NULL;

	*names = (struct longest_names){ 0 };
	if (!fault->duration_ns)
		return 0;
	memcpy(names->thread, place->thread, sizeof(names->thread));
	names->file = grouping_file_name(grouping, fault->dev, fault->inode);
	names->mapping =
		strdup(place->mapping ? address_spaces_path(grouping->spaces, place->mapping) : "");
	names->code = grouping_code_name(grouping, &place->code);
	names->cause = row ? row->cause : NULL;
	names->functions = strdup(row ? row->functions : "");
	return names->file && names->mapping && names->code && names->functions ? 0 : -ENOMEM;
}

void longest_names_exit(struct longest_names *names)
{
	free(names->file);
	free(names->mapping);
	free(names->code);
	free(names->functions);
	*names = (struct longest_names){ 0 };
}

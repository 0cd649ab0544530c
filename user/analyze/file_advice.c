// SPDX-License-Identifier: GPL-2.0-only
/* Cuts the range of an madvise(2) call, which eBPF reports, at mapping edges. */
#include "analyze/file_advice.h"

int file_advice_visit(struct spaces *spaces, const struct pfstat_advice *advice, advice_sink sink,
		      void *context)
{
	const uint64_t end = advice->address + advice->bytes;
	const uint64_t page_bytes = address_spaces_page_bytes(spaces);
	uint64_t address = advice->address, until;
	const struct space_map *map;
	int err = 0;

	while (address < end && !err) {
		map = address_spaces_find(spaces, advice->event.pid, address);
		if (!map)
			return 0;
		until = map->end < end ? map->end : end;
		if (space_map_has_file(map))
			err = sink(context,
				   &(struct file_advice){
					   .path = address_spaces_path(spaces, map->path),
					   .inode = map->inode,
					   .page = map->pgoff + (address - map->start) / page_bytes,
					   .pages = (until - address + page_bytes - 1) / page_bytes,
					   .start_ns = advice->start_ns,
					   .end_ns = advice->event.ns,
					   .advice = advice->advice,
				   });
		address = until;
	}
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "collect/bpf_map_keys.h"
#include "collect/swap_counters.h"

uint64_t swap_total_pages(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return 0;
	return (uint64_t)info.totalswap * info.mem_unit / sysconf(_SC_PAGESIZE);
}

static int append_row(struct run_counters *counters, const struct swap_row *row)
{
	struct swap_row *grown =
		reallocarray(counters->swap_rows, counters->nr_swap_rows + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	counters->swap_rows = grown;
	grown[counters->nr_swap_rows++] = *row;
	return 0;
}

static int most_pages_first(const void *a, const void *b)
{
	const struct swap_row *left = a, *right = b;

	if (left->pages != right->pages)
		return left->pages < right->pages ? 1 : -1;
	return left->pair.evictor < right->pair.evictor ? -1 :
							  left->pair.evictor > right->pair.evictor;
}

int swap_counters_read(int pairs, int names, struct run_counters *counters)
{
	struct pfstat_swap_pair *before = NULL, key;
	struct swap_row row;
	int next, err = 0;

	free(counters->swap_rows);
	counters->swap_rows = NULL;
	counters->nr_swap_rows = 0;
	while (!err && (next = map_next_key(pairs, before, &key)) > 0) {
		row = (struct swap_row){ .pair = key };
		before = &key;
		/* Whose name was not kept has none. */
		bpf_map_lookup_elem(names, &key.evictor, row.evictor_name);
		bpf_map_lookup_elem(names, &key.owner, row.owner_name);
		err = bpf_map_lookup_elem(pairs, &key, &row.pages);
		if (!err)
			err = append_row(counters, &row);
	}
	if (counters->nr_swap_rows)
		qsort(counters->swap_rows, counters->nr_swap_rows, sizeof(*counters->swap_rows),
		      most_pages_first);
	return err ? err : next;
}

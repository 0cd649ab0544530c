/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the counters in eBPF's maps, summed over the CPUs. */
#ifndef PFSTAT_USER_BPF_COUNTERS_H
#define PFSTAT_USER_BPF_COUNTERS_H

#include "model/counters.h"

/* Map file descriptors, and counts not kept in a map. */
struct event_maps {
	int counts;
	int syscalls;
	int faults;		     /* -1: they are not counted */
	struct pfstat_missed missed; /* to be added to these */
};

/* Fills counts, faults, the tasks' counts and syscalls. 0 or a negative errno. */
int bpf_counters_read(const struct event_maps *maps, struct run_counters *counters);

/* The total size of all swap areas. */
uint64_t bpf_counters_swap_pages(void);
/* Uses the maps' file descriptors and fills in swap_rows. 0 or a negative errno. */
int bpf_counters_read_swap(int pairs, int names, struct run_counters *counters);

/* The key behind `before` (NULL: the first). 1, 0 when there is none, or a negative errno. */
int bpf_counters_next_key(int fd, const void *before, void *key);

#endif

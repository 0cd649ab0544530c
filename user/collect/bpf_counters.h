/* SPDX-License-Identifier: GPL-2.0-only */
/* What eBPF's maps have counted, summed over the CPUs. */
#ifndef PFSTAT_USER_BPF_COUNTERS_H
#define PFSTAT_USER_BPF_COUNTERS_H

#include "model/counters.h"

/* File descriptors; and what is no map. */
struct event_maps {
	int counts;
	int syscalls;
	int faults;	/* -1: nobody counts them */
	bool hooked_times;	/* false: those of hooked files are counted, and no more */
	struct pfstat_missed missed;	/* what is to be added to these */
};

/* Fills counts, faults, the tasks' counts and syscalls. 0 or a negative errno. */
int bpf_counters_read(const struct event_maps *maps, struct run_counters *counters);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run tells beside its faults, when it was asked to; filled by who measured. */
#ifndef PFSTAT_USER_MEASURES_H
#define PFSTAT_USER_MEASURES_H

#include <stdbool.h>
#include <stdlib.h>

#include "../correlate/cache_simulation.h"
#include "../correlate/competition.h"
#include "../correlate/hw_counts.h"
#include "../correlate/map_kind.h"
#include "../correlate/syscall_totals.h"
#include "../correlate/usage.h"

struct measures {
	bool print_usage, print_syscalls;	/* as tables; JSON has them always */
	struct usage_line usage[USAGE_NR];
	struct syscall_total *syscalls;	/* measures_exit() frees */
	size_t nr_syscalls;
	/* NULL: not asked for. */
	const struct hw_counts *counters;
	const struct cache_simulation *simulation;
	const struct map_list *maps;
	const struct competition *competition;
};

static inline void measures_exit(struct measures *measures)
{
	free(measures->syscalls);
	measures->syscalls = NULL;
	measures->nr_syscalls = 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run tells beside its faults, when it was asked to; filled by who measured. */
#ifndef PFSTAT_USER_REPORT_EXTRAS_H
#define PFSTAT_USER_REPORT_EXTRAS_H

#include <stdbool.h>
#include <stdlib.h>

#include "analyze/accounts/cache_simulation.h"
#include "analyze/accounts/hw_counts.h"
#include "analyze/accounts/rusage_check.h"
#include "analyze/accounts/syscall_totals.h"
#include "analyze/pages/competition.h"
#include "system/vma_kind.h"

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

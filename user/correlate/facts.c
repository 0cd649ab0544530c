// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "facts.h"

void facts_init(struct facts *facts)
{
	*facts = (struct facts){
		.calls = FACT_NONE,
		.lost = FACT_NONE,
		.utime_ns = FACT_NONE,
		.stime_ns = FACT_NONE,
		.minflt = FACT_NONE,
		.majflt = FACT_NONE,
		.inblock = FACT_NONE,
		.oublock = FACT_NONE,
		.nvcsw = FACT_NONE,
		.nivcsw = FACT_NONE,
		.maxrss_bytes = FACT_NONE,
		.perf_faults = FACT_NONE,
		.perf_minor = FACT_NONE,
		.perf_major = FACT_NONE,
	};
}

void facts_exit(struct facts *facts)
{
	free(facts->syscalls);
	facts->syscalls = NULL;
	facts->nr_syscalls = 0;
}

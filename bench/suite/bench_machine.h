/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine, and the machine state affecting the measurements. */
#ifndef PFSTAT_USER_BENCH_MACHINE_H
#define PFSTAT_USER_BENCH_MACHINE_H

#include "bench/suite/core/operation.h"
#include "report/report.h"
#include "util/why.h"

struct bench_machine_state {
	struct environment environment; /* machine fields only */
	bool tsc_invariant;		/* TSC rate does not depend on the CPU's frequency */
	char governor[32];		/* from cpufreq, or "" if n/a */
	char turbo[8];			/* on, off, or "" if n/a */
	uint64_t frequency_khz;		/* at the start, or 0 if n/a */
	double load;			/* for the minute before the first row, or NAN if n/a */
	struct why caches_missing;	/* why hwloc reports no caches */
};

/* Returns 0, -EINVAL (the chosen CPU is not allowed) or another negative errno. */
int bench_machine_read(struct bench_machine *machine, struct bench_machine_state *state,
		       const struct bench_options *options);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine, and its state as far as it affects the measurements. */
#ifndef PFSTAT_USER_BENCH_MACHINE_H
#define PFSTAT_USER_BENCH_MACHINE_H

#include "bench/suite/core/operation.h"
#include "report/report.h"
#include "util/why.h"

struct bench_machine_state {
	struct environment environment; /* only the fields of the machine */
	bool tsc_invariant;		/* its rate does not depend on the CPU's frequency */
	char governor[32];		/* of cpufreq; "": n/a */
	char turbo[8];			/* on, off; "": n/a */
	uint64_t frequency_khz;		/* at the start; 0: n/a */
	double load;			/* of the minute before the first row; NAN: n/a */
	struct why caches_missing;	/* why hwloc reports no caches */
};

/* Returns 0, -EINVAL (the chosen CPU is not allowed) or another negative errno. */
int bench_machine_read(struct bench_machine *machine, struct bench_machine_state *state,
		       const struct bench_options *options);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine and the state it is in, as far as they bear on what is measured. */
#ifndef PFSTAT_USER_BENCH_MACHINE_H
#define PFSTAT_USER_BENCH_MACHINE_H

#include "bench/core/operation.h"
#include "report/report.h"

struct bench_machine_state {
	struct environment environment;	/* the machine's part */
	bool tsc_invariant;		/* it ticks at one rate, whatever the CPU's */
	char governor[32];		/* of cpufreq; "": n/a */
	char turbo[8];			/* on, off; "": n/a */
	uint64_t frequency_khz;		/* when it was read; 0: n/a */
	double load;			/* of the last minute, before the first row; NAN: n/a */
	char caches_missing[BENCH_WHY];	/* why hwloc says nothing */
};

/* 0 or a negative errno: what it cannot do without. */
int bench_machine_read(struct bench_machine *machine, struct bench_machine_state *state,
		       const struct bench_options *options);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a run, each between two calls of getrusage(2) for the thread: what
 * it took, and what the kernel did for it.
 */
#ifndef PFSTAT_USER_PHASES_H
#define PFSTAT_USER_PHASES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "report/report.h"

struct step_marks {
	bool made;
	struct rusage before, after;
	uint64_t start_ns, end_ns;
};

struct steps {
	struct step_marks marks[NR_STEPS];
};

void step_begin(struct steps *steps, enum step step);
void step_end(struct steps *steps, enum step step);
/* Code and data of both, so that their faults come before. */
void steps_warm_up(void);

/* bytes: what was filled or populated, and synced when it is of a file. */
void steps_figures(const struct steps *steps, uint64_t bytes, bool to_file,
		   struct step_figures figures[NR_STEPS]);

#endif

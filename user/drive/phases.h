/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The phases of a run's workload in this thread: populate, memset, msync, access. Each phase lies
 * between two getrusage(2) calls.
 */
#ifndef PFSTAT_USER_PHASES_H
#define PFSTAT_USER_PHASES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "report/report.h"
#include "workload/mapping.h"
#include "workload/pattern.h"
#include "workload/workload.h"

struct instruments;
struct extras;

struct phases_plan {
	const struct workload *workload;
	const struct pattern *pattern;
	struct mapping *mapping;
	const char *name;	     /* describes the mapping, in sentences */
	const struct policy *policy; /* applied before the accesses, NULL if none */
	struct instruments *instruments;
	const struct extras *extras;
	struct pattern_watch *watch;
};

struct phase_marks {
	bool made;
	struct rusage before, after;
	uint64_t start_ns, end_ns;
};

struct phases {
	struct phase_marks marks[NR_STEPS];
	volatile enum step now; /* for the message after a SIGBUS */
};

/* Makes the workload's phases. Returns STATUS_OK, or the exit status after a message. */
int phases_make(struct phases *phases, const struct phases_plan *plan);
/* Times and usage of the accesses, and since the first phase. */
void phases_fill_counters(const struct phases *phases, struct run_counters *counters);
/* bytes: the mapping's size; to_file: msync wrote them to a file. */
void phases_fill_figures(const struct phases *phases, uint64_t bytes, bool to_file,
			 struct step_figures figures[NR_STEPS]);

#endif

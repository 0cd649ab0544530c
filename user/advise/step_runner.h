/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes one thread's steps in an access plan. */
#ifndef PFSTAT_USER_STEP_RUNNER_H
#define PFSTAT_USER_STEP_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "advise/access_plan.h"

struct replayed_mapping {
	uint8_t *data; /* NULL: not mapped */
	uint64_t bytes;
	int advice; /* a candidate's advice, replacing the recorded, or -1 if none */
};

struct step_context {
	const struct replayed_mapping *mappings;
	uint32_t *signals; /* 1: sent, with a futex each */
};

struct step_runner_figures {
	uint64_t fault_ns, end_ns;
	uint64_t minor, major;
	uint64_t refused;
	int refused_errno;
};

/* Runs until the last step, or until signals_caught. */
void step_runner_run(const struct step_context *context, const struct plan_step *steps, size_t nr,
		     struct step_runner_figures *figures);
/*
 * Runs a step of each type on separate memory, so faults on step_runner_run()'s code and stack are
 * not counted later.
 */
void step_runner_warm_up(void);
/* Calls madvise(2) for a whole mapping, and counts the time and a failure. */
void step_runner_advise_all(const struct replayed_mapping *mapping,
			    struct step_runner_figures *figures);
/* Waits until *number is 1, or for signals_caught. */
void step_runner_wait(uint32_t *number);
void step_runner_signal(uint32_t *number);

#endif

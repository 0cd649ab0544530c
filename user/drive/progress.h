/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the progress of a run on stderr if that is a terminal. */
#ifndef PFSTAT_USER_PROGRESS_H
#define PFSTAT_USER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/pattern.h"

struct progress {
	const struct pattern_watch *watch;
	uint64_t accesses;
	unsigned int number, of;
	bool shown;
};

/* Returns -1 if standard error is not a terminal, so no tick is needed. */
int progress_tick_ms(void);
void progress_tick(void *progress);
/* Removes the line. */
void progress_end(struct progress *progress);

#endif

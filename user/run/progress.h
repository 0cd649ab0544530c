/* SPDX-License-Identifier: GPL-2.0-only */
/* How far a run is, on stderr, if that is a terminal. */
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

/* -1: no terminal, so nobody is to be woken for it. */
int progress_tick_ms(void);
void progress_tick(void *progress);
/* Takes the line away. */
void progress_end(struct progress *progress);

#endif

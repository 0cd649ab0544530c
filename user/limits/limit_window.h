/* SPDX-License-Identifier: GPL-2.0-only */
/* A running measurement's sums within the last seconds. Pure: reads no clock. */
#ifndef PFSTAT_USER_LIMIT_WINDOW_H
#define PFSTAT_USER_LIMIT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "limits/limits.h"

/* The sums at one point in time. */
struct limit_mark {
	uint64_t ns;
	struct limit_sums sums;
};

/* A ring of marks, the first within the window. A zeroed window is closed. */
struct limit_window {
	uint64_t window_ns;
	struct limit_mark *marks;
	size_t first, nr, size;
};

/* @step_ns: usual distance between two limit_window_add() calls. Returns 0 or -ENOMEM. */
int limit_window_open(struct limit_window *window, uint64_t window_ns, uint64_t step_ns);
void limit_window_close(struct limit_window *window);
/*
 * Adds the sums since the measurement started, as of now. Returns the growth since the first mark
 * at most window_ns old, so it never covers more than the window.
 */
struct limit_sums limit_window_add(struct limit_window *window, uint64_t now_ns,
				   const struct limit_sums *sums);

#endif

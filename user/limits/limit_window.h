/* SPDX-License-Identifier: GPL-2.0-only */
/* The sums of a running measurement within its last seconds. Pure: reads no clock. */
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

/* A ring of marks, the first within the window. Zeroed is closed. */
struct limit_window {
	uint64_t window_ns;
	struct limit_mark *marks;
	size_t first, nr, size;
};

/* @step_ns: usual distance between two calls of limit_window_add(). 0 or -ENOMEM. */
int limit_window_open(struct limit_window *window, uint64_t window_ns, uint64_t step_ns);
void limit_window_close(struct limit_window *window);
/*
 * Adds the sums since the start of the measurement, as of now. Returns their growth since the first
 * mark that is at most window_ns old: it never covers more than the window.
 */
struct limit_sums limit_window_add(struct limit_window *window, uint64_t now_ns,
				   const struct limit_sums *sums);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The cost of a wrapped call on this machine, measured at the start of each recording. */
#ifndef PFSTAT_CALIBRATE_H
#define PFSTAT_CALIBRATE_H

#include <linux/types.h>

/* Picoseconds, for a do-nothing handler. 0: not known. */
struct pfstat_cost {
	u64 call_ps;   /* added to a call, in all */
	u64 inside_ps; /* the module's own share in the recorded duration */
};

/*
 * Takes some hundred microseconds. Uses the rings, `capacity` records each, and the tallies, which
 * must be reset afterwards. Recording must be on, and nothing watched.
 */
void pfstat_calibrate(size_t capacity);
struct pfstat_cost pfstat_calibrated(void);

#endif

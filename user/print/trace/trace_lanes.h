/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block requests put onto lanes, so that those of one lane do not overlap; and where
 * the last ones went, for the arrows that start there.
 */
#ifndef PFSTAT_USER_TRACE_LANES_H
#define PFSTAT_USER_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

struct trace_lanes;

struct trace_lane {
	uint32_t dev;
	unsigned int device, number; /* of devices, of its lanes: from 0 */
	bool fresh;		     /* it is the lane's first request */
};

struct trace_lanes *trace_lanes_new(void);
void trace_lanes_free(struct trace_lanes *lanes);

/* When a request began: in the queue, else at the device. */
uint64_t trace_lanes_start(const struct pfstat_block *block);

/* In order of their ends. 0, -ENOMEM, or -ENOSPC: too many devices, or lanes of one. */
int trace_lanes_put(struct trace_lanes *lanes, const struct pfstat_block *block,
		    struct trace_lane *lane);
/* Where it was put; false: it was not, or too long ago. */
bool trace_lanes_find(const struct trace_lanes *lanes, const struct pfstat_block *block,
		      struct trace_lane *lane);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assigns block requests to lanes, so requests in one lane do not overlap. Keeps the lanes of the
 * last requests, where arrows to faults start.
 */
#ifndef PFSTAT_USER_TRACE_LANES_H
#define PFSTAT_USER_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

struct trace_lanes;

struct trace_lane {
	uint32_t dev;
	unsigned int device, number; /* index of the device, and of the lane in it, from 0 */
	bool fresh;		     /* the lane has no earlier request */
};

struct trace_lanes *trace_lanes_new(void);
void trace_lanes_free(struct trace_lanes *lanes);

/* A request's start: when it was queued, or else when it was issued. */
uint64_t trace_lanes_start(const struct pfstat_block *block);

/*
 * Call it in the order of the requests' ends. Returns 0, -ENOMEM, or -ENOSPC: too many devices, or
 * too many lanes for one device.
 */
int trace_lanes_put(struct trace_lanes *lanes, const struct pfstat_block *block,
		    struct trace_lane *lane);
/* Finds the lane of a request. False: it got no lane, or it was too long ago. */
bool trace_lanes_find(const struct trace_lanes *lanes, const struct pfstat_block *block,
		      struct trace_lane *lane);

#endif

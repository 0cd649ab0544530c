/* SPDX-License-Identifier: GPL-2.0-only */
/* The event rings of all CPUs, merged by time. */
#ifndef PFSTAT_USER_EVENT_RINGS_H
#define PFSTAT_USER_EVENT_RINGS_H

#include <stdint.h>

#include <pfstat/event.h>

#include "collect/time_order.h"

struct event_ring;

struct event_rings {
	struct event_ring *rings;
	unsigned int nr;
	struct time_heap heap; /* rings with more */
	int epoll;	       /* readable if a ring is half full, -1 if not open */
};

#define EVENT_RINGS_NONE ((struct event_rings){ .epoll = -1 })

/* Receives one event, which is valid only during the call. 0 or a negative errno. */
typedef int (*event_rings_sink)(void *context, const struct pfstat_event *event);

/* So many rings of so many bytes each, as for event_ring_open(). 0 or a negative errno. */
int event_rings_open(struct event_rings *rings, unsigned int nr, uint32_t bytes);
void event_rings_close(struct event_rings *rings);

/* Gives each CPU a ring in the map of the programs. 0 or a negative errno. */
int event_rings_assign(const struct event_rings *rings, int map, uint32_t nr_cpus);
/*
 * Passes every event that ended before the call to the sink. Returns the first error, including the
 * sink's.
 */
int event_rings_drain(struct event_rings *rings, event_rings_sink sink, void *context);

#endif

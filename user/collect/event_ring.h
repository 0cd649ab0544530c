/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One BPF ring buffer of events, read in place. libbpf's reader has one order only, ring after
 * ring, and cannot stop at a position (ring__consume_n() came with 1.5); events of all CPUs are
 * merged by time here. The layout is that of the kernel's <linux/bpf.h>.
 */
#ifndef PFSTAT_USER_EVENT_RING_H
#define PFSTAT_USER_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

struct event_ring {
	int fd;
	uint64_t *consumed;	  /* the page that the reader writes */
	const uint64_t *produced; /* the kernel's page; the data follow it, mapped twice */
	const char *data;
	uint64_t bytes;
	uint64_t next;	/* position of the event to be read next */
	uint64_t limit; /* position when event_ring_look() was called */
};

/* A ring of so many bytes, a power of two of pages. A negative errno. */
int event_ring_open(struct event_ring *ring, uint32_t bytes);
void event_ring_close(struct event_ring *ring);

/* From here on event_ring_peek() returns the events that are in the ring by now. */
void event_ring_look(struct event_ring *ring);
/*
 * The oldest unread event, in place: it stays until event_ring_next(). It waits for an event
 * that a program is still writing. NULL: there is none, or *err is -EPROTO and it is not an
 * event as <pfstat/event.h> has it.
 */
const struct pfstat_event *event_ring_peek(struct event_ring *ring, int *err);
void event_ring_next(struct event_ring *ring);

#endif

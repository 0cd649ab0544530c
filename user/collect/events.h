/* SPDX-License-Identifier: GPL-2.0-only */
/* The eBPF side: loads, attaches and pins the programs, and reads their events and counters. */
#ifndef PFSTAT_USER_EVENTS_H
#define PFSTAT_USER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pfstat/event.h>

#include "collect/time_order.h"
#include "model/counters.h"
#include "util/why.h"

/* The event rings of all CPUs, merged by time. */

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

/* The programs, and the events of all rings. */

struct events;
struct pfstat_bpf;

/* False: pfdrive was built with BPF=no. Functions that open eBPF then fail, and `why` names it. */
extern const bool bpf_is_built_in;

struct events_options {
	bool pages;	       /* pages that leave the page cache, or memory for swap */
	bool swap;	       /* which process evicts pages swapped in again */
	bool stacks;	       /* the user stack for every fault, hooked or not */
	bool records;	       /* of file operation calls: see fault_source_bpf.c */
	uint64_t record_bytes; /* for each CPU's record ring, about, 0 for the default */
	uint32_t without;      /* 1 << enum bpf_hook: optional hooks to leave out */
	/*
	 * Size of each CPU's ring, a power of two in pages. 0: 1 MiB, or less so that all rings
	 * take at most 64 MiB, and eight times as much with stacks.
	 */
	uint32_t ring_bytes;
};

/*
 * Loads the programs. None runs yet. On failure returns a negative errno, and `why` is one clause
 * with the reason and the remedy.
 */
int events_open(struct events **events, const struct events_options *options, struct why *why);
/*
 * Loads the programs and unloads them again: no claim, no pin, and none is attached. Fails as
 * events_open() does.
 */
int events_try(struct why *why);
/*
 * Attaches the programs and pins them under PFSTAT_PIN_DIR, after removing pins from an earlier,
 * killed program. Nothing is a target yet. The caller holds the fault source, so no pins of a
 * living program are there. Fails as events_open() does.
 */
int events_attach(struct events *events, struct why *why);
/* Unpins and frees. The programs are detached later, see pins_lock_await_detached(). */
void events_close(struct events *events);

/* 1 << enum bpf_hook for each optional hook that this kernel has. */
uint32_t events_hooks(const struct events *events);

/* id is a tid or a tgid. System calls count when entered and left in between. */
int events_watch(struct events *events, pid_t id, enum pfstat_target how);
int events_ignore(struct events *events, pid_t id);
/* True if it was named, or created by a process named with children. */
bool events_is_watched(const struct events *events, pid_t id);
/*
 * No event is sent or counted any more: the next drain returns the last events, and
 * events_counters() the final counts.
 */
void events_stop(struct events *events);
/* Fills the query for this process's mapping at query->address. 0 or a negative errno. */
int events_find_mapping(const struct events *events, struct pfstat_handler_query *query);
/* The loaded programs and their maps. */
struct pfstat_bpf *events_object(const struct events *events);
/*
 * Drops all events and counts so far. Nothing may be a target. Neither a drain nor
 * events_counters() returns them. 0 or a negative errno.
 */
int events_forget(struct events *events);
/* The fault source records faults on VMAs with this ->fault. */
void events_set_wrapper(struct events *events, uint64_t address);

/*
 * Swap is counted from now on, or no longer. The evictor of each page is known from the beginning.
 */
void events_count_swap(struct events *events, bool count);

/* Readable when a CPU's ring is half full. */
int events_fd(const struct events *events);
/*
 * Passes every event that ended before the call to the sink. Returns the first error, including the
 * sink's.
 */
int events_drain(struct events *events, event_rings_sink sink, void *context);

/* Events passed to a sink so far. */
uint64_t events_received(const struct events *events);

/*
 * Fills hooks, counts, faults and system calls, summed over all CPUs. Events for which the kernel
 * skipped a program are counted as lost.
 */
int events_counters(const struct events *events, struct run_counters *counters);

#endif

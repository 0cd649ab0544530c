/* SPDX-License-Identifier: GPL-2.0-only */
/* The eBPF side: programs loaded, attached and pinned; what they say. */
#ifndef PFSTAT_USER_BPF_LOAD_H
#define PFSTAT_USER_BPF_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pfstat/event.h>

#include "model/counters.h"

struct events;

/* Takes one event, which is only there during the call. 0 or a negative errno. */
typedef int (*events_sink)(void *context, const struct pfstat_event *event);

struct events_options {
	bool every_fault;	/* an event for hooked faults too, else only a count */
	bool pages;		/* what leaves the page cache */
	bool swap;		/* who swaps out what is swapped in again, of the whole machine */
	bool stacks;		/* the user stack of every fault, hooked or not */
	uint32_t without;	/* 1 << enum bpf_hook: optional hooks to leave out */
	/*
	 * Of each CPU's ring, a power of two of pages. 0: 1 MiB, or less so that all of them
	 * take 64 MiB at most; eight times as much with stacks.
	 */
	uint32_t ring_bytes;
};

/*
 * Loads the programs; none runs yet. On failure returns a negative errno and the reason in
 * `why`: what is wrong and what to do, one clause.
 */
int events_open(struct events **events, const struct events_options *options,
		char *why, size_t size);
/*
 * Attaches, pins under PFSTAT_PIN_DIR; what an earlier, killed program left there is
 * removed. Nothing is a target yet. Whoever calls holds the module's session, so that no
 * living program's pins are there. Fails as events_open() does.
 */
int events_attach(struct events *events, char *why, size_t size);
/* Unpins, detaches, frees. */
void events_close(struct events *events);

/* 1 << enum bpf_hook for each optional hook that this kernel has. */
uint32_t events_hooks(const struct events *events);

/* id is a tid or a tgid. System calls count when entered and left in between. */
int events_watch(struct events *events, pid_t id, enum pfstat_target how);
int events_ignore(struct events *events, pid_t id);
/* Has it been named, or been born to one that was named with its children? */
bool events_is_watched(const struct events *events, pid_t id);
/*
 * Nothing is said or counted any more: what a drain then hands over, and
 * events_counters() counts, is all. 0.
 */
void events_stop(struct events *events);
/* The ->fault of this process's mapping at an address; 0: it has none. A negative errno. */
int events_find_handler(const struct events *events, const void *address, uint64_t *handler);
/* Returns of handle_mm_fault() so far for what it takes for hooked. A negative errno. */
struct hooked_returns {
	uint64_t ended;		/* a fault: it is solved, or failed */
	uint64_t again;		/* not: the kernel begins it again */
};

int events_hooked_returns(const struct events *events, struct hooked_returns *returns);
/*
 * All that was said and counted so far, while nothing is a target: it is neither handed over nor in
 * events_counters(). A negative errno.
 */
int events_forget(struct events *events);
/* Faults of VMAs with this ->fault are the module's; see session_wrapper(). */
void events_set_wrapper(struct events *events, uint64_t address);

/* Swap is counted from now on, or no longer. Who evicted what is known from the begin. */
void events_count_swap(struct events *events, bool count);

/* Readable when a CPU's ring is half full. */
int events_fd(const struct events *events);
/* Hands over every event that ended before the call. Its first error, or the sink's. */
int events_drain(struct events *events, events_sink sink, void *context);

/* Events handed over so far. */
uint64_t events_received(const struct events *events);

/*
 * Fills what eBPF knows: hooks, counts, faults, system calls; sums over all CPUs. What the
 * kernel left out is counted as lost, too.
 */
int events_counters(const struct events *events, struct run_counters *counters);

#endif

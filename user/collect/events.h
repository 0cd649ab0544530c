/* SPDX-License-Identifier: GPL-2.0-only */
/* The eBPF side: programs loaded, attached and pinned; what they say. */
#ifndef PFSTAT_USER_EVENTS_H
#define PFSTAT_USER_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pfstat/event.h>

#include "../report/report.h"

struct events;

typedef int (*events_on_stay)(void *context, const struct pfstat_off_cpu *stay);

/*
 * Loads, attaches, pins under PFSTAT_PIN_DIR; what an earlier, killed program
 * left there is removed. Nothing is a target yet. Whoever calls holds the
 * module's session, so that no living program's pins are there.
 * On failure returns a negative errno and the reason in `why`: what is wrong
 * and what to do, one clause.
 */
int events_open(struct events **events, events_on_stay on_stay, void *context,
		char *why, size_t size);
/* Unpins, detaches, frees. */
void events_close(struct events *events);

/* System calls count when entered and left in between. */
int events_watch_thread(struct events *events, pid_t tid);
int events_ignore_thread(struct events *events, pid_t tid);

/* Readable when the events' ring is half full. */
int events_fd(const struct events *events);
/* Hands over every stay that ended before the call. Its first error, or on_stay's. */
int events_drain(struct events *events);

/* Stays handed over so far. */
uint64_t events_received(const struct events *events);

/* Sums over all CPUs, PFSTAT_NR_COUNTS of them. */
int events_counts(const struct events *events, uint64_t *counts);
/* Longest total time first; the caller frees *rows. */
int events_syscalls(const struct events *events, struct syscall_row **rows, size_t *nr_rows);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's three software page fault events, for each watched thread on each CPU. All events on a CPU
 * write into that CPU's buffer.
 */
#ifndef PFSTAT_USER_SAMPLE_EVENTS_H
#define PFSTAT_USER_SAMPLE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/perf_stream.h"
#include "system/perf.h"

struct sample_events {
	const int *outputs; /* by CPU: an event with a buffer, or -1 if the CPU is offline */
	int nr_cpus;
	bool user_only;			      /* the user may not see the kernel's faults */
	struct perf_fds fds[PERF_NR_SAMPLES]; /* a thread's: one of each for each online CPU */
};

enum sample_events_mode {
	SAMPLE_EVENTS_INHERITED, /* enabled, also for the threads and processes it creates */
	SAMPLE_EVENTS_OFF,	 /* for this thread only, until they are enabled */
};

/* Opens all events of a thread, or none. 0 or a negative errno. */
int sample_events_open(struct sample_events *events, pid_t tid, enum sample_events_mode mode);
/* The position after the last thread. */
size_t sample_events_end(const struct sample_events *events);
/* Closes the threads' events from the position @first on. */
void sample_events_cut(struct sample_events *events, size_t first);
void sample_events_exit(struct sample_events *events);
/* Passes a PERF_EVENT_IOC_ENABLE or _DISABLE to the events from @first on. 0 or -errno. */
int sample_events_control(const struct sample_events *events, size_t first, unsigned long request);
/* The kernel's own counts, those without a sample too. 0 or -errno. */
int sample_events_read(const struct sample_events *events, uint64_t counts[PERF_NR_SAMPLES]);

#endif

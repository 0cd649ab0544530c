/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples perf's three software page fault events (perf_stream.h) in the watched threads and in
 * threads they create. Each thread has an event of each kind on each CPU, and all events on a CPU
 * write into one buffer. A separate thread copies the buffers into memory, so a slow reader loses
 * nothing.
 *
 *	open, then watch and hold, then start, then drain, then stop, then drain, then close
 */
#ifndef PFSTAT_USER_PERF_SAMPLER_H
#define PFSTAT_USER_PERF_SAMPLER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/perf_stream.h"
#include "system/perf.h"
#include "system/processes.h"

struct perf_sampler;

/*
 * @ring_bytes: per CPU, a power of two, or 0 for as much as the kernel allows, up to the default.
 */
int perf_sampler_open(struct perf_sampler **sampler, uint64_t ring_bytes);
void perf_sampler_close(struct perf_sampler *sampler);

/*
 * True if faults in system calls are not seen: the user lacks the right to it. Known after the
 * first watch.
 */
bool perf_sampler_is_user_only(const struct perf_sampler *sampler);

/*
 * Samples all threads in a process, and all it creates. A thread that forks meanwhile does not
 * stop it. @visit gets the name of each thread attached, even if it exits soon; not NULL. 0, the
 * visitor's result, or a negative errno. -ENOBUFS: the user may not lock the buffer memory.
 */
int perf_sampler_watch(struct perf_sampler *sampler, pid_t pid, thread_name_visitor visit,
		       void *context);
/* The times that perf_stream_settle() needs, in CLOCK_MONOTONIC ns. */
void perf_sampler_settled(const struct perf_sampler *sampler, uint64_t *undone_ns,
			  uint64_t *settled_ns);
/* True if a watch met new threads at each try. Threads that others created are then missing. */
bool perf_sampler_is_unsettled(const struct perf_sampler *sampler);
/* Prepares one thread's events, without the threads it creates. begin and end enable them. */
int perf_sampler_hold_thread(struct perf_sampler *sampler, pid_t tid);
int perf_sampler_begin_thread(struct perf_sampler *sampler);
int perf_sampler_end_thread(struct perf_sampler *sampler);

/* Starts the thread to empty the buffers. */
int perf_sampler_start(struct perf_sampler *sampler);
/* Disables all events and ends the thread. The samples can still be drained. */
void perf_sampler_stop(struct perf_sampler *sampler);

/* Readable when there are records, and several times a second. */
int perf_sampler_fd(const struct perf_sampler *sampler);

/* Receives one record of a CPU. 0 or a negative errno, which ends the drain. */
typedef int (*perf_record_sink)(void *context, unsigned int cpu,
				const struct perf_event_header *record);
/* Passes the records up to a time, in time order. */
int perf_sampler_drain(struct perf_sampler *sampler, uint64_t until_ns, perf_record_sink sink,
		       void *context);

/* The kernel's own counts of the three events, those without a sample too. 0 or -errno. */
int perf_sampler_counts(const struct perf_sampler *sampler, uint64_t counts[PERF_NR_SAMPLES]);

/*
 * perf's three software page fault events, for each watched thread on each CPU. All events on a CPU
 * write into that CPU's buffer.
 */

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

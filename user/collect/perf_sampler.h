/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples perf's three software page fault events and further ones (perf_stream.h) in the watched
 * threads and in threads they create. Each thread has an event of each kind on each CPU, and all
 * events on a CPU write into one buffer. A separate thread copies the buffers into memory, so a slow reader loses
 * nothing.
 *
 *	open, then watch and hold, then start, then drain, then stop, then drain, then close
 */
#ifndef PFSTAT_USER_PERF_SAMPLER_H
#define PFSTAT_USER_PERF_SAMPLER_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/perf_stream.h"
#include "system/perf.h"
#include "system/proc_maps.h"
#include "system/processes.h"
#include "util/hash.h"

struct perf_sampler;

/*
 * @ring_bytes: per CPU, a power of two, or 0 for as much as the kernel allows, up to the default.
 * @wanted: further events, 1 << enum perf_sample; PERF_FAULT_START: with the user's stack
 */
int perf_sampler_open(struct perf_sampler **sampler, uint64_t ring_bytes, uint32_t wanted);
void perf_sampler_close(struct perf_sampler *sampler);
/*
 * Samples the tracepoints in perf_stream.h too, of all threads on the machine, from the first watch
 * on. Before it. Returns the tracepoints, or NULL and a negative errno in @err.
 */
const struct tracepoint *perf_sampler_trace(struct perf_sampler *sampler, int *err);

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

/* Receives one record of a CPU. In a sample with an id this is enum perf_sample. 0 or a negative errno, which ends the drain. */
typedef int (*perf_record_sink)(void *context, unsigned int cpu,
				const struct perf_event_header *record);
/* Passes the records up to a time, in time order. */
int perf_sampler_drain(struct perf_sampler *sampler, uint64_t until_ns, perf_record_sink sink,
		       void *context);

/* The kernel's own counts of the three events, those without a sample too. 0 or -errno. */
int perf_sampler_counts(const struct perf_sampler *sampler, uint64_t counts[PERF_NR_SAMPLES]);
/* The same for the tracepoints, in all. */
int perf_sampler_traced(const struct perf_sampler *sampler, uint64_t *count);

/*
 * Why a further event is not recorded. 0: it is. -ENODATA: not wanted, or no thread is watched so
 * far.
 */
int perf_sampler_missing(const struct perf_sampler *sampler, enum perf_sample which);

/*
 * perf's three software page fault events, and further ones, for each watched thread on each CPU.
 * All events on a CPU write into that CPU's buffer.
 */

struct sample_events {
	const int *outputs; /* by CPU: an event with a buffer, or -1 if the CPU is offline */
	int nr_cpus;
	bool user_only;			     /* the user may not see the kernel's faults */
	uint32_t wanted;		     /* see perf_sampler_open() */
	int refused[PERF_NR_EVENTS];	     /* further events: 0 or the error */
	struct perf_fds fds[PERF_NR_EVENTS]; /* a thread's: one of each for each online CPU */
	/* From the kernel's ids to enum perf_sample + 1, for samples with an id. */
	struct hash ids;
	pthread_mutex_t ids_lock;
};

enum sample_events_mode {
	SAMPLE_EVENTS_INHERITED, /* enabled, also for the threads and processes it creates */
	SAMPLE_EVENTS_OFF,	 /* for this thread only, until they are enabled */
};

void sample_events_init(struct sample_events *events, const int *outputs, int nr_cpus,
			uint32_t wanted);
/*
 * Opens all events of a thread, or none. 0 or a negative errno. A further event that is refused, or
 * for which there are too few descriptors, is closed for all threads.
 */
int sample_events_open(struct sample_events *events, pid_t tid, enum sample_events_mode mode);
/* The position after the last thread. */
size_t sample_events_end(const struct sample_events *events);
/* Closes the threads' events from the position @first on. */
void sample_events_cut(struct sample_events *events, size_t first);
void sample_events_exit(struct sample_events *events);
/* Passes a PERF_EVENT_IOC_ENABLE or _DISABLE to the events from @first on. 0 or -errno. */
int sample_events_control(const struct sample_events *events, size_t first, unsigned long request);
/* The kernel's own counts of the three events, those without a sample too. 0 or -errno. */
int sample_events_read(const struct sample_events *events, uint64_t counts[PERF_NR_SAMPLES]);
/*
 * Adds an event whose samples have an id. With ids_lock, or before the drain. An id stays known when
 * its event is closed: samples may be in the buffer. 0 or a negative errno.
 */
int sample_events_add_id(struct sample_events *events, int fd, enum perf_sample which);
/* Replaces the kernel's id by enum perf_sample, from any thread. */
void sample_events_identify(struct sample_events *events, struct sample_by_id *sample);

/*
 * perf events of the tracepoints in perf_stream.h: one on each CPU, for all threads. Inherited task
 * events would delay each new thread: to open one, the kernel searches the list of all tracepoints.
 */

/* All tracepoints, or none. */
struct trace_events {
	struct tracepoint points[PERF_NR_TRACED];
	struct perf_fds fds;
};

/*
 * Opens the events, disabled, with the buffers and the ids of @events. 0 or a negative errno, such
 * as -EACCES without the right to read tracefs.
 */
int trace_events_open(struct trace_events *traces, struct sample_events *events);
void trace_events_exit(struct trace_events *traces);
/* Passes a PERF_EVENT_IOC_ENABLE or _DISABLE. 0 or -errno. */
int trace_events_control(const struct trace_events *traces, unsigned long request);
/* The number of samples that the kernel took. 0 or -errno. */
int trace_events_read(const struct trace_events *traces, uint64_t *count);

/*
 * The advice of the file mappings of processes that read much, from /proc/PID/smaps: perf has no
 * event for madvise(2).
 */

/* All zero: no process has read so far. */
struct perf_advice {
	struct hash readers;	/* by pid */
	struct proc_maps found; /* at the last look, until they are passed */
	uint64_t ns;		/* when this was, CLOCK_MONOTONIC */
};

void perf_advice_exit(struct perf_advice *advice);
/* Counts a fault, and looks at its process if that is due. Other events are ignored. 0 or -ENOMEM. */
int perf_advice_add(struct perf_advice *advice, const struct pfstat_event *event);
/*
 * Passes what was found at the last look as PFSTAT_EVENT_MAPPING, if the look was not after
 * @until_ns. Returns the sink's error.
 */
int perf_advice_pass(struct perf_advice *advice, uint64_t until_ns, item_sink sink, void *context);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One measuring session. It owns the instruments, the target for runs that map no file, the
 * analysis, the recording if there is one, and the moment when privileges are dropped.
 *
 *	measurement_open		opens the instruments and the analysis, and may refuse
 *	measurement_record		begins a recording, if one is wanted
 *	measurement_hook_*, _follow	name the target
 *	measurement_start		gives up privileges; events are read from now on
 *	(the workload)
 *	measurement_stop		all events have been analysed; fills the counters
 *	(the client stores the counters that only it knows: times, usage)
 *	measurement_finish		ends the recording, fills the report
 *	measurement_close		in any state; keeps a recording that is cut
 *
 * Unless noted otherwise, functions return 0, or a negative errno with one clause for the user in
 * `why`. measurement_status() prints it.
 */
#ifndef PFSTAT_USER_MEASUREMENT_H
#define PFSTAT_USER_MEASUREMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/instruments.h"
#include "run/recording_output.h"
#include "run/result.h"
#include "system/mounts.h"
#include "util/why.h"

struct measurement_options {
	struct instruments_options instruments; /* the sink belongs to the measurement */
	bool hooks_nothing;			/* no file is mapped: the target is /dev/null */
	bool keeps_privileges;			/* more is to be set up after it */
	bool exact;				/* it fails if an event sent by eBPF was not read */
	bool without_analysis;			/* the observer takes all events */
	/* If there is a recording, the items are analyzed when it has all of them. */
	bool analyzes_later;
	unsigned int groups;   /* in the analysis */
	explain_sink listener; /* receives every logical fault, NULL if none */
	void *listener_context;
	item_sink tap; /* receives what a recording would have; an error ends the reading */
	void *tap_context;
	/*
	 * Receives each event first. Returns 1 if the event goes no further, or an error. NULL if
	 * none.
	 */
	item_sink observer;
	void *observer_context;
};

struct measurement {
	struct measurement_options options;
	struct result *result;
	struct instruments *instruments; /* for the client's finer operations */
	struct recording_output recording;
	struct mounts mounts; /* of the files in items */
	int nothing_fd;	      /* /dev/null, -1 if a file or a process is watched */
	int analysis_err;     /* the first; a recording goes on without the analysis */
	bool running;	      /* between start and stop */
	bool later;	      /* no item was analyzed so far: the recording has them */
	struct why why;
};

#define MEASUREMENT_NONE ((struct measurement){ .nothing_fd = -1 })

/* result: initialised. It receives analysis, counters and report, and must outlive this. */
int measurement_open(struct measurement *measurement, const struct measurement_options *options,
		     struct result *result);
/*
 * Starts the recording with a head from the report. NULL: none is wanted. Returns an exit status.
 * If the disk is full or fails, the measurement goes on without recording, see
 * result->recording_failed.
 */
int measurement_record(struct measurement *measurement, const char *path);
/* Records this process's mappings, and the measured mapping as one of the file `path`. */
int measurement_record_maps(struct measurement *measurement, const struct mapping *mapping,
			    const char *path);
/* This process's mappings of the file open as fd. */
int measurement_hook_file(struct measurement *measurement, int fd, const char *path);
int measurement_hook_nothing(struct measurement *measurement);
/* See instruments_follow(). */
int measurement_follow(struct measurement *measurement, pid_t pid, bool existing);
/* Before the start: records the names of the process's existing threads. */
int measurement_name_threads(struct measurement *measurement, pid_t pid);
int measurement_start(struct measurement *measurement);
/* The workload starts: from now on the recording has the final name, and no error removes it. */
void measurement_keep_recording(struct measurement *measurement);
/*
 * Call it once. Does nothing if the measurement was not started. An error is also in
 * result->damage, and is reported by measurement_finish().
 */
int measurement_stop(struct measurement *measurement);
/*
 * Ends the recording and fills the report with all that is known, also after an error. Returns an
 * exit status, after a message about the first error. It is STATUS_OK if only the recording is
 * incomplete: the client prints the report, and then returns result_status().
 */
int measurement_finish(struct measurement *measurement);
void measurement_close(struct measurement *measurement);

/* STATUS_OK for err 0, otherwise STATUS_FAILED after a message with measurement->why. */
int measurement_status(const struct measurement *measurement, int err);

#endif

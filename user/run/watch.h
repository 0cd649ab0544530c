/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any program as the workload. The watched processes are a command (from before the exec), a
 * running process, the processes in a cgroup or those mapping a file, and their children. They are
 * not affected when pfdrive exits, for any reason.
 */
#ifndef PFSTAT_USER_WATCH_H
#define PFSTAT_USER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/instruments.h"
#include "run/result.h"

struct watch;

struct watch_options {
	char *const *command;  /* NULL: a pid, a cgroup, or a file */
	pid_t pid;	       /* 0: none */
	const char *cgroup;    /* cgroup v2 folder, NULL if none */
	const char *file;      /* only this file's faults; without others: in all that map it now */
	uint64_t duration_ns;  /* 0: until the end, or a signal */
	const char *recording; /* written there, NULL if none */
	item_sink tap;	       /* receives every item instead of an analysis, NULL if none */
	void *tap_context;
	unsigned int groups; /* in the analysis */
	/* Its only_fd, maps, sink and failed are the watch's own. */
	struct instruments_options instruments;
};

/*
 * Functions that return int return STATUS_OK, or the exit status after a message.
 * result: initialised, with a report described for a recording's head. It outlives the watch.
 */
int watch_open(struct watch **watch, const struct watch_options *options, struct result *result);
/* Lets the command start, if there is one. From now on the recording is kept. */
int watch_go(struct watch *watch);
/*
 * Returns if the command or the process has ended, time is up, or a signal came. The first SIGINT
 * does not stop watching a command: a terminal also sends it to the command, and the command's exit
 * is part of the measurement.
 */
void watch_wait(struct watch *watch);
/* From any thread: makes watch_wait() return soon. */
void watch_end(struct watch *watch);
/* When it began, CLOCK_MONOTONIC. */
uint64_t watch_start_ns(const struct watch *watch);
/* As instruments_hooks(). */
uint32_t watch_hooks(const struct watch *watch);
/* Counts so far, or COUNT_NA if not known. From any thread. */
void watch_lost(const struct watch *watch, uint64_t *records, uint64_t *events);
/* Ends the watching: all events have been analysed, and the counters are in the result. */
void watch_stop(struct watch *watch);
/*
 * Ends the recording and fills the report. Prints the first error from watch_stop() or from this
 * function.
 */
int watch_finish(struct watch *watch);
void watch_close(struct watch *watch);

/* pfdrive's own exit status: the command's, if it has ended. */
int watch_status(const struct watch *watch);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any program as the workload: a command, from before its exec; a process that
 * runs; the processes of a cgroup, or those that map a file. Their children too.
 * They run on unharmed, however the watching ends.
 */
#ifndef PFSTAT_USER_WATCH_H
#define PFSTAT_USER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/instruments.h"

struct watch;

struct watch_options {
	char *const *command;	/* NULL: a pid, a cgroup, or a file */
	pid_t pid;		/* 0: none */
	const char *cgroup;	/* folder of cgroup v2; NULL: none */
	const char *file;	/* only this file's faults; alone: of whoever maps it now */
	uint64_t duration_ns;	/* 0: until the end, or a signal */
	/* Its only_fd and maps are the watch's own. */
	struct instruments_options instruments;
};

/* Each returns STATUS_OK, or the exit status after a complaint. */
int watch_open(struct watch **watch, const struct watch_options *options);
/* Starts the command, if there is one. */
int watch_go(struct watch *watch);
/*
 * Returns when the command or the process has ended, time is up, or a signal came. The first
 * SIGINT does not end the watching of a command: at a terminal the command gets it, too, and
 * its end belongs to what is watched.
 */
void watch_wait(struct watch *watch);
/* From any thread: makes watch_wait() return soon. */
void watch_end(struct watch *watch);
/* The files whose code the processes execute, until watch_close(). */
const struct code_files *watch_code_files(const struct watch *watch);
/* So far; COUNT_NA: not to be had. From any thread. */
void watch_lost(const struct watch *watch, uint64_t *records, uint64_t *events);
/*
 * Ends the watching: there are no items after it. 0, or a negative errno: then why says what
 * failed, and counters holds what could be read.
 */
int watch_stop(struct watch *watch, struct run_counters *counters, char *why, size_t size);
void watch_close(struct watch *watch);

/* What pfdrive's own exit status is to be: the command's, when it has ended. */
int watch_status(const struct watch *watch);

#endif

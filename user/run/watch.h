/* SPDX-License-Identifier: GPL-2.0-only */
/* Any program as the workload: a held command, the watched processes, and the watching itself. */
#ifndef PFSTAT_USER_WATCH_H
#define PFSTAT_USER_WATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <pfstat/exact.h>

#include "collect/instruments.h"
#include "run/measurement.h"
#include "run/result.h"
#include "system/processes.h"

/* record --exact without the module: the library for the command's programs. */

struct exact {
	char folder[EXACT_PATH_SIZE - 32]; /* "": not in use */
	int counts;			   /* file with the library's counts, or -1 */
};

#define EXACT_NONE ((struct exact){ .counts = -1 })

/* Returns STATUS_OK, or a failure after a message: why the command cannot be recorded so. */
int exact_open(struct exact *exact, const char *command);
/* For the process that executes the command. */
void exact_set_environment(const struct exact *exact);
/* Changes nothing if it is not in use. */
void exact_counts(const struct exact *exact, struct exact_reach *reach);
void exact_close(struct exact *exact);

/* A command held just before exec, to watch it from there on. */

struct child {
	pid_t pid;  /* 0: none */
	int go;	    /* releases it when it is written to or closed */
	int failed; /* reports readiness, or the exec error */
};

#define CHILD_NONE ((struct child){ .go = -1, .failed = -1 })

/* The path that execvp() finds, in @path, or @name if there is none. */
const char *child_find_program(const char *name, char *path, size_t size);
/*
 * Forks. The child becomes the user for whom pfdrive works, and waits. Returns 0 or a negative
 * errno.
 * @exact: its library is in the command's environment; NULL: there is none
 */
int child_hold(struct child *command, char *const *argv, const struct exact *exact);
/*
 * Releases the command. Returns 0, or exec's negative errno if the command is gone. -EPIPE, with
 * SIGPIPE ignored: it was gone before.
 */
int child_go(struct child *command);
/* A command never released is ended. A running one continues. */
void child_close(struct child *command);

/*
 * The processes that are watched from the start, or from the moment at which they join the cgroup.
 * Their children are watched too, but are not members: the module and eBPF follow them.
 */

struct member {
	pid_t pid;
	int pidfd;	   /* -1: it has ended */
	uint64_t since_ns; /* processes it creates later are watched; CLOCK_BOOTTIME */
	struct process_counts before;
	bool counted; /* `before` is known */
};

struct members {
	struct measurement *measurement;
	struct member *list;
	unsigned int nr;
	struct pollfd *polled;	  /* the members, and two for the caller behind them */
	bool held;		  /* they have no mappings to be read yet */
	bool started;		  /* an unwatchable process is not an error any more */
	bool warned;		  /* about such a process */
	unsigned int nr_unmapped; /* processes whose mappings could not be read */
	unsigned int nr_late;	  /* processes joining the cgroup, found up to a second later */
};

/* The first three return an exit status, after a message. */
int members_follow(struct members *members, pid_t pid);
int members_follow_cgroup(struct members *members, const char *path);
/* Follows the processes mapping the file open as fd. */
int members_follow_mappers(struct members *members, int fd, const char *path);
/* Follows those that have joined. The cgroup itself may go and come: a service restarts. */
void members_update_cgroup(struct members *members, const char *path);

/* Sets up `polled` for poll(2): nr + 2 descriptors. @other_fd: also ends the wait, or -1 */
void members_prepare_poll(struct members *members, int wake_fd, int other_fd);
/* Forgets the members that have ended. True: wake_fd was ready. */
bool members_polled(struct members *members);
bool members_any_alive(const struct members *members);
/* At the end: messages about processes that were found late, or whose mappings were not read. */
void members_report(const struct members *members);
void members_exit(struct members *members);

/*
 * Any program as the workload. The watched processes are a command (from before the exec), a
 * running process, the processes in a cgroup or those mapping a file, and their children. They are
 * not affected when pfdrive exits, for any reason.
 */

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

/* SPDX-License-Identifier: GPL-2.0-only */
/* perf_event_open(2): opens and closes events, tries what the kernel permits, reads tracepoints. */
#ifndef PFSTAT_USER_PERF_H
#define PFSTAT_USER_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/why.h"

/*
 * perf_event_open(2), for which glibc has no wrapper, the setting that restricts it, and a growing
 * list of descriptors.
 */

/* Returns a descriptor with close-on-exec, or a negative errno. */
int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu);
/* Like perf_open(), in the event group of @leader, an open descriptor, or in a new group if -1. */
int perf_open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader);
/*
 * Like perf_open(), with the buffer of @output from the first sample on, and optionally in the
 * group of @output.
 */
int perf_open_into(struct perf_event_attr *attr, pid_t tid, int cpu, int output, bool in_group);

/*
 * Keeps the thread's events the thread's, while the descriptor is open. When a thread forks and all
 * its events are inherited, the kernel may exchange both tasks' events at a context switch. An
 * event opened in between then cannot join the group of an earlier one (EINVAL, or ENODEV after the
 * child's exit). Returns a descriptor or a negative errno.
 */
int perf_open_anchor(pid_t tid);

/* kernel.perf_event_paranoid as text, "n/a" if it cannot be read. */
const char *perf_paranoid(void);

/* kernel.perf_event_max_stack, at most @most: a larger sample_max_stack is refused. */
unsigned int perf_max_stack(unsigned int most);

struct perf_fds {
	int *fds;
	size_t count, room;
};

/* Takes ownership of @fd: closes it on failure, which is -ENOMEM. */
int perf_fds_add(struct perf_fds *fds, int fd);
/* Closes all descriptors after the first @count. */
void perf_fds_cut(struct perf_fds *fds, size_t count);
void perf_fds_exit(struct perf_fds *fds);

/* Tries whether this process may sample its page faults with perf's software events. */

enum perf_access {
	PERF_ACCESS_NONE,
	PERF_ACCESS_USER, /* user mode faults, not those in system calls */
	PERF_ACCESS_ALL,
};

/* What was tried, and what restricts it. */
struct perf_trial {
	enum perf_access access;
	int err;       /* for the next better mode, 0 with PERF_ACCESS_ALL */
	int paranoid;  /* kernel.perf_event_paranoid, INT_MAX if the kernel has no perf events */
	bool filtered; /* this process has a system call filter */
};

/*
 * Opens an event for this thread on the current CPU, in both modes, and closes it. Nothing is
 * sampled.
 */
void perf_access_try(struct perf_trial *trial);
/* One clause with the reason for trial->err, "" if it is 0. */
void perf_access_reason(const struct perf_trial *trial, struct why *why);
/*
 * "cannot open perf's page-fault events: REASON; DO THIS" for PERF_ACCESS_NONE, "cannot see the
 * faults in system calls: …" for PERF_ACCESS_USER, "" for PERF_ACCESS_ALL.
 */
void perf_access_explain(const struct perf_trial *trial, struct why *why);

/*
 * The kernel's tracepoints, as tracefs describes them. Only root may read tracefs, which need not
 * be mounted.
 */

/* An integer in a tracepoint's data. */
struct tracepoint_field {
	uint32_t offset, size; /* in bytes; size 0: not wanted */
};

struct tracepoint {
	uint64_t id; /* perf_event_attr.config */
	struct tracepoint_field field;
};

/*
 * Reads a description, which is the text of a file "format". @field: its name, or NULL. 0, or
 * -EPROTO if the id or the field is missing, or if the field has another size than 4 or 8 bytes.
 */
int tracepoint_parse(struct tracepoint *point, const char *text, const char *field);
/* @name: "vmscan/mm_vmscan_direct_reclaim_end". 0, -ENOENT, -EACCES, -EPROTO, … */
int tracepoint_read(struct tracepoint *point, const char *name, const char *field);
/* The field in a sample's data. 0 if the data is too short. */
uint64_t tracepoint_value(const struct tracepoint *point, const void *data, size_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* perf_event_open(2): glibc has no name for it; and descriptors that grow in number. */
#ifndef PFSTAT_USER_PERF_EVENT_H
#define PFSTAT_USER_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor, closed on exec; or a negative errno. */
int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu);
/* The same, counting together with those of the leader, an open descriptor; -1: it leads. */
int perf_open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader);

struct perf_fds {
	int *fds;
	size_t count, room;
};

/* Takes fd, and closes it when there is no memory: -ENOMEM. */
int perf_fds_add(struct perf_fds *fds, int fd);
/* Closes those behind the first `count`. */
void perf_fds_cut(struct perf_fds *fds, size_t count);
void perf_fds_exit(struct perf_fds *fds);

#endif

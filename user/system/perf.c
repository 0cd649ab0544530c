// SPDX-License-Identifier: GPL-2.0-only
/* Wraps perf_event_open(2), and keeps a growing list of descriptors that are closed together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/perf.h"
#include "util/array.h"

int perf_open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return perf_open_in_group(attr, tid, cpu, -1);
}

const char *perf_paranoid(void)
{
	static char level[16];
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!file || !fgets(level, sizeof(level), file))
		strcpy(level, "n/a");
	if (file)
		fclose(file);
	level[strcspn(level, "\n")] = '\0';
	return level;
}

int perf_fds_add(struct perf_fds *fds, int fd)
{
	if (array_reserve((void **)&fds->fds, fds->count, &fds->room, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	fds->fds[fds->count++] = fd;
	return 0;
}

void perf_fds_cut(struct perf_fds *fds, size_t count)
{
	while (fds->count > count)
		close(fds->fds[--fds->count]);
}

void perf_fds_exit(struct perf_fds *fds)
{
	perf_fds_cut(fds, 0);
	free(fds->fds);
	*fds = (struct perf_fds){ 0 };
}
